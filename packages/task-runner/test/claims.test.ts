import { setTimeout as delay } from 'node:timers/promises'

import { afterEach, describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import {
  LeaseLostError,
  MaxDeliveriesExceededError,
  MemoryTaskStore,
  MissingTaskRowError,
  type ClaimOutcome,
} from '../src/index.js'
import { FakeQueueAdapter } from './support/fakeQueueAdapter.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore } from './support/setUpCore.js'

const requeueDelayOf = (outcome: ClaimOutcome): number => {
  if (outcome.kind !== 'requeue' || outcome.notBefore === undefined) throw new Error(`no delay: ${outcome.kind}`)
  return outcome.notBefore.getTime() - Date.now()
}

describe('a claim', () => {
  afterEach(() => void vi.useRealTimers())

  it('is answered by how its attempt ended', async () => {
    const { adapter, register, submit } = setUpCore()
    const answers: Record<string, () => Promise<unknown>> = {
      success: () => Promise.resolve(1),
      failed: () => Promise.reject(new Error('no')),
    }
    register([handle((_, payload) => answers[payload as string]!())])
    for (const payload of Object.keys(answers)) {
      const { id } = await submit({ payload })
      expect(await adapter.deliver(id)).toEqual({ kind: payload })
      expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    }
  })

  it('Q42 is failed also where there will be a retry, which telemetry tells apart', async () => {
    const { adapter, register, submit, telemetry, read } = setUpCore()
    const retries: boolean[] = []
    telemetry.addListener('onTaskFailed', ({ willRetry }) => retries.push(willRetry))
    register([handle(() => Promise.reject(new Error('no')), { retryPolicy: { maxAttempts: 2 } })])
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'failed' })
    expect((await read(id)).status).toBe('pending')
    expect(adapter.enqueued.filter(({ taskId }) => taskId === id)).toHaveLength(2)
    expect(await adapter.deliver(id)).toEqual({ kind: 'failed' })
    expect(retries).toEqual([true, false])
  })

  it('Q3 T5 is given back when the runner is disposed, and its row with it', async () => {
    const { core, adapter, register, submit, store } = setUpCore()
    const running = deferred()
    register((ctx) => {
      running.resolve()
      return ctx.sleep(60_000)
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running.promise
    await core[Symbol.asyncDispose]()
    expect(await outcome).toEqual({ kind: 'requeue' })
    expect((await store.get(id))?.task).toMatchObject({ status: 'pending', attempts: [{ status: 'released' }] })
  })

  it('Q3 is given back over the head of a handler that ignores its signal', async () => {
    const { core, adapter, register, submit, store } = setUpCore()
    const running = deferred()
    const gate = deferred()
    register(async () => {
      running.resolve()
      await gate.promise
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running.promise
    await core[Symbol.asyncDispose]()
    expect(await outcome).toEqual({ kind: 'requeue' })
    gate.resolve()
    await delay(10)
    expect((await store.get(id))?.task.status).toBe('pending')
  })

  it('Q4 has its end written again and again while the store is in trouble', async () => {
    const memory = new MemoryTaskStore()
    let troubles = 2
    const store = overrideStore(memory, {
      finishAttempt: (input) =>
        troubles-- > 0 ? Promise.reject(new Error('the store is away')) : memory.finishAttempt(input),
    })
    const { adapter, register, submit, read, errors } = setUpCore({ store })
    register(() => Promise.resolve('a result'))
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    expect(await read(id)).toMatchObject({ status: 'succeeded', result: 'a result' })
    expect(errors).toMatchObject([{ operation: 'finish' }, { operation: 'finish' }])
  })

  it('Q4 is given back if the store stays away until the lease ends', async () => {
    const memory = new MemoryTaskStore()
    const store = overrideStore(memory, { finishAttempt: () => Promise.reject(new Error('the store is away')) })
    const { adapter, register, submit } = setUpCore({ store })
    register([handle(() => Promise.resolve('a result'), { visibilityTimeoutMs: 200 })])
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'requeue' })
  })

  it('Q4 knows its own end again whose answer got lost', async () => {
    const memory = new MemoryTaskStore()
    let isFirst = true
    const store = overrideStore(memory, {
      finishAttempt: async (input) => {
        const result = await memory.finishAttempt(input)
        if (!isFirst) return result
        isFirst = false
        throw new Error('the answer got lost')
      },
    })
    const { adapter, register, submit, telemetry } = setUpCore({ store })
    const completed: string[] = []
    telemetry.addListener('onTaskCompleted', ({ status }) => completed.push(status))
    register(() => Promise.resolve(1))
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    expect(completed).toEqual(['succeeded'])
  })

  it('Q5 whose row is missing comes again with growing pauses, until it is given up and reported', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { adapter, register, errors } = setUpCore()
    register(() => Promise.resolve())
    const delays: number[] = []
    for (let turn = 0; turn < 9; turn++) delays.push(requeueDelayOf(await adapter.deliver('nobody')))
    for (const [index, expected] of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      expect(delays[index]).toBeGreaterThan(expected - 100)
      expect(delays[index]).toBeLessThan(expected + 100)
    }
    expect(errors).toEqual([])
    vi.advanceTimersByTime(600_001)
    expect(await adapter.deliver('nobody')).toEqual({ kind: 'success' })
    expect(errors).toMatchObject([{ operation: 'claim', error: expect.any(MissingTaskRowError) as unknown }])
  })

  it('Q5 finds a row that came late', async () => {
    const { adapter, register, submit, store } = setUpCore()
    register(() => Promise.resolve(1))
    expect((await adapter.deliver('late')).kind).toBe('requeue')
    const { type, handlerVersion, tags, retentionPolicy } = await submit()
    await store.create({ id: 'late', status: 'pending', type, handlerVersion, tags, retentionPolicy })
    expect(await adapter.deliver('late')).toEqual({ kind: 'success' })
  })

  it('Q7 does not disturb a healthy run: a duplicate comes back when the lease is over', async () => {
    const { adapter, register, submit, read } = setUpCore()
    const gate = deferred()
    const running = deferred()
    let aborted = false
    register(async (ctx) => {
      ctx.cancellationSignal.addEventListener('abort', () => (aborted = true))
      running.resolve()
      await gate.promise
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running.promise
    // The entry comes back, in case it is all that is left.
    expect(requeueDelayOf(await adapter.deliver(id, { redelivered: false }))).toBeGreaterThan(50_000)
    expect(requeueDelayOf(await adapter.deliver(id))).toBeGreaterThan(50_000)
    expect(requeueDelayOf(await adapter.deliver(id, { visibilityTimeoutMs: 3_000 }))).toBeLessThanOrEqual(3_000)
    gate.resolve()
    expect(await outcome).toEqual({ kind: 'success' })
    expect(aborted).toBe(false)
    expect((await read(id)).attempts).toHaveLength(1)
  })

  it('Q7 settles a duplicate where the queue never redelivers', async () => {
    const queueAdapter = new FakeQueueAdapter({ brokerSideReclaim: false })
    const { adapter, register, submit } = setUpCore({ queueAdapter })
    const gate = deferred()
    const running = deferred()
    register(async () => {
      running.resolve()
      await gate.promise
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running.promise
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    gate.resolve()
    await outcome
  })

  it('Q8 T10 of a task that lost too many attempts fails it without running it', async () => {
    const { adapter, register, submit, store, read, telemetry } = setUpCore({ maxDeliveries: 3 })
    const told: unknown[] = []
    telemetry.addListener('onTaskFailed', (event) => told.push(event))
    telemetry.addListener('onTaskCompleted', (event) => told.push(event))
    let runs = 0
    register([handle(() => Promise.resolve(++runs), { retryPolicy: { maxAttempts: 10 } })])
    const { id } = await submit()
    for (let loss = 0; loss < 3; loss++) {
      await store.beginAttempt({ taskId: id, workerId: 'dead', visibilityTimeoutMs: 60_000, redelivered: true })
    }
    expect(await adapter.deliver(id, { redelivered: true })).toEqual({ kind: 'failed' })
    expect(runs).toBe(0)
    const { message } = new MaxDeliveriesExceededError(id, 3)
    const error = { name: 'MaxDeliveriesExceededError', message }
    expect(await read(id)).toMatchObject({ status: 'failed', error })
    expect(told).toMatchObject([
      { taskId: id, type: 'mail', attempt: 3, willRetry: false, error },
      { taskId: id, type: 'mail', attempt: 3, status: 'failed' },
    ])
  })

  it("Q8 T10 has the limit of its handler, of which the highest of a type goes before the runner's", async () => {
    const { adapter, register, submit, store } = setUpCore({ maxDeliveries: 3 })
    const idle = () => Promise.resolve()
    register([
      handle(idle, { maxDeliveries: 1 }),
      handle(idle, { version: 2, maxDeliveries: 2 }),
      handle(idle, { type: 'post' }),
      handle(idle, { type: 'call', maxDeliveries: Infinity }),
    ])
    expect(adapter.subscriptions[0]!.maxDeliveries).toEqual({ mail: 2, post: 3, call: Infinity })
    const { id } = await submit()
    const lose = () =>
      store.beginAttempt({ taskId: id, workerId: 'dead', visibilityTimeoutMs: 60_000, redelivered: true })
    await lose()
    await lose()
    expect(await adapter.deliver(id, { redelivered: true })).toEqual({ kind: 'failed' })
  })

  it('Q9 T10 counts failures, not runs', async () => {
    const { adapter, register, submit, store, read } = setUpCore()
    register([handle(() => Promise.reject(new Error('no')), { retryPolicy: { maxAttempts: 2 } })])
    const { id } = await submit()
    for (let attempt = 1; attempt <= 3; attempt++) {
      const begun = await store.beginAttempt({
        taskId: id,
        workerId: 'w',
        visibilityTimeoutMs: 60_000,
        redelivered: false,
      })
      expect(begun).toMatchObject({ kind: 'begun', attempt })
      await store.finishAttempt({ taskId: id, attempt, workerId: 'w', startedAt: 0, outcome: { kind: 'released' } })
    }
    await adapter.deliver(id)
    expect((await read(id)).status).toBe('pending')
    await adapter.deliver(id)
    expect((await read(id)).status).toBe('failed')
  })

  it('Q10 T25 of a cancelling task without an owner ends it without running it', async () => {
    const { adapter, register, submit, store, read, telemetry } = setUpCore()
    let runs = 0
    const cancelled: string[] = []
    telemetry.addListener('onTaskCancelled', ({ taskId }) => cancelled.push(taskId))
    register(() => Promise.resolve(++runs))
    const { id } = await submit()
    await store.beginAttempt({ taskId: id, workerId: 'dead', visibilityTimeoutMs: 60_000, redelivered: false })
    await store.cancel({ taskId: id })
    expect(await adapter.deliver(id, { redelivered: true })).toEqual({ kind: 'cancelled' })
    expect((await read(id)).status).toBe('cancelled')
    expect(cancelled).toEqual([id])
    expect(runs).toBe(0)
  })

  it('Q11 Q14 leaves nothing behind when it cannot be begun, and comes again after a pause', async () => {
    const memory = new MemoryTaskStore()
    let isAway = true
    const store = overrideStore(memory, {
      beginAttempt: (input) => (isAway ? Promise.reject(new Error('away')) : memory.beginAttempt(input)),
    })
    const { adapter, register, submit, errors } = setUpCore({ store })
    const worker = register(() => Promise.resolve(1))
    const { id } = await submit()
    expect(requeueDelayOf(await adapter.deliver(id))).toBeGreaterThan(50)
    expect(errors).toMatchObject([{ operation: 'claim' }])
    expect(worker.activeTaskCount).toBe(0)
    isAway = false
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    await worker.drain()
  })

  it('Q12 T8 of an attempt that was overtaken ends apart from the newer one', async () => {
    const { core, adapter, register, submit, read } = setUpCore()
    const gates = [deferred(), deferred()]
    const reasons: unknown[] = []
    const running: number[] = []
    const worker = register([
      handle(
        async ({ attempt, cancellationSignal }) => {
          running.push(attempt)
          cancellationSignal.addEventListener('abort', () => reasons.push(cancellationSignal.reason))
          await gates[attempt - 1]!.promise
          cancellationSignal.throwIfAborted()
        },
        { visibilityTimeoutMs: 150 },
      ),
    ])
    const { id } = await submit()
    const first = adapter.deliver(id)
    await until(() => running.length === 1)
    const second = adapter.deliver(id, { redelivered: true })
    await until(() => running.length === 2)
    await until(() => reasons.length === 1)
    expect(reasons[0]).toBeInstanceOf(LeaseLostError)
    gates[0]!.resolve()
    expect(await first).toEqual({ kind: 'success' })
    expect(worker.activeTaskCount).toBe(1)
    await core.cancel(id)
    expect(reasons).toHaveLength(2)
    gates[1]!.resolve()
    expect(await second).toEqual({ kind: 'cancelled' })
    expect((await read(id)).attempts.map(({ status }) => status)).toEqual(['timed-out', 'cancelled'])
  })

  it('Q13 T57 that does not fit goes back with growing pauses and without a trace in the row', async () => {
    const { adapter, register, submit, read, telemetry } = setUpCore()
    const misfits: unknown[] = []
    telemetry.addListener('onTaskMisfit', (event) => misfits.push(event))
    const worker = register(() => Promise.resolve(1))
    const [version, tags] = [await submit({ handlerVersion: 2 }), await submit({ tags: ['gpu'] })]
    const delays = [
      requeueDelayOf(await adapter.deliver(version.id)),
      requeueDelayOf(await adapter.deliver(version.id)),
    ]
    expect(delays[1]).toBeGreaterThan(delays[0]! + 100)
    expect((await adapter.deliver(tags.id)).kind).toBe('requeue')
    expect(misfits).toMatchObject([
      { taskId: version.id, reason: 'version', handlerVersion: 2, workerId: worker.workerId },
      { taskId: version.id, reason: 'version' },
      { taskId: tags.id, reason: 'tags', tags: ['gpu'] },
    ])
    for (const { id } of [version, tags]) expect(await read(id)).toMatchObject({ status: 'pending', attempts: [] })
  })

  it('that is stale is settled, whoever gets it', async () => {
    const { core, adapter, register, submit } = setUpCore()
    register(() => Promise.resolve(1))
    const { id } = await submit({ handlerVersion: 7 })
    await core.cancel(id)
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    const draft = await core.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
    expect(await adapter.deliver(draft.id)).toEqual({ kind: 'success' })
  })

  it('goes back at once from a draining worker', async () => {
    const { adapter, register, submit } = setUpCore()
    const worker = register(() => Promise.resolve(1))
    const { id } = await submit()
    await worker.drain()
    expect(adapter.subscriptions[0]!.shouldDrain()).toBe(true)
    expect(await adapter.deliver(id)).toEqual({ kind: 'requeue' })
  })

  it('Q2 Q35 T35 is asked for with the versions and visibilities of all handlers', () => {
    const { adapter, register } = setUpCore()
    const idle = () => Promise.resolve()
    register(
      [
        handle(idle, { visibilityTimeoutMs: 1_000 }),
        handle(idle, { version: 3, visibilityTimeoutMs: 5_000 }),
        handle(idle, { type: 'post', version: 2 }),
      ],
      { compatibleVersions: { post: [1, 2] } },
    )
    expect(adapter.subscriptions[0]).toMatchObject({
      types: ['mail', 'post'],
      compatibleVersions: { mail: [1, 3], post: [1, 2] },
    })
    // What no handler asks for is left to the queue.
    expect(adapter.subscriptions[0]!.visibilityTimeoutMs).toEqual({ mail: 5_000 })
  })

  it('T34 T35 goes to the handler of its version, or to the newest one where its version is listed', async () => {
    const { adapter, register, submit, read } = setUpCore()
    const by = (name: string) => () => Promise.resolve(name)
    register([handle(by('v2'), { version: 2 }), handle(by('v1')), handle(by('v3'), { version: 3 })], {
      compatibleVersions: { mail: [1, 2, 7] },
    })
    const results: unknown[] = []
    for (const handlerVersion of [1, 2, 7]) {
      const { id } = await submit({ handlerVersion })
      await adapter.deliver(id)
      results.push((await read(id)).result)
    }
    expect(results).toEqual(['v1', 'v2', 'v3'])
    const { id } = await submit({ handlerVersion: 3 })
    expect((await adapter.deliver(id)).kind).toBe('requeue')
  })

  it('T35 goes to no other handler than that of its version where none is listed', async () => {
    const { adapter, register, submit, read } = setUpCore()
    const by = (name: string) => () => Promise.resolve(name)
    register([handle(by('v1')), handle(by('v2'), { version: 2 })])
    const [first, third] = [await submit(), await submit({ handlerVersion: 3 })]
    await adapter.deliver(first.id)
    expect((await read(first.id)).result).toBe('v1')
    expect((await adapter.deliver(third.id)).kind).toBe('requeue')
  })
})
