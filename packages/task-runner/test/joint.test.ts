import { describe, expect, it } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { MemoryTaskStore, type JointSteps, type TaskRunnerCoreOptions, type TaskStore } from '../src/index.js'
import { FakeQueueAdapter } from './support/fakeQueueAdapter.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore } from './support/setUpCore.js'

/** Steps of a broker that holds queue and rows: the rows are in memory, and what is asked is written down. */
const jointOver = (store: TaskStore) => {
  const calls: Array<[string, unknown]> = []
  const steps: JointSteps = {
    submit: (input) => (calls.push(['submit', input.id]), store.create(input)),
    start: (input) => (calls.push(['start', input.taskId]), store.start(input)),
    finish: ({ receipt }, input) => (calls.push(['finish', [receipt, input.outcome.kind]]), store.finishAttempt(input)),
    spawn: (input) => (calls.push(['spawn', input.child.id]), store.spawnChild(input)),
    extend: (claims) => {
      calls.push(['extend', claims.length])
      return Promise.all(claims.map(({ input }) => store.extendAttempt(input)))
    },
    deadLetters: store.deadLetters,
    expireTasks: (query) => (calls.push(['expireTasks', query.limit]), store.expireTasks(query)),
    cancel: (input) => (calls.push(['cancel', input.taskId]), store.cancel(input)),
  }
  return { calls, steps }
}

const setUp = (options: TaskRunnerCoreOptions = {}) => {
  const memory = new MemoryTaskStore()
  const { calls, steps } = jointOver(memory)
  const forbid = () => Promise.reject(new Error('this step belongs to a joint one'))
  const apart = [
    'start',
    'beginAttempt',
    'finishAttempt',
    'extendAttempt',
    'cancel',
    'spawnChild',
    'expireTasks',
  ] as const
  const outbox = ['markEnqueued', 'findUnqueued', 'expireAttempts'] as const
  const forbidden = Object.fromEntries([...apart, ...outbox].map((name) => [name, forbid]))
  const store = overrideStore(memory, forbidden)
  const queueAdapter = new FakeQueueAdapter()
  Object.assign(queueAdapter, { enqueue: forbid, heartbeat: forbid })
  const askedFor: TaskStore[] = []
  queueAdapter.joint = (asked) => {
    askedFor.push(asked)
    return steps
  }
  const setup = setUpCore({ store, queueAdapter, reconcilerIntervalMs: 10, sweepIntervalMs: 10, ...options })
  const deliver = async (taskId: string, visibilityTimeoutMs = 60_000) => {
    const { workerId } = queueAdapter.subscriptions[0]!
    const begun = await memory.beginAttempt({ taskId, workerId, visibilityTimeoutMs, redelivered: false })
    return queueAdapter.deliver(taskId, { visibilityTimeoutMs, receipt: 'receipt', redelivered: false, begun })
  }
  return { ...setup, memory, calls, steps, deliver, askedFor }
}

