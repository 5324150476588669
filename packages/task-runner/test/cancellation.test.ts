import { describe, expect, it } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { MemoryTaskStore, UnknownTaskError, type StoredTask, type TaskStore } from '../src/index.js'
import { overrideStore } from './support/overrideStore.js'
import { setUpCore } from './support/setUpCore.js'

/** A store whose rows have children, by a table. */
const withChildren = (memory: TaskStore, children: ReadonlyMap<string, string[]>): TaskStore => {
  const link = <T extends StoredTask | undefined>(stored: T): T => {
    if (stored !== undefined) stored.task.childTaskIds = children.get(stored.task.id) ?? []
    return stored
  }
  return overrideStore(memory, {
    get: async (id) => link(await memory.get(id)),
    getMany: async (ids) => (await memory.getMany(ids)).map(link),
    cancel: async (input) => {
      const result = await memory.cancel(input)
      if (result.kind !== 'unknown') link(result.stored)
      return result
    },
  })
}

const setUp = () => {
  const children = new Map<string, string[]>()
  const setup = setUpCore({ store: withChildren(new MemoryTaskStore(), children) })
  const cancelled: unknown[] = []
  setup.telemetry.addListener('onTaskCancelled', (event) => cancelled.push(event))
  const broadcasts: unknown[] = []
  for (const type of ['mail', 'post']) {
    setup.bus.subscribe(`tasks/cancel/${type}`, ({ payload }) => broadcasts.push({ type, payload }))
  }
  return { ...setup, children, cancelled, broadcasts }
}

