import { setTimeout as delay } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { AttemptEndedError, MemoryTaskStore, type TaskContext, type TaskStore } from '../src/index.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore, type TestHandler } from './support/setUpCore.js'

/** What a busy machine may stand still for, within which a lease must not end. */
const VISIBILITY_MS = 1_500
const BEAT_MS = 80

/** A store that writes down each extension. */
const watch = (memory: TaskStore) => {
  const extensions: string[] = []
  const store = overrideStore(memory, {
    extendAttempt: (input) => (extensions.push(input.taskId), memory.extendAttempt(input)),
  })
  return { store, extensions }
}

/** A handler that runs until its gate opens or its signal fires, whose reason it throws. */
const waiting = () => {
  const gate = deferred()
  const running = deferred<TaskContext<unknown>>()
  const handler: TestHandler = (ctx) =>
    new Promise((resolve, reject) => {
      running.resolve(ctx)
      const { cancellationSignal: signal } = ctx
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      void gate.promise.then(resolve)
    })
  return { handler, gate, running: running.promise }
}

describe('heartbeats', () => {
  it('Q1 T39 go to store and queue as long as the handler runs, and no longer', async () => {
    const { store, extensions } = watch(new MemoryTaskStore())
    const { adapter, register, submit } = setUpCore({ store, heartbeatIntervalMs: BEAT_MS })
    const { handler, gate, running } = waiting()
    register([handle(handler, { visibilityTimeoutMs: VISIBILITY_MS })])
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running
    await until(() => extensions.length >= 4)
    expect(adapter.heartbeats.length).toBeGreaterThanOrEqual(3)
    expect(adapter.heartbeats[0]).toMatchObject({ taskId: id })
    gate.resolve()
    expect(await outcome).toEqual({ kind: 'success' })
    const count = extensions.length
    await delay(BEAT_MS * 3)
    expect(extensions).toHaveLength(count)
  })

  it('follow the visibility of the claim, where the queue tells it', async () => {
    const { store, extensions } = watch(new MemoryTaskStore())
    const { adapter, register, submit } = setUpCore({ store })
    const { handler, gate } = waiting()
    register([handle(handler)])
    const outcome = adapter.deliver((await submit()).id, { visibilityTimeoutMs: VISIBILITY_MS })
    await until(() => extensions.length >= 3)
    gate.resolve()
    await outcome
  })

  it('come at least as often as the option says', async () => {
    const { store, extensions } = watch(new MemoryTaskStore())
    const { adapter, register, submit } = setUpCore({ store, heartbeatIntervalMs: 50 })
    const { handler, gate } = waiting()
    register([handle(handler)])
    const outcome = adapter.deliver((await submit()).id)
    await until(() => extensions.length >= 3)
    gate.resolve()
    await outcome
  })

  it('T23 learn of a cancel whose broadcast got lost', async () => {
    const { store } = watch(new MemoryTaskStore())
    const { adapter, register, submit, read } = setUpCore({ store })
    const { handler, running } = waiting()
    register([handle(handler, { visibilityTimeoutMs: VISIBILITY_MS })])
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    const { cancellationSignal } = await running
    await store.cancel({ taskId: id, reason: 'by the row' })
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect(cancellationSignal.reason).toMatchObject({ name: 'TaskCancelledError', reason: 'by the row' })
    expect((await read(id)).status).toBe('cancelled')
  })

  it('T8 G2 learn of the loss of the task, after which the run changes nothing', async () => {
    const { store } = watch(new MemoryTaskStore())
    const { adapter, register, submit, read, telemetry } = setUpCore({ store })
    const lost: unknown[] = []
    telemetry.addListener('onTaskLeaseLost', (event) => lost.push(event))
    const { handler, running } = waiting()
    const worker = register([handle(handler, { visibilityTimeoutMs: VISIBILITY_MS })])
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    const ctx = await running
    const taken = { taskId: id, workerId: 'other', visibilityTimeoutMs: 60_000, redelivered: true }
    expect((await store.beginAttempt(taken)).kind).toBe('begun')
    expect(await outcome).toEqual({ kind: 'success' })
    expect(ctx.cancellationSignal.reason).toMatchObject({ name: 'LeaseLostError', how: 'taken', attempt: 1 })
    await expect(ctx.heartbeat()).rejects.toMatchObject({ name: 'LeaseLostError' })
    ctx.reportProgress({ percent: 50 })
    expect(lost).toEqual([{ taskId: id, type: 'mail', attempt: 1, workerId: worker.workerId }])
    const task = await read(id)
    expect(task).toMatchObject({ status: 'running', workerId: 'other' })
    expect(task.progress).toBeUndefined()
  })

  it('are tried again before the lease ends, and reported', async () => {
    const memory = new MemoryTaskStore()
    let troubles = 1
    const store = overrideStore(memory, {
      extendAttempt: (input) => (troubles-- > 0 ? Promise.reject(new Error('away')) : memory.extendAttempt(input)),
    })
    const { adapter, register, submit, errors } = setUpCore({ store })
    const { handler, gate, running } = waiting()
    register([handle(handler, { visibilityTimeoutMs: VISIBILITY_MS })])
    const outcome = adapter.deliver((await submit()).id)
    const { cancellationSignal } = await running
    await delay(VISIBILITY_MS * 2)
    expect(cancellationSignal.aborted).toBe(false)
    gate.resolve()
    expect(await outcome).toEqual({ kind: 'success' })
    expect(errors).toMatchObject([{ operation: 'heartbeat' }])
  })

  it.each<[string, () => Promise<never>]>([
    ['fail', () => Promise.reject(new Error('away'))],
    ['are not answered', () => new Promise(() => undefined)],
  ])('that %s until the lease ends stop the handler, whose task is handed back', async (_, extendAttempt) => {
    const store = overrideStore(new MemoryTaskStore(), { extendAttempt })
    const { adapter, register, submit, read } = setUpCore({ store })
    const { handler, running } = waiting()
    register([handle(handler, { visibilityTimeoutMs: VISIBILITY_MS })])
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    const { cancellationSignal } = await running
    expect(await outcome).toEqual({ kind: 'requeue' })
    expect(cancellationSignal.reason).toMatchObject({ name: 'LeaseLostError', how: 'expired' })
    expect(await read(id)).toMatchObject({ status: 'pending', attempts: [{ status: 'released' }] })
  })

  it('are helped by what the queue knows of the claim', async () => {
    const { adapter, register, submit, read } = setUpCore()
    const { handler, running } = waiting()
    register(handler)
    const lease = new AbortController()
    const listeners: string[] = []
    const lost = new Proxy(lease.signal, {
      get: (target, name) => {
        if (String(name).endsWith('EventListener')) listeners.push(String(name))
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id, { lease: { lost } })
    const { cancellationSignal } = await running
    lease.abort()
    expect(await outcome).toEqual({ kind: 'success' })
    expect(cancellationSignal.reason).toMatchObject({ name: 'LeaseLostError', how: 'broker' })
    expect(listeners).toEqual(['addEventListener', 'removeEventListener'])
    expect((await read(id)).status).toBe('running')
  })

  it('can be asked for by the handler', async () => {
    const { store, extensions } = watch(new MemoryTaskStore())
    const { adapter, register, submit } = setUpCore({ store })
    let late: (() => Promise<void>) | undefined
    register(async ({ heartbeat }) => {
      late = heartbeat
      await heartbeat()
      await heartbeat()
    })
    const { id } = await submit()
    await adapter.deliver(id)
    expect(extensions).toEqual([id, id])
    expect(adapter.heartbeats).toHaveLength(2)
    await expect(late?.()).rejects.toBeInstanceOf(AttemptEndedError)
  })

  it('T39 end with the longest time that a run may take', async () => {
    const { adapter, register, submit, read } = setUpCore()
    const gate = deferred()
    const reasons: unknown[] = []
    register([
      handle(
        async ({ cancellationSignal }) => {
          cancellationSignal.addEventListener('abort', () => reasons.push(cancellationSignal.reason))
          await gate.promise
        },
        { attemptTimeoutMs: 100 },
      ),
    ])
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'failed' })
    expect(await read(id)).toMatchObject({ status: 'failed', error: { name: 'AttemptTimeoutError' } })
    expect(reasons).toMatchObject([{ name: 'AttemptTimeoutError' }])
    gate.resolve()
  })
})
