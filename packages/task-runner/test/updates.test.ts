import { randomUUID } from 'node:crypto'

import { InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { describe, expect, it } from 'vitest'

import { until } from '../../../test/support/until.js'
import { MemoryTaskStore, type TaskUpdate } from '../src/index.js'
import { countingBus } from './support/countingBus.js'
import { overrideStore } from './support/overrideStore.js'
import { setUpCore } from './support/setUpCore.js'

describe('updates', () => {
  it('T31 come from other runners over the bus, and from this one only once', async () => {
    const bus = new InProcessCrossNodeBus()
    const store = new MemoryTaskStore()
    const [near, far] = [setUpCore({ bus, store }), setUpCore({ bus, store })]
    const updates: TaskUpdate[] = []
    using _subscription = near.core.subscribeByType('mail', (update) => updates.push(update))
    const own = await near.submit()
    const other = await far.submit()
    expect(updates).toEqual([
      { kind: 'status', taskId: own.id, status: 'pending', at: own.submittedAt },
      { kind: 'status', taskId: other.id, status: 'pending', at: other.submittedAt },
    ])
  })

  it('T31 listen to the bus while somebody is interested, once a type', async () => {
    const { bus, openOn } = countingBus()
    const { core, submit } = setUpCore({ bus })
    const { id } = await submit()
    expect(openOn('tasks/status/mail')).toBe(0)
    const subscriptions = [
      core.subscribeByType('mail', () => undefined),
      core.subscribe(id, () => undefined),
      core.subscribe(id, () => undefined),
    ]
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([openOn('tasks/status/mail'), openOn('tasks/progress/mail')]).toEqual([1, 1])
    subscriptions[0]![Symbol.dispose]()
    subscriptions[0]![Symbol.dispose]()
    subscriptions[1]![Symbol.dispose]()
    expect(openOn('tasks/status/mail')).toBe(1)
    subscriptions[2]![Symbol.dispose]()
    expect([openOn('tasks/status/mail'), openOn('tasks/progress/mail')]).toEqual([0, 0])
  })

  it('of a task are found although its row comes late, or the store is in trouble', async () => {
    const memory = new MemoryTaskStore()
    let isAway = true
    const store = overrideStore(memory, {
      get: (id) => (isAway ? Promise.reject(new Error('away')) : memory.get(id)),
    })
    const { bus, openOn } = countingBus()
    const { core } = setUpCore({ store, bus })
    using _subscription = core.subscribe('some-task', () => undefined)
    isAway = false
    const { type, handlerVersion, tags, retentionPolicy } = await core.draft({
      type: 'mail',
      handlerVersion: 1,
      payload: 1,
    })
    await memory.create({ id: 'some-task', status: 'draft', type, handlerVersion, tags, retentionPolicy })
    await until(() => openOn('tasks/status/mail') === 1)
  })

  it('T32 are published for drafts and for what becomes pending', async () => {
    const { core, bus } = setUpCore()
    const published: unknown[] = []
    bus.subscribe('tasks/status/mail', ({ payload }) => published.push(payload))
    const { id } = await core.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
    await core.start(id)
    await core.cancel(id, 'over')
    expect(published).toMatchObject([
      { kind: 'status', taskId: id, status: 'draft' },
      { kind: 'status', taskId: id, status: 'pending' },
      { kind: 'status', taskId: id, status: 'cancelled', reason: 'over' },
    ])
    expect(new Set(published.map((payload) => typeof (payload as { via: unknown }).via))).toEqual(new Set(['string']))
  })

  it('are not heard from runners of another queue on the same bus', async () => {
    const { core, bus } = setUpCore()
    const seen: unknown[] = []
    core.subscribeByType('mail', (update) => seen.push(update.taskId))
    const update = { kind: 'status', status: 'pending', at: new Date().toISOString() } as const
    await bus.publish('tasks/status/mail', { ...update, taskId: 'theirs', via: `svc-b/${randomUUID()}` })
    await bus.publish('tasks/status/mail', { ...update, taskId: 'ours', via: randomUUID() })
    await bus.publish('tasks/status/mail', { ...update, taskId: 'anybody’s' })
    expect(seen).toEqual(['ours', 'anybody’s'])
  })

  it('are reported when a subscriber or the bus fails, which harms nothing', async () => {
    const inner = new InProcessCrossNodeBus()
    const failures = [
      () => Promise.reject(new Error('later')),
      () => {
        throw new Error('at once')
      },
    ]
    const bus = new Proxy(inner, {
      get: (target, name) => {
        if (name === 'publish') return () => failures.shift()?.() ?? Promise.resolve()
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const { core, submit, errors } = setUpCore({ bus })
    const seen: TaskUpdate[] = []
    core.subscribeByType('mail', () => {
      throw new Error('bad')
    })
    const failing = (): unknown => Promise.reject(new Error('bad too'))
    core.subscribeByType('mail', failing)
    core.subscribeByType('mail', (update) => seen.push(update))
    await submit()
    await submit()
    expect(seen).toHaveLength(2)
    await until(() => errors.length === 6)
    expect(errors.filter(({ operation }) => operation === 'publish')).toHaveLength(2)
    expect(errors.filter(({ operation }) => operation === 'subscriber')).toHaveLength(4)
  })

  it('of another shape are ignored', async () => {
    const { core, bus, errors } = setUpCore()
    const seen: unknown[] = []
    core.subscribeByType('mail', (update) => seen.push(update))
    for (const payload of [null, 7, {}, { kind: 'status' }]) await bus.publish('tasks/status/mail', payload)
    expect(seen).toEqual([])
    expect(errors).toEqual([])
  })
})