describe('cancel', () => {
  it('T27 goes down the tree, below terminal tasks too, and tells each type once', async () => {
    const { core, submit, read, register, adapter, children, cancelled, broadcasts } = setUp()
    register(() => Promise.resolve(1))
    const [root, done, leaf, other] = [await submit(), await submit(), await submit({ type: 'post' }), await submit()]
    await adapter.deliver(done.id)
    children.set(root.id, [done.id, other.id])
    children.set(done.id, [leaf.id])
    await core.cancel(root.id, 'over')
    const statuses = await Promise.all([root, done, leaf, other].map(async ({ id }) => (await read(id)).status))
    expect(statuses).toEqual(['cancelled', 'succeeded', 'cancelled', 'cancelled'])
    expect(cancelled).toEqual([
      { taskId: root.id, type: 'mail' },
      { taskId: other.id, type: 'mail', cascadeFromTaskId: root.id },
      { taskId: leaf.id, type: 'post', cascadeFromTaskId: root.id },
    ])
    const via: unknown = expect.any(String)
    expect(broadcasts).toEqual([
      { type: 'mail', payload: { taskIds: [root.id, other.id], reason: 'over', via } },
      { type: 'post', payload: { taskIds: [leaf.id], reason: 'over', via } },
    ])
    expect((await core.getTree(root.id)).children.map(({ task }) => task.id)).toEqual([done.id, other.id])
  })

  it('is safe against rows that lead back to themselves', async () => {
    const { core, submit, read, children } = setUp()
    const [a, b] = [await submit(), await submit()]
    children.set(a.id, [b.id, a.id])
    children.set(b.id, [a.id, b.id])
    await core.cancel(a.id)
    expect((await read(b.id)).status).toBe('cancelled')
    const tree = await core.getTree(a.id)
    expect(tree.children).toHaveLength(1)
    expect(tree.children[0]?.children).toEqual([])
  })

  it('T27 reports an unknown task, and an unknown child', async () => {
    const { core, submit, errors, children, broadcasts } = setUp()
    await core.cancel('nobody')
    const { id } = await submit()
    children.set(id, ['gone'])
    await core.cancel(id)
    expect(errors.map(({ operation, error }) => [operation, (error as UnknownTaskError).taskId])).toEqual([
      ['cancel', 'nobody'],
      ['cancel', 'gone'],
    ])
    expect(errors[0]?.error).toBeInstanceOf(UnknownTaskError)
    expect(broadcasts).toHaveLength(1)
    expect((await core.getTree(id)).children).toEqual([])
  })

  it('T22 of a running task goes by the row, so that any process may ask', async () => {
    const { core, submit, read, store } = setUp()
    const { id } = await submit()
    await store.beginAttempt({ taskId: id, workerId: 'elsewhere', visibilityTimeoutMs: 60_000, redelivered: false })
    await core.cancel(id, 'over')
    expect((await read(id)).status).toBe('cancelling')
  })

  it('is heard by a run that begins a moment later', async () => {
    const { submit, adapter, register, store, bus } = setUp()
    const reasons: unknown[] = []
    register(async ({ cancellationSignal }) => {
      reasons.push(cancellationSignal.reason)
      cancellationSignal.throwIfAborted()
      return Promise.resolve()
    })
    const { id } = await submit()
    const begun = await store.beginAttempt({
      taskId: id,
      workerId: adapter.subscriptions[0]!.workerId,
      visibilityTimeoutMs: 60_000,
      redelivered: false,
    })
    await store.cancel({ taskId: id, reason: 'over' })
    await bus.publish('tasks/cancel/mail', { taskIds: [id], reason: 'over' })
    expect(await adapter.deliver(id, { begun })).toEqual({ kind: 'cancelled' })
    expect(reasons).toMatchObject([{ name: 'TaskCancelledError', reason: 'over' }])
  })

  it('does the rest of the tree when a row is in trouble, and rejects then', async () => {
    const memory = new MemoryTaskStore()
    const children = new Map<string, string[]>()
    const linked = withChildren(memory, children)
    const trouble = new Error('away')
    let bad = ''
    const store = overrideStore(linked, {
      cancel: (input) => (input.taskId === bad ? Promise.reject(trouble) : linked.cancel(input)),
    })
    const { core, submit, read } = setUpCore({ store })
    const [root, first, second] = [await submit(), await submit(), await submit()]
    children.set(root.id, [first.id, second.id])
    bad = first.id
    await expect(core.cancel(root.id)).rejects.toBe(trouble)
    expect((await read(second.id)).status).toBe('cancelled')
  })

  it('T62 reaches a handler of a disposed worker', async () => {
    const { core, submit, adapter, register, read, bus } = setUp()
    const running = deferred()
    const worker = register(async ({ sleep }) => {
      running.resolve()
      await sleep(60_000)
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running.promise
    worker[Symbol.dispose]()
    expect(adapter.disposals).toBe(1)
    await bus.publish('tasks/cancel/mail', { taskIds: [id] })
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect((await read(id)).status).toBe('cancelled')
    await core.cancel(id)
  })

  it('ignores messages of another shape', async () => {
    const { bus, register, errors } = setUp()
    register(() => Promise.resolve())
    for (const payload of [null, 'text', {}, { taskIds: 'x' }, { taskIds: [1, null] }]) {
      await bus.publish('tasks/cancel/mail', payload)
    }
    expect(errors).toEqual([])
  })
})

describe('children that outlive their parent', () => {
  it('T26 are cancelled by another process, if the one that ended their parent died before it could', async () => {
    let ahead = 0
    const memory = new MemoryTaskStore({ now: () => Date.now() + ahead })
    const away = new Error('away')
    const dying = overrideStore(memory, { cancel: () => Promise.reject(away), markReaped: () => Promise.reject(away) })
    const first = setUpCore({ store: dying, maintenanceIntervalMs: Infinity })
    const spawned = deferred<string>()
    first.register(async (ctx) => {
      const { taskId } = await ctx.spawnChild('nobody', 1)
      spawned.resolve(taskId)
    })
    const { id } = await first.submit()
    await first.adapter.deliver(id)
    const childId = await spawned.promise
    expect((await memory.get(id))?.task.status).toBe('succeeded')
    expect((await memory.get(childId))?.task.status).toBe('pending')
    expect(first.errors).toContainEqual({ operation: 'reap', error: away })
    await first.core[Symbol.asyncDispose]()

    let looks = 0
    const second = setUpCore({
      store: overrideStore(memory, { findOrphaned: (query) => (looks++, memory.findOrphaned(query)) }),
      maintenanceIntervalMs: 10,
    })
    await until(() => looks > 2)
    expect((await second.read(childId)).status).toBe('pending')
    ahead = 10_000
    await until(async () => (await second.read(childId)).status === 'cancelled')
    await until(async () => (await memory.findOrphaned({ olderThanMs: 0, limit: 10 })).length === 0)
    expect((await second.read(childId)).events).toContainEqual(
      expect.objectContaining({ kind: 'cancellation-requested', reason: 'parent-completed' }),
    )
  })

  it('T28 are tried again later if they cannot be cancelled now, without a loop', async () => {
    let ahead = 0
    const memory = new MemoryTaskStore({ now: () => Date.now() + ahead })
    let [cancels, looks] = [0, 0]
    let isAway = true
    const store = overrideStore(memory, {
      cancel: (input) => (cancels++, isAway ? Promise.reject(new Error('away')) : memory.cancel(input)),
      findOrphaned: (query) => (looks++, memory.findOrphaned(query)),
    })
    const { register, submit, adapter, read } = setUpCore({ store, maintenanceIntervalMs: 20 })
    register((ctx) => ctx.spawnChild('nobody', 1).then(({ taskId }) => taskId))
    const { id } = await submit()
    await adapter.deliver(id)
    ahead = 10_000
    const before = looks
    await until(() => looks > before + 3)
    expect(cancels).toBeLessThanOrEqual(looks + 1)
    isAway = false
    await until(async () => (await read((await read(id)).result as string)).status === 'cancelled')
  })

  it('are left to the reaper that is under way: its mark comes off with it', async () => {
    const store = new MemoryTaskStore()
    const { register, submit, adapter, core } = setUpCore({ store, maintenanceIntervalMs: Infinity })
    register(async (ctx) => {
      await ctx.spawnChild('nobody', 1)
      await ctx.sleep(60_000)
    })
    const { id } = await submit()
    const delivered = adapter.deliver(id)
    await until(async () => (await core.get(id))?.childTaskIds.length === 1)
    await core.cancel(id)
    await delivered
    expect(await store.findOrphaned({ olderThanMs: 0, limit: 10 })).toEqual([])
  })
})