describe('a core whose queue and store share a broker', () => {
  it('takes each step of a life as one', async () => {
    const { core, store, calls, register, submit, deliver, read, errors, askedFor } = setUp()
    expect(askedFor).toEqual([store])
    register(() => Promise.resolve('a result'))
    const { id } = await submit()
    expect(await deliver(id)).toEqual({ kind: 'success' })
    expect(await read(id)).toMatchObject({ status: 'succeeded', result: 'a result' })
    const draft = await core.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
    await core.start(draft.id)
    await core.cancel(draft.id)
    expect(calls).toEqual([
      ['submit', id],
      ['finish', ['receipt', 'succeeded']],
      ['start', draft.id],
      ['cancel', draft.id],
    ])
    expect(errors).toEqual([])
  })

  it('expires tasks in a joint step', async () => {
    const { calls, submit, read } = setUp({ expiryIntervalMs: 10 })
    const { id } = await submit({ startBefore: new Date(Date.now() - 1) })
    await until(async () => (await read(id)).status === 'failed')
    expect(calls).toContainEqual(['expireTasks', 100])
  })

  it('leaves retries and releases to the step that ends the attempt', async () => {
    const { calls, register, submit, deliver, read } = setUp()
    const worker = register([
      handle(() => Promise.reject(new Error('no')), { retryPolicy: { maxAttempts: 2 } }),
      handle(({ sleep }) => sleep(Infinity), { type: 'slow', cancelOnDrain: true }),
    ])
    const { id } = await submit()
    expect(await deliver(id)).toEqual({ kind: 'failed' })
    expect((await read(id)).status).toBe('pending')
    const slow = await submit({ type: 'slow' })
    const outcome = deliver(slow.id)
    await until(() => worker.activeTaskCount === 1)
    await worker.drain()
    expect(await outcome).toEqual({ kind: 'requeue' })
    expect(calls.slice(2)).toEqual([
      ['submit', slow.id],
      ['finish', ['receipt', 'released']],
    ])
  })

  it('hands back what was begun for a worker that drains or cannot run it', async () => {
    const { calls, register, submit, deliver, read } = setUp()
    let runs = 0
    const worker = register(() => Promise.resolve(++runs))
    const misfit = await submit({ tags: ['gpu'] })
    expect(await deliver(misfit.id)).toEqual({ kind: 'requeue' })
    const released = await read(misfit.id)
    expect(released).toMatchObject({ status: 'pending', attempts: [{ status: 'released' }] })
    expect(Date.parse(released.notBefore ?? '')).toBeGreaterThan(Date.parse(released.submittedAt))
    const { id } = await submit()
    await worker.drain()
    expect(await deliver(id)).toEqual({ kind: 'requeue' })
    expect(await read(id)).toMatchObject({ status: 'pending', attempts: [{ status: 'released' }] })
    expect((await read(id)).notBefore).toBeUndefined()
    expect(runs).toBe(0)
    expect(calls.filter(([name]) => name === 'finish')).toHaveLength(2)
  })

  it('understands what the claim step found', async () => {
    const { core, adapter, register, submit, memory, deliver, telemetry } = setUp()
    register(() => Promise.resolve(1))
    const cancelled: string[] = []
    telemetry.addListener('onTaskCancelled', ({ taskId }) => cancelled.push(taskId))
    const { id } = await submit()
    await core.cancel(id)
    expect(await deliver(id)).toEqual({ kind: 'success' })
    const other = await submit()
    const owner = { taskId: other.id, workerId: 'dead', visibilityTimeoutMs: 60_000, redelivered: false }
    await memory.beginAttempt(owner)
    expect(await deliver(other.id)).toMatchObject({ kind: 'requeue' })
    await memory.cancel({ taskId: other.id })
    const begun = await memory.beginAttempt({ ...owner, redelivered: true })
    expect(await adapter.deliver(other.id, { begun })).toEqual({ kind: 'cancelled' })
    expect(cancelled).toEqual([id, other.id])
    const missing = { kind: 'refused', reason: 'missing' } as const
    expect(await adapter.deliver('nobody', { begun: missing })).toMatchObject({ kind: 'requeue' })
  })

  it('T39 keeps all its claims alive with one step a tick', async () => {
    // Ticks that come often, of claims that are in no danger whatever else the machine does.
    const { calls, register, submit, deliver } = setUp({ heartbeatIntervalMs: 20 })
    const gate = deferred()
    const worker = register(async () => gate.promise)
    const tasks = await Promise.all(Array.from({ length: 5 }, () => submit()))
    const outcomes = tasks.map(({ id }) => deliver(id))
    await until(() => worker.activeTaskCount === 5)
    const extensions = () => calls.filter(([name]) => name === 'extend')
    // The first ones may come before all are open.
    const newest = () => extensions().slice(-3)
    await until(() => newest().length === 3 && newest().every(([, count]) => count === 5))
    gate.resolve()
    expect(await Promise.all(outcomes)).toEqual(tasks.map(() => ({ kind: 'success' })))
  })

  it('submits many in one step where that is offered, and one by one where it is not', async () => {
    const { core, calls, steps, memory } = setUp()
    const list = [1, 2].map((payload) => ({ type: 'mail', handlerVersion: 1, payload }))
    expect((await core.submitMany(list)).map(({ payload }) => payload)).toEqual([1, 2])
    expect(calls.map(([name]) => name)).toEqual(['submit', 'submit'])
    calls.length = 0
    steps.submitMany = (inputs) => {
      calls.push(['submitMany', inputs.length])
      return Promise.all(inputs.map((input) => memory.create(input)))
    }
    const tasks = await core.submitMany([...list, ...list])
    expect(tasks.map(({ payload }) => payload)).toEqual([1, 2, 1, 2])
    expect(calls).toEqual([['submitMany', 4]])
  })
})
