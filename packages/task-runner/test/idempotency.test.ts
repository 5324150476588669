import { describe, expect, it } from 'vitest'

import { InProcessQueueAdapter, MemoryTaskStore, type TaskStore } from '../src/index.js'
import { FakeQueueAdapter } from './support/fakeQueueAdapter.js'
import { overrideStore } from './support/overrideStore.js'
import { setUpCore } from './support/setUpCore.js'

/** A queue whose leases are shared by all who get it. */
const queueWithLeases = () => {
  const queueAdapter = new FakeQueueAdapter()
  const leases = new Map<string, string>()
  const asked: string[] = []
  queueAdapter.acquireIdempotencyLease = ({ type, key, taskId }) => {
    asked.push(key)
    const held = leases.get(`${type}/${key}`) ?? taskId
    leases.set(`${type}/${key}`, held)
    return Promise.resolve(held)
  }
  return { queueAdapter, leases, asked }
}

describe('an idempotency key', () => {
  it('Q30 needs nobody to wait: whoever loses the lease makes the row under the id of the winner', async () => {
    const { queueAdapter, leases } = queueWithLeases()
    leases.set('mail/k', 'winner')
    const { submit, store } = setUpCore({ queueAdapter })
    const tasks = await Promise.all([submit({ idempotencyKey: 'k' }), submit({ idempotencyKey: 'k' })])
    expect(tasks.map(({ id }) => id)).toEqual(['winner', 'winner'])
    expect(await store.get('winner')).toBeDefined()
    expect(queueAdapter.enqueued.map(({ taskId }) => taskId)).toEqual(['winner'])
  })

  it('Q31 works on after the submission failed that won its lease', async () => {
    const { queueAdapter } = queueWithLeases()
    const memory = new MemoryTaskStore()
    let isAway = true
    const store: TaskStore = overrideStore(memory, {
      create: (input) => (isAway ? Promise.reject(new Error('away')) : memory.create(input)),
    })
    const { submit } = setUpCore({ queueAdapter, store })
    await expect(submit({ idempotencyKey: 'k' })).rejects.toThrow('away')
    isAway = false
    const first = await submit({ idempotencyKey: 'k' })
    expect((await submit({ idempotencyKey: 'k' })).id).toBe(first.id)
    expect(queueAdapter.enqueued).toHaveLength(1)
  })

  it('holds within the process where the queue has no leases', async () => {
    const { submit, adapter } = setUpCore()
    const tasks = await Promise.all(Array.from({ length: 10 }, () => submit({ idempotencyKey: 'k' })))
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(1)
    expect(adapter.enqueued).toHaveLength(1)
  })

  it('holds beyond the process where the rows do', async () => {
    const store = new MemoryTaskStore()
    const ids: string[] = []
    for (let restart = 0; restart < 2; restart++) {
      const { core, submit } = setUpCore({ store, queueAdapter: new InProcessQueueAdapter() })
      ids.push((await submit({ idempotencyKey: 'k' })).id)
      await core[Symbol.asyncDispose]()
    }
    expect(new Set(ids).size).toBe(1)
  })

  it('is the key of the lease, as long as there is no submitter', async () => {
    const { queueAdapter, asked } = queueWithLeases()
    const { submit } = setUpCore({ queueAdapter })
    await submit({ idempotencyKey: 'plain' })
    await submit({ idempotencyKey: 'plain', submittedBy: 'me' })
    expect(asked[0]).toBe('plain')
    expect(asked[1]).not.toBe('plain')
  })
})
