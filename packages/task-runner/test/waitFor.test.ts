import { getEventListeners } from 'node:events'

import { describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { MemoryTaskStore, type TaskUpdate } from '../src/index.js'
import { countingBus } from './support/countingBus.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore } from './support/setUpCore.js'

const STATUS_TOPIC = 'tasks/status/mail'

/** A task, whoever watches it, and what is left of that. */
const setUp = async (handler: () => unknown = () => Promise.resolve('a result')) => {
  const { bus, openOn } = countingBus()
  const setup = setUpCore({ bus })
  setup.register([handle(handler, { retryPolicy: { maxAttempts: 2 } })])
  const { id } = await setup.submit()
  return { ...setup, id, listeners: () => openOn(STATUS_TOPIC) }
}

const textOf = (update: TaskUpdate): string => (update.kind === 'status' ? update.status : update.kind)

describe('waitFor', () => {
  it('resolves with the result, whether the task has ended or not', async () => {
    const { core, adapter, id, listeners } = await setUp()
    const waiting = core.waitFor(id)
    await until(() => listeners() === 1)
    await adapter.deliver(id)
    expect(await waiting).toBe('a result')
    expect(await core.waitFor(id)).toBe('a result')
    expect(listeners()).toBe(0)
  })

  it('rejects with what the task failed with', async () => {
    const { core, adapter, id } = await setUp(() => Promise.reject(new RangeError('no such page')))
    const waiting = core.waitFor(id)
    const rejected = expect(waiting).rejects.toMatchObject({
      name: 'TaskFailedError',
      taskId: id,
      error: { name: 'RangeError', message: 'no such page' },
      message: `Task ${id} failed: RangeError: no such page`,
    })
    await adapter.deliver(id)
    await adapter.deliver(id)
    await rejected
  })

  it('rejects for a cancelled task, with the reason, and for an unknown one', async () => {
    const { core, id } = await setUp()
    const rejected = expect(core.waitFor(id)).rejects.toMatchObject({ name: 'TaskCancelledError', reason: 'enough' })
    await core.cancel(id, 'enough')
    await rejected
    await expect(core.waitFor(id)).rejects.toMatchObject({ name: 'TaskCancelledError', taskId: id, reason: 'enough' })
    await expect(core.waitFor('nobody')).rejects.toMatchObject({ name: 'UnknownTaskError', taskId: 'nobody' })
  })

  it('ends with its time, its signal or its runner, and leaves nothing behind', async () => {
    const { core, id, listeners } = await setUp()
    const cancel = new AbortController()
    const reason = new Error('never mind')
    const timedOut = expect(core.waitFor(id, { timeoutMs: 30 })).rejects.toMatchObject({
      name: 'WaitTimeoutError',
      taskId: id,
      timeoutMs: 30,
      status: 'pending',
    })
    const aborted = expect(core.waitFor(id, { signal: cancel.signal })).rejects.toBe(reason)
    await until(() => listeners() === 1)
    await timedOut
    expect(getEventListeners(cancel.signal, 'abort')).toHaveLength(1)
    cancel.abort(reason)
    await aborted
    expect(getEventListeners(cancel.signal, 'abort')).toEqual([])
    expect(listeners()).toBe(0)
    await expect(core.waitFor(id, { signal: cancel.signal })).rejects.toBe(reason)
    const disposed = expect(core.waitFor(id)).rejects.toMatchObject({ name: 'RunnerDisposedError' })
    await core[Symbol.asyncDispose]()
    await disposed
    expect(listeners()).toBe(0)
  })

  it('T43 takes a time only', async () => {
    const { core, id } = await setUp()
    for (const timeoutMs of [-1, Number.NaN]) {
      await expect(core.waitFor(id, { timeoutMs })).rejects.toMatchObject({ property: 'timeoutMs' })
    }
    await expect(core.waitFor('')).rejects.toMatchObject({ property: 'taskId' })
  })

  it('is not held up by a bus that tells nothing, nor by a store in trouble', async () => {
    const memory = new MemoryTaskStore()
    let reads = 0
    const store = overrideStore(memory, {
      get: (taskId) => (++reads === 3 ? Promise.reject(new Error('away')) : memory.get(taskId)),
    })
    const { core, submit, errors } = setUpCore({ store })
    const { id } = await submit()
    const waiting = core.waitFor(id)
    await until(() => reads === 2)
    // Another process ends the task, of which this one hears nothing.
    await store.cancel({ taskId: id })
    await expect(waiting).rejects.toMatchObject({ name: 'TaskCancelledError' })
    expect(errors).toMatchObject([{ operation: 'watch' }])
  })
})

describe('updates$', () => {
  it('T59 shows the row as it is once the bus listens, and nothing of what was told before', async () => {
    const { bus } = countingBus()
    const live = deferred<undefined>()
    let asked = 0
    const slow: typeof bus = new Proxy(bus, {
      get: (target, name) =>
        name === 'whenReady' ? () => (asked++, live.promise) : (Reflect.get(target, name) as unknown),
    })
    const { core, submit } = setUpCore({ bus: slow })
    const { id } = await submit()
    const seen: string[] = []
    core.updates$(id).subscribe({ next: (update) => seen.push(textOf(update)), complete: () => seen.push('|') })
    await until(() => asked === 1)
    expect(seen).toEqual([])
    await core.cancel(id)
    live.resolve(undefined)
    await until(() => seen.includes('|'))
    expect(seen).toEqual(['cancelled', '|'])
  })

  it('shows the status first, then every transition once, and completes after the last', async () => {
    const { core, adapter, id, listeners } = await setUp(() => Promise.reject(new Error('no')))
    const seen: string[] = []
    const updates$ = core.updates$(id)
    expect(listeners()).toBe(0)
    updates$.subscribe({ next: (update) => seen.push(textOf(update)), complete: () => seen.push('|') })
    await until(() => listeners() === 1 && seen.length > 0)
    await adapter.deliver(id)
    await adapter.deliver(id)
    expect(seen).toEqual(['pending', 'claimed', 'running', 'pending', 'claimed', 'running', 'failed', '|'])
    expect(listeners()).toBe(0)
    const late: string[] = []
    updates$.subscribe({ next: (update) => late.push(textOf(update)), complete: () => late.push('|') })
    await until(() => late.includes('|'))
    expect(late).toEqual(['failed', '|'])
  })

  it.each(['before the first reading', 'before the second reading', 'after the second reading'])(
    'misses nothing that happens %s',
    async (when) => {
      const memory = new MemoryTaskStore()
      let act: () => Promise<unknown> = () => Promise.resolve()
      let reads = 0
      const store = overrideStore(memory, {
        get: async (taskId) => {
          reads++
          if (when === `before the ${['', 'first', 'second'][reads] ?? ''} reading`) await act()
          const stored = await memory.get(taskId)
          if (when === 'after the second reading' && reads === 2) await act()
          return stored
        },
      })
      const { core, register, submit, adapter } = setUpCore({ store })
      register(() => Promise.resolve(1))
      const { id } = await submit()
      act = () => {
        reads = 99
        return adapter.deliver(id)
      }
      reads = 0
      const seen: string[] = []
      core.updates$(id).subscribe({ next: (update) => seen.push(textOf(update)), complete: () => seen.push('|') })
      await until(() => seen.includes('|'))
      expect(seen).toEqual(
        when === 'after the second reading' ? ['pending', 'claimed', 'running', 'succeeded', '|'] : ['succeeded', '|'],
      )
    },
  )

  it('tells neither what the first status covers nor a status twice in a row', async () => {
    const { core, store, submit, bus } = setUpCore()
    const { id } = await submit()
    const begun = await store.beginAttempt({
      taskId: id,
      workerId: 'w',
      visibilityTimeoutMs: 60_000,
      redelivered: false,
    })
    if (begun.kind !== 'begun') throw new Error(begun.kind)
    const seen: string[] = []
    const subscription = core.updates$(id).subscribe((update) => seen.push(textOf(update)))
    await until(() => seen.length === 1)
    const publish = (status: string, at: number) =>
      bus.publish(STATUS_TOPIC, { kind: 'status', taskId: id, status, at: new Date(at).toISOString(), via: 'other' })
    for (const [status, at] of [
      ['pending', begun.at - 1_000],
      ['failed', begun.at - 1_000],
      ['pending', begun.at],
      ['claimed', begun.at],
      ['running', begun.at],
      ['pending', begun.at],
      ['claimed', begun.at + 5],
      ['running', begun.at + 5],
      ['running', begun.at + 5],
    ] as const) {
      await publish(status, at)
    }
    expect(seen).toEqual(['running', 'pending', 'claimed', 'running'])
    subscription.unsubscribe()
    await publish('cancelling', begun.at + 9)
    expect(seen).toHaveLength(4)
  })

  it('T59 leaves out what a claim has overtaken: that its task is a draft, or pending', async () => {
    const { core, bus } = setUpCore()
    const { id, submittedAt } = await core.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
    const seen: string[] = []
    const subscription = core.updates$(id).subscribe((update) => seen.push(textOf(update)))
    await until(() => seen.length === 1)
    const publish = async (via: string, afterMs: number, ...statuses: string[]) => {
      for (const status of statuses) {
        const at = new Date(Date.parse(submittedAt) + afterMs).toISOString()
        await bus.publish(STATUS_TOPIC, { kind: 'status', taskId: id, status, at, via })
      }
    }
    await publish('worker', 5, 'claimed', 'running')
    await publish('starter', 0, 'draft')
    await publish('starter', 4, 'pending')
    await publish('starter', 5, 'pending')
    await publish('worker', 5, 'pending')
    expect(seen.splice(0)).toEqual(['draft', 'claimed', 'running'])
    // Runs that fail within the millisecond of their claim.
    await publish('worker', 5, 'pending')
    await publish('worker', 6, 'claimed', 'running', 'pending')
    await publish('starter', 6, 'pending')
    expect(seen.splice(0)).toEqual(['pending', 'claimed', 'running', 'pending'])
    // Another process takes it over, and whoever had it before comes late with its word.
    await publish('other', 8, 'claimed', 'running')
    await publish('worker', 8, 'pending')
    await publish('worker', 9, 'pending')
    expect(seen.splice(0)).toEqual(['claimed', 'running', 'pending'])
    subscription.unsubscribe()
  })

  it('tells what a bus has lost', async () => {
    const { core, store, submit } = setUpCore()
    const { id } = await submit()
    const seen: TaskUpdate[] = []
    const subscription = core.updates$(id).subscribe((update) => seen.push(update))
    await until(() => seen.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 2))
    await store.beginAttempt({ taskId: id, workerId: 'w', visibilityTimeoutMs: 60_000, redelivered: false })
    await until(() => seen.length === 2)
    await store.cancel({ taskId: id, reason: 'enough' })
    await until(() => seen.length === 3)
    expect(seen).toMatchObject([
      { status: 'pending' },
      { status: 'running' },
      { status: 'cancelling', reason: 'enough' },
    ])
    subscription.unsubscribe()
  })

  it('leaves no listener and no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { core, id, listeners } = await setUp()
      const before = vi.getTimerCount()
      const subscriptions = [1, 2].map(() => core.updates$(id).subscribe())
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(before + 2))
      expect(listeners()).toBe(1)
      for (const subscription of subscriptions) subscription.unsubscribe()
      expect(listeners()).toBe(0)
      expect(vi.getTimerCount()).toBe(before)
      // Left while the row is being read.
      core.updates$(id).subscribe().unsubscribe()
      await vi.waitFor(() => expect(listeners()).toBe(0))
      expect(vi.getTimerCount()).toBe(before)
    } finally {
      vi.useRealTimers()
    }
  })
})
