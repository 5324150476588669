import { describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { DEFAULT_RETENTION_POLICY, InProcessQueueAdapter, MemoryTaskStore } from '../src/index.js'
import { FakeQueueAdapter } from './support/fakeQueueAdapter.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore } from './support/setUpCore.js'

const refusal = new Error('the queue is away')
const row = { type: 'mail', handlerVersion: 1, status: 'pending', tags: ['x'] } as const
const OLD_MS = 5_000

/** A store with an adjustable clock, so that rows can be old. */
const storeWithClock = () => {
  let ahead = 0
  return { store: new MemoryTaskStore({ now: () => Date.now() + ahead }), pass: (ms: number) => void (ahead += ms) }
}

describe('a task whose entry never reached the queue', () => {
  it('T1 Q6 is found and queued when its submitter died between row and entry', async () => {
    const { store, pass } = storeWithClock()
    await store.create({ ...row, id: 'orphan', retentionPolicy: DEFAULT_RETENTION_POLICY })
    await store.create({ ...row, id: 'parked', notBefore: 1e13, retentionPolicy: DEFAULT_RETENTION_POLICY })
    pass(OLD_MS)
    const { adapter } = setUpCore({ store })
    await until(() => adapter.enqueued.length === 2)
    expect(adapter.enqueued).toEqual([
      { taskId: 'orphan', type: 'mail', handlerVersion: 1, tags: ['x'] },
      { taskId: 'parked', type: 'mail', handlerVersion: 1, tags: ['x'], notBefore: new Date(1e13) },
    ])
    await until(async () => (await store.findUnqueued({ olderThanMs: 0, limit: 10 })).length === 0)
  })

  it('T1 Q6 is queued later when the queue refused it', async () => {
    const { store, pass } = storeWithClock()
    const queueAdapter = new FakeQueueAdapter()
    const { adapter, core, submit } = setUpCore({ store, queueAdapter, reconcilerIntervalMs: 20 })
    adapter.refusals.push(refusal, refusal)
    await expect(submit()).rejects.toBe(refusal)
    const draft = await core.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
    await expect(core.start(draft.id)).rejects.toBe(refusal)
    expect((await core.get(draft.id))?.status).toBe('pending')
    pass(OLD_MS)
    await until(() => adapter.enqueued.length === 2)
  })

  it('T1 is queued later when it is a retry', async () => {
    const { store, pass } = storeWithClock()
    const { adapter, register, submit, errors } = setUpCore({ store, reconcilerIntervalMs: 20 })
    register([handle(() => Promise.reject(new Error('no')), { retryPolicy: { maxAttempts: 2 } })])
    const { id } = await submit()
    adapter.refusals.push(refusal)
    expect(await adapter.deliver(id)).toEqual({ kind: 'failed' })
    expect(errors).toContainEqual({ operation: 'enqueue', error: refusal })
    pass(OLD_MS)
    await until(() => adapter.enqueued.length === 2)
  })

  it('is not queued twice once it has been queued', async () => {
    const { store: memory, pass } = storeWithClock()
    let passes = 0
    const store = overrideStore(memory, { findUnqueued: (query) => (passes++, memory.findUnqueued(query)) })
    const { adapter, submit } = setUpCore({ store, reconcilerIntervalMs: 10 })
    await submit()
    pass(OLD_MS)
    await until(() => passes > 3)
    expect(adapter.enqueued).toHaveLength(1)
  })

  it('does not keep the reconciler in a loop when marks do not come off', async () => {
    const { store: memory, pass } = storeWithClock()
    for (let index = 0; index < 150; index++) {
      await memory.create({ ...row, id: `task-${index}`, retentionPolicy: DEFAULT_RETENTION_POLICY })
    }
    pass(OLD_MS)
    const store = overrideStore(memory, { markEnqueued: () => Promise.reject(new Error('away')) })
    const { adapter, errors } = setUpCore({ store, reconcilerIntervalMs: 1_000_000 })
    await until(() => adapter.enqueued.length >= 100)
    expect(adapter.enqueued).toHaveLength(100)
    expect(errors.every(({ operation }) => operation === 'markEnqueued')).toBe(true)
  })

  it('T28 T30 survives a store in trouble: the reconciler goes on and reports', async () => {
    let calls = 0
    const store = overrideStore(new MemoryTaskStore(), {
      findUnqueued: () => (calls++, Promise.reject(new Error('away'))),
      expireAttempts: () => (calls++, Promise.reject(new Error('away'))),
    })
    const queueAdapter = new FakeQueueAdapter({ brokerSideReclaim: false })
    const { errors } = setUpCore({ store, queueAdapter, reconcilerIntervalMs: 10, sweepIntervalMs: 10 })
    await until(() => calls > 10)
    expect(new Set(errors.map(({ operation }) => operation))).toEqual(new Set(['reconcile', 'sweep']))
  })

  it('Q40 is run after a restart, where the queue ends with the process and the store does not', async () => {
    const store = new MemoryTaskStore()
    const before = setUpCore({ store, queueAdapter: new InProcessQueueAdapter() })
    const ids: string[] = []
    for (let index = 0; index < 250; index++) ids.push((await before.submit()).id)
    await before.core[Symbol.asyncDispose]()
    const queueAdapter = new InProcessQueueAdapter()
    const enqueue = vi.spyOn(queueAdapter, 'enqueue')
    const after = setUpCore({ store, queueAdapter })
    ids.push((await after.submit()).id)
    const seen: string[] = []
    after.register(({ taskId }) => Promise.resolve(seen.push(taskId)))
    await until(() => seen.length === ids.length)
    expect([...seen].sort()).toEqual([...ids].sort())
    expect(enqueue).toHaveBeenCalledTimes(ids.length)
  })

  it('is found where the queue has no memory, though nobody was told that its row stands', async () => {
    const { store: memory, pass } = storeWithClock()
    let looks = 0
    let isLosing = true
    const store = overrideStore(memory, {
      findUnqueued: (query) => (looks++, memory.findUnqueued(query)),
      create: async (input) => {
        const result = await memory.create(input)
        if (isLosing) throw new Error('the answer was lost')
        return result
      },
    })
    const setup = { store, queueAdapter: new InProcessQueueAdapter(), reconcilerIntervalMs: 10 }
    const { submit, register } = setUpCore(setup)
    await until(() => looks > 0)
    await expect(submit()).rejects.toThrow('the answer was lost')
    isLosing = false
    const { id: healthy } = await submit()
    pass(OLD_MS)
    await until(() => looks > 1)
    const seen: string[] = []
    register(({ taskId }) => Promise.resolve(seen.push(taskId)))
    await until(() => seen.length === 2)
    expect(seen).toContain(healthy)
    expect(new Set(seen).size).toBe(2)
  })

  it('T30 is not looked for in front of a queue without memory as long as all is well', async () => {
    let looks = 0
    let turns = 0
    const memory = new MemoryTaskStore()
    const store = overrideStore(memory, {
      findUnqueued: (query) => (looks++, memory.findUnqueued(query)),
      expireAttempts: (query) => (turns++, memory.expireAttempts(query)),
    })
    const queueAdapter = new InProcessQueueAdapter()
    const { submit } = setUpCore({ store, queueAdapter, reconcilerIntervalMs: 5, sweepIntervalMs: 5 })
    await submit()
    await until(() => turns > 10)
    expect(looks).toBe(1)
  })

  it('is kept in mind where the queue has no memory', async () => {
    const queueAdapter = new FakeQueueAdapter({ persistent: false })
    const { adapter, submit } = setUpCore({ queueAdapter, reconcilerIntervalMs: 10 })
    adapter.refusals.push(refusal)
    await expect(submit()).rejects.toBe(refusal)
    await until(() => adapter.enqueued.length === 1)
  })
})

describe('a lease that has run out', () => {
  it('T7 T8 stops the run in this process, and queues its task again', async () => {
    const { store, pass } = storeWithClock()
    const queueAdapter = new FakeQueueAdapter({ brokerSideReclaim: false })
    const { core, register, submit } = setUpCore({ store, queueAdapter, sweepIntervalMs: 10 })
    const statuses: string[] = []
    using _subscription = core.subscribeByType('mail', (update) => {
      if (update.kind === 'status') statuses.push(update.status)
    })
    const running = deferred<AbortSignal>()
    register(({ sleep, cancellationSignal }) => {
      running.resolve(cancellationSignal)
      return sleep(600_000)
    })
    const { id } = await submit()
    const outcome = queueAdapter.deliver(id)
    const signal = await running.promise
    // By the clock of the store the lease is over, before a heartbeat was due by the clock of this process.
    pass(60_001)
    expect(await outcome).toEqual({ kind: 'success' })
    expect(signal.reason).toMatchObject({ name: 'LeaseLostError', how: 'taken' })
    await until(() => queueAdapter.enqueued.length === 2)
    expect(await core.get(id)).toMatchObject({ status: 'pending', attempts: [{ status: 'timed-out' }] })
    expect(statuses).toEqual(['pending', 'claimed', 'running', 'pending'])
  })

  it('T9 ends a task that was to be cancelled', async () => {
    const store = new MemoryTaskStore()
    const queueAdapter = new FakeQueueAdapter({ brokerSideReclaim: false })
    const { core, submit, telemetry } = setUpCore({ store, queueAdapter, sweepIntervalMs: 10 })
    const cancelled: string[] = []
    telemetry.addListener('onTaskCancelled', ({ taskId }) => cancelled.push(taskId))
    const { id } = await submit()
    await store.beginAttempt({ taskId: id, workerId: 'dead', visibilityTimeoutMs: 50, redelivered: false })
    await core.cancel(id)
    expect((await core.get(id))?.status).toBe('cancelling')
    await until(async () => (await core.get(id))?.status === 'cancelled')
    expect(cancelled).toEqual([id])
  })

  it('is left to the queue where that reclaims by itself', async () => {
    let sweeps = 0
    const store = overrideStore(new MemoryTaskStore(), { expireAttempts: () => (sweeps++, Promise.resolve([])) })
    setUpCore({ store, sweepIntervalMs: 5 })
    const sweeping = setUpCore({
      store,
      sweepIntervalMs: 5,
      queueAdapter: new FakeQueueAdapter({ brokerSideReclaim: false }),
    })
    await until(() => sweeps > 2)
    await sweeping.core[Symbol.asyncDispose]()
    const count = sweeps
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(sweeps).toBe(count)
  })
})
