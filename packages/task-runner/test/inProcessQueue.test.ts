import { setTimeout as delay } from 'node:timers/promises'

import { afterEach, describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import {
  InProcessQueueAdapter,
  InvalidArgumentError,
  type ClaimOutcome,
  type WorkerSubscription,
} from '../src/index.js'
import { IdempotencyLeases } from '../src/queue/idempotencyLeases.js'

const SUCCESS: ClaimOutcome = { kind: 'success' }

const subscription = (more: Partial<WorkerSubscription>): WorkerSubscription => ({
  workerId: 'worker',
  concurrency: 1,
  tags: [],
  types: ['mail'],
  compatibleVersions: {},
  shouldDrain: () => false,
  onClaim: () => Promise.resolve(SUCCESS),
  ...more,
})

const entry = (taskId: string, more = {}) => ({ taskId, type: 'mail', handlerVersion: 1, ...more })

describe('InProcessQueueAdapter', () => {
  afterEach(() => void vi.useRealTimers())

  it('Q37 arms one timer for all that is parked, however far ahead', async () => {
    vi.useFakeTimers()
    const adapter = new InProcessQueueAdapter()
    const seen: string[] = []
    adapter.subscribe(subscription({ onClaim: ({ taskId }) => (seen.push(taskId), Promise.resolve(SUCCESS)) }))
    const at = (ms: number) => ({ notBefore: new Date(Date.now() + ms) })
    const monthMs = 30 * 86_400_000
    await adapter.enqueue(entry('month', at(monthMs)))
    await adapter.enqueue(entry('year', at(365 * 86_400_000)))
    await adapter.enqueue(entry('second', at(1_000)))
    await adapter.enqueue(entry('also second', at(1_000)))
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(999)
    expect(seen).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(seen).toEqual(['second', 'also second'])
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(monthMs)
    expect(seen.at(-1)).toBe('month')
    adapter[Symbol.dispose]()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('knows which tasks it holds: waiting, parked and claimed ones, however many entries they have', async () => {
    using adapter = new InProcessQueueAdapter()
    expect(adapter.holds('a')).toBe(false)
    await adapter.enqueue(entry('a'))
    await adapter.enqueue(entry('a'))
    await adapter.enqueue(entry('later', { notBefore: new Date(Date.now() + 60_000) }))
    const held: boolean[] = []
    const done = deferred()
    adapter.subscribe(
      subscription({
        concurrency: 1,
        onClaim: ({ taskId, deliveryCount }) => {
          held.push(adapter.holds(taskId))
          if (deliveryCount === 1 && held.length === 1) return Promise.resolve({ kind: 'requeue' })
          if (held.length === 3) setImmediate(() => done.resolve())
          return Promise.resolve(SUCCESS)
        },
      }),
    )
    await done.promise
    expect(held).toEqual([true, true, true])
    expect([adapter.holds('a'), adapter.holds('later')]).toEqual([false, true])
  })

  it('Q38 forgets leases that have ended', () => {
    vi.useFakeTimers()
    const leases = new IdempotencyLeases(1_000)
    for (let index = 0; index < 100; index++) leases.acquire('mail', `k${index}`, 'a')
    vi.advanceTimersByTime(1_000)
    expect(leases.acquire('mail', 'k1', 'b')).toBe('b')
    expect(leases.size).toBe(1)
  })

  it('Q39 does not look at what does not fit: a long queue of it costs nothing', async () => {
    const adapter = new InProcessQueueAdapter()
    for (let index = 0; index < 50_000; index++) await adapter.enqueue(entry(`misfit-${index}`, { tags: ['gpu'] }))
    let claims = 0
    adapter.subscribe(subscription({ onClaim: () => (claims++, Promise.resolve(SUCCESS)) }))
    for (let index = 0; index < 5_000; index++) await adapter.enqueue(entry(`fit-${index}`))
    await until(() => claims === 5_000)
  })

  it('Q14 makes the pauses after rejections grow', async () => {
    vi.useFakeTimers()
    const adapter = new InProcessQueueAdapter()
    let claims = 0
    adapter.subscribe(subscription({ onClaim: () => (claims++, Promise.reject(new Error('trouble'))) }))
    await adapter.enqueue(entry('a'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(claims).toBeGreaterThan(4)
    expect(claims).toBeLessThan(16)
    adapter[Symbol.dispose]()
  })

  it('lets the event loop turn while a backlog is worked off', async () => {
    const adapter = new InProcessQueueAdapter()
    for (let index = 0; index < 20_000; index++) await adapter.enqueue(entry(`task-${index}`))
    let claims = 0
    adapter.subscribe(subscription({ onClaim: () => (claims++, Promise.resolve(SUCCESS)) }))
    await delay(1)
    expect(claims).toBeLessThan(20_000)
    await until(() => claims === 20_000)
  })

  it('turns to another worker when the one it woke cannot take the entry after all', async () => {
    const adapter = new InProcessQueueAdapter()
    const seen: string[] = []
    const gate = deferred()
    let isDraining = false
    const both = { types: ['mail', 'post'] }
    adapter.subscribe(
      subscription({
        ...both,
        shouldDrain: () => isDraining,
        onClaim: async ({ taskId }) => {
          seen.push(taskId)
          await gate.promise
          return SUCCESS
        },
      }),
    )
    adapter.subscribe(subscription({ ...both, onClaim: ({ taskId }) => (seen.push(taskId), Promise.resolve(SUCCESS)) }))
    await delay(1)
    const enqueued = [adapter.enqueue(entry('a')), adapter.enqueue(entry('b', { type: 'post' }))]
    await Promise.all(enqueued)
    await until(() => seen.length === 2)
    const last = adapter.enqueue(entry('c'))
    isDraining = true
    await last
    await until(() => seen.length === 3)
    gate.resolve()
  })

  it('T43 refuses limits and lifetimes that cannot be', () => {
    for (const options of [{ concurrencyLimits: { mail: 0 } }, { idempotencyTtlSec: -1 }]) {
      expect(() => new InProcessQueueAdapter(options)).toThrow(InvalidArgumentError)
    }
  })
})
