import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import type { ClaimedTask, ClaimOutcome, EnqueueInput, QueueAdapter, WorkerSubscription } from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'

/** What a scenario needs of the adapters. */
export interface QueueAdapterNeeds {
  /** How many nodes share the queue. */
  readonly nodes: number
  readonly concurrencyLimits: Record<string, number>
  readonly idempotencyTtlSec: number
  /** For adapters whose broker redelivers. */
  readonly visibilityTimeoutMs: number
}

/** Adapters to be put through the suite: one a node, on one queue that nobody else uses. */
export interface QueueAdapterHarness {
  /** A queue within one process gives the same adapter for each node. */
  readonly adapters: readonly QueueAdapter[]
  dispose(): Promise<void>
}

type Subscription = Partial<Omit<WorkerSubscription, 'onClaim'>> & {
  readonly onClaim: (claim: ClaimedTask) => Promise<ClaimOutcome> | ClaimOutcome
}

const SUCCESS: ClaimOutcome = { kind: 'success' }
/** Long enough for something that must not happen to have happened. */
const QUIET_MS = 400
const OUTCOMES: ClaimOutcome[] = [
  { kind: 'success' },
  { kind: 'failed' },
  { kind: 'cancelled' },
  { kind: 'suspended' },
  { kind: 'requeue' },
]

/** What any queue adapter has to do, whatever it keeps its entries in. */
export const queueAdapterSuite = (
  name: string,
  makeHarness: (needs: QueueAdapterNeeds) => Promise<QueueAdapterHarness>,
): void => {
  describe(`${name} as a queue adapter`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const setUp = async (needs: Partial<QueueAdapterNeeds> = {}): Promise<QueueAdapter[]> => {
      const harness = await makeHarness({
        nodes: 1,
        concurrencyLimits: {},
        idempotencyTtlSec: 60,
        visibilityTimeoutMs: 30_000,
        ...needs,
      })
      cleanups.push(() => harness.dispose())
      return [...harness.adapters]
    }

    const setUpOne = async (needs: Partial<QueueAdapterNeeds> = {}): Promise<QueueAdapter> => {
      const [adapter] = await setUp(needs)
      if (adapter === undefined) throw new Error('the harness has no adapter')
      return adapter
    }

    const work = (adapter: QueueAdapter, subscription: Subscription): Disposable & Partial<AsyncDisposable> => {
      const { onClaim, ...more } = subscription
      return adapter.subscribe({
        workerId: `worker-${randomUUID()}`,
        concurrency: 1,
        tags: [],
        types: ['mail'],
        compatibleVersions: { mail: [1] },
        shouldDrain: () => false,
        ...more,
        // Asynchronous, so that whatever it throws is a rejection.
        onClaim: async (claim) => onClaim(claim),
      })
    }

    const enqueue = async (adapter: QueueAdapter, more: Partial<EnqueueInput> = {}): Promise<string> => {
      const taskId = more.taskId ?? randomUUID()
      await adapter.enqueue({ taskId, type: 'mail', handlerVersion: 1, ...more })
      return taskId
    }

    const enqueueMany = async (adapter: QueueAdapter, count: number, more: Partial<EnqueueInput> = {}) => {
      const ids: string[] = []
      for (let index = 0; index < count; index++) ids.push(await enqueue(adapter, more))
      return ids
    }

    it('tells whether several nodes share its queue, by which a runner decides what it needs', async () => {
      const [here, there] = await setUp({ nodes: 2 })
      // Nodes that have the same adapter are one process.
      expect(here?.capabilities.distributed).toBe(here !== there)
    })

    it('gives every entry to one slot of one worker', async () => {
      const nodes = await setUp({ nodes: 2 })
      const seen: string[] = []
      const workers = new Set<number>()
      const bothWork = deferred()
      for (const [index, adapter] of nodes.entries()) {
        work(adapter, {
          concurrency: 4,
          onClaim: async ({ taskId, type }) => {
            expect(type).toBe('mail')
            seen.push(taskId)
            if (workers.add(index).size === 2) bothWork.resolve()
            await bothWork.promise
            return SUCCESS
          },
        })
      }
      const ids = await enqueueMany(nodes[0]!, 200)
      await until(() => seen.length >= ids.length)
      await delay(QUIET_MS)
      expect([...seen].sort()).toEqual([...ids].sort())
    })

    it('runs as many claims at the same time as there are slots, and never more', async () => {
      const adapter = await setUpOne()
      const gate = deferred()
      let open = 0
      let most = 0
      let done = 0
      work(adapter, {
        concurrency: 3,
        onClaim: async () => {
          most = Math.max(most, ++open)
          await gate.promise
          open--
          done++
          return SUCCESS
        },
      })
      await enqueueMany(adapter, 10)
      await until(() => open === 3)
      await delay(QUIET_MS)
      expect(open).toBe(3)
      gate.resolve()
      await until(() => done === 10)
      expect(most).toBe(3)
    })

    it('keeps the order of a lane', async () => {
      const adapter = await setUpOne()
      const ids = await enqueueMany(adapter, 50)
      const seen: string[] = []
      work(adapter, {
        onClaim: ({ taskId }) => {
          seen.push(taskId)
          return SUCCESS
        },
      })
      await until(() => seen.length === ids.length)
      expect(seen).toEqual(ids)
    })

    it('Q39 serves a quiet type beside a busy one', async () => {
      const adapter = await setUpOne()
      const seen: string[] = []
      await enqueueMany(adapter, 50)
      await enqueueMany(adapter, 3, { type: 'quiet' })
      work(adapter, {
        types: ['mail', 'quiet'],
        compatibleVersions: { mail: [1], quiet: [1] },
        onClaim: ({ type }) => {
          seen.push(type)
          return SUCCESS
        },
      })
      await until(() => seen.length === 53)
      expect(seen.lastIndexOf('quiet')).toBeLessThan(30)
    })

    describe('notBefore', () => {
      it('is respected by several staggered entries, which all come', async () => {
        const adapter = await setUpOne()
        const due = new Map<string, number>()
        const early: number[] = []
        let seen = 0
        work(adapter, {
          concurrency: 10,
          onClaim: ({ taskId }) => {
            seen++
            const earlyBy = (due.get(taskId) ?? 0) - Date.now()
            if (earlyBy > 0) early.push(earlyBy)
            return SUCCESS
          },
        })
        for (const delayMs of [300, 100, 200, 0, -1_000, 101]) {
          const taskId = randomUUID()
          due.set(taskId, Date.now() + delayMs)
          await enqueue(adapter, { taskId, notBefore: new Date(Date.now() + delayMs) })
        }
        await until(() => seen === 6)
        expect(early).toEqual([])
      })

      it('Q37 may lie further ahead than a timer reaches', async () => {
        const adapter = await setUpOne()
        let claims = 0
        work(adapter, { concurrency: 2, onClaim: () => ((claims += 1), SUCCESS) })
        await enqueue(adapter, { notBefore: new Date(Date.now() + 2 ** 31 + 60_000) })
        await enqueue(adapter, { notBefore: new Date(Date.now() + 10 * 365 * 86_400_000) })
        await delay(QUIET_MS)
        expect(claims).toBe(0)
        await enqueue(adapter)
        await until(() => claims === 1)
      })
    })

    describe('a cap of the fleet', () => {
      it.each([1, 2])('of %i is never exceeded', async (cap) => {
        const nodes = await setUp({ nodes: 2, concurrencyLimits: { mail: cap } })
        let open = 0
        let most = 0
        let done = 0
        for (const adapter of nodes) {
          work(adapter, {
            concurrency: 4,
            onClaim: async () => {
              most = Math.max(most, ++open)
              await delay(5)
              open--
              done++
              return SUCCESS
            },
          })
        }
        await enqueueMany(nodes[0]!, 30)
        await until(() => done === 30)
        expect(most).toBe(cap)
      })

      it.each([...OUTCOMES, undefined])('gets its place back after %o (a rejection without)', async (outcome) => {
        const adapter = await setUpOne({ concurrencyLimits: { mail: 1 } })
        let first: string | undefined
        const others: string[] = []
        work(adapter, {
          concurrency: 2,
          onClaim: ({ taskId }) => {
            first ??= taskId
            if (taskId !== first) others.push(taskId)
            else if (others.length === 0) {
              if (outcome === undefined) throw new Error('the worker is in trouble')
              return outcome
            }
            return SUCCESS
          },
        })
        await enqueueMany(adapter, 3)
        await until(() => others.length === 2)
      })

      it('does not hold up other types', async () => {
        const adapter = await setUpOne({ concurrencyLimits: { mail: 1 } })
        const gate = deferred()
        const seen: string[] = []
        work(adapter, {
          concurrency: 3,
          types: ['mail', 'other'],
          compatibleVersions: { mail: [1], other: [1] },
          onClaim: async ({ type }) => {
            seen.push(type)
            if (type === 'mail') await gate.promise
            return SUCCESS
          },
        })
        await enqueueMany(adapter, 3)
        await enqueueMany(adapter, 3, { type: 'other' })
        await until(() => seen.filter((type) => type === 'other').length === 3)
        expect(seen.filter((type) => type === 'mail')).toHaveLength(1)
        gate.resolve()
        await until(() => seen.length === 6)
      })
    })

    describe('what does not fit', () => {
      it.each<[string, Partial<EnqueueInput>, Partial<WorkerSubscription>, Partial<WorkerSubscription>]>([
        ['tags', { tags: ['gpu', 'eu'] }, { tags: ['eu'] }, { tags: ['x', 'eu', 'gpu'] }],
        ['version', { handlerVersion: 2 }, {}, { compatibleVersions: { mail: [2, 3] } }],
        ['type', { type: 'other' }, {}, { types: ['other'], compatibleVersions: { other: [1] } }],
      ])('Q13 waits for the right worker: %s', async (_, entry, wrong, right) => {
        const nodes = await setUp({ nodes: 2 })
        let wrongClaims = 0
        work(nodes[0]!, { ...wrong, onClaim: () => ((wrongClaims += 1), { kind: 'requeue' }) })
        const id = await enqueue(nodes[0]!, entry)
        await delay(QUIET_MS)
        expect(wrongClaims).toBe(0)
        const claimed = deferred<string>()
        work(nodes[1]!, { ...right, onClaim: ({ taskId }) => (claimed.resolve(taskId), SUCCESS) })
        expect(await claimed.promise).toBe(id)
      })

      it('lets an untagged entry go to any worker', async () => {
        const adapter = await setUpOne()
        const id = await enqueue(adapter)
        const claimed = deferred<string>()
        work(adapter, { tags: ['gpu'], onClaim: ({ taskId }) => (claimed.resolve(taskId), SUCCESS) })
        expect(await claimed.promise).toBe(id)
      })
    })

    it('lets a draining worker end what it runs, and leaves the rest to another', async () => {
      const nodes = await setUp({ nodes: 2 })
      const gate = deferred()
      const firstClaimed = deferred()
      let isDraining = false
      const first: string[] = []
      const second: string[] = []
      const ended = deferred()
      work(nodes[0]!, {
        shouldDrain: () => isDraining,
        onClaim: async ({ taskId }) => {
          first.push(taskId)
          firstClaimed.resolve()
          await gate.promise
          ended.resolve()
          return SUCCESS
        },
      })
      const ids = await enqueueMany(nodes[0]!, 5)
      await firstClaimed.promise
      isDraining = true
      gate.resolve()
      await ended.promise
      await delay(QUIET_MS)
      expect(first).toHaveLength(1)
      work(nodes[1]!, { onClaim: ({ taskId }) => (second.push(taskId), SUCCESS) })
      await until(() => second.length === 4)
      expect([...first, ...second].sort()).toEqual([...ids].sort())
    })

    it('stops pulling when the subscription is disposed, while open claims are settled', async () => {
      const adapter = await setUpOne()
      const gate = deferred()
      const claimed = deferred()
      const seen: string[] = []
      const subscription = work(adapter, {
        onClaim: async ({ taskId }) => {
          seen.push(taskId)
          claimed.resolve()
          await gate.promise
          return SUCCESS
        },
      })
      const ids = await enqueueMany(adapter, 2)
      await claimed.promise
      subscription[Symbol.dispose]()
      subscription[Symbol.dispose]()
      gate.resolve()
      await subscription[Symbol.asyncDispose]?.()
      await delay(QUIET_MS)
      expect(seen).toHaveLength(1)
      const rest: string[] = []
      work(adapter, { onClaim: ({ taskId }) => (rest.push(taskId), SUCCESS) })
      await until(() => rest.length === 1)
      await delay(QUIET_MS)
      expect([...seen, ...rest]).toEqual(ids)
    })

    it('yields an id again that is enqueued while its claim is open', async () => {
      const adapter = await setUpOne()
      const gate = deferred()
      let claims = 0
      work(adapter, {
        concurrency: 2,
        onClaim: async () => {
          if (++claims === 1) await gate.promise
          return { kind: 'failed' }
        },
      })
      const taskId = await enqueue(adapter)
      await until(() => claims === 1)
      await enqueue(adapter, { taskId })
      await enqueue(adapter, { taskId, notBefore: new Date(Date.now() + 50) })
      gate.resolve()
      await until(() => claims === 3)
    })

    describe('requeue', () => {
      it('Q15 brings an entry back, not before its time, with all that it had', async () => {
        const adapter = await setUpOne()
        const again = deferred<number>()
        let notBefore = 0
        work(adapter, {
          tags: ['gpu'],
          compatibleVersions: { mail: [3] },
          onClaim: () => {
            if (notBefore > 0) {
              again.resolve(Date.now())
              return SUCCESS
            }
            notBefore = Date.now() + 200
            return { kind: 'requeue', notBefore: new Date(notBefore) }
          },
        })
        await enqueue(adapter, { handlerVersion: 3, tags: ['gpu'] })
        expect(await again.promise).toBeGreaterThanOrEqual(notBefore)
      })

      it('Q14 follows a rejecting claim, after a pause', async () => {
        const adapter = await setUpOne()
        const claims: number[] = []
        work(adapter, {
          onClaim: () => {
            claims.push(performance.now())
            if (claims.length === 1) throw new Error('the worker is in trouble')
            return SUCCESS
          },
        })
        await enqueue(adapter)
        await until(() => claims.length === 2)
        expect(claims[1]! - claims[0]!).toBeGreaterThan(50)
      })
    })

    describe('heartbeat', () => {
      it('does nothing bad to a claim that is settled', async () => {
        const adapter = await setUpOne()
        const claims: ClaimedTask[] = []
        work(adapter, { onClaim: (claim) => (claims.push(claim), SUCCESS) })
        await enqueue(adapter)
        await until(() => claims.length === 1)
        await delay(50)
        await adapter.heartbeat(claims[0]!)
        await enqueue(adapter)
        await until(() => claims.length === 2)
      })

      it('keeps a claim for longer than its visibility', async () => {
        const [first, second] = await setUp({ nodes: 2, visibilityTimeoutMs: 400 })
        let claims = 0
        const ended = deferred()
        const onClaim = async (claim: ClaimedTask): Promise<ClaimOutcome> => {
          claims++
          for (let beat = 0; beat < 15; beat++) {
            await delay(100)
            await first!.heartbeat(claim)
          }
          ended.resolve()
          return SUCCESS
        }
        work(first!, { onClaim })
        await enqueue(first!)
        await until(() => claims === 1)
        work(second!, { onClaim: () => ((claims += 1), SUCCESS) })
        await ended.promise
        expect(claims).toBe(1)
      })

      it('is what a redelivery follows where there is none', async (context) => {
        const [first, second] = await setUp({ nodes: 2, visibilityTimeoutMs: 400 })
        if (!first!.capabilities.brokerSideReclaim) context.skip()
        const gate = deferred()
        const stale: ClaimedTask[] = []
        const fresh: ClaimedTask[] = []
        const hold = deferred()
        const subscription = work(first!, {
          onClaim: async (claim) => {
            stale.push(claim)
            await gate.promise
            return SUCCESS
          },
        })
        const id = await enqueue(first!)
        await until(() => stale.length === 1)
        subscription[Symbol.dispose]()
        work(second!, {
          onClaim: async (claim) => {
            fresh.push(claim)
            if (fresh.length === 1) await hold.promise
            return fresh.length === 1 ? { kind: 'requeue' } : SUCCESS
          },
        })
        await until(() => fresh.length === 1)
        expect(fresh[0]).toMatchObject({ taskId: id })
        if (fresh[0]!.redelivered !== undefined) expect(fresh[0]!.redelivered).toBe(true)
        // The late owner settles; that must not take the entry away from the present one.
        await first!.heartbeat(stale[0]!)
        gate.resolve()
        await delay(100)
        hold.resolve()
        await until(() => fresh.length === 2)
      })
    })

    describe('idempotency leases', () => {
      it('have one winner among many proposers on two nodes', async (context) => {
        const nodes = await setUp({ nodes: 2 })
        if (nodes[0]!.acquireIdempotencyLease === undefined) context.skip()
        const proposals = Array.from({ length: 50 }, (_, index) => ({
          taskId: `task-${index}`,
          node: nodes[index % 2]!,
        }))
        const answers = await Promise.all(
          proposals.map(({ node, taskId }) => node.acquireIdempotencyLease!({ type: 'mail', key: 'k', taskId })),
        )
        expect(new Set(answers).size).toBe(1)
        const [first] = nodes
        const other = { taskId: 'other' }
        expect(await first!.acquireIdempotencyLease!({ ...other, type: 'mail', key: 'k2' })).toBe('other')
        expect(await first!.acquireIdempotencyLease!({ ...other, type: 'post', key: 'k' })).toBe('other')
        expect(await first!.acquireIdempotencyLease!({ ...other, type: 'mail', key: 'k' })).toBe(answers[0])
      })

      it('Q38 end after their time', async (context) => {
        const adapter = await setUpOne({ idempotencyTtlSec: 1 })
        if (adapter.acquireIdempotencyLease === undefined) context.skip()
        const acquire = (taskId: string) => adapter.acquireIdempotencyLease!({ type: 'mail', key: 'k', taskId })
        expect(await acquire('a')).toBe('a')
        expect(await acquire('b')).toBe('a')
        await until(async () => (await acquire('c')) === 'c')
      })
    })

    describe('names', () => {
      const bad: unknown[] = ['', '\ud800', 'a\udfffb', 'a\0b', 'x'.repeat(100_000), 7, null, {}]

      it('are refused where they could not be kept', async () => {
        const adapter = await setUpOne()
        const refused = { name: 'InvalidArgumentError' }
        for (const name of bad as string[]) {
          await expect(adapter.enqueue({ taskId: name, type: 'mail', handlerVersion: 1 })).rejects.toMatchObject(
            refused,
          )
          await expect(adapter.enqueue({ taskId: 'a', type: name, handlerVersion: 1 })).rejects.toMatchObject(refused)
          await expect(
            adapter.enqueue({ taskId: 'a', type: 'mail', handlerVersion: 1, tags: [name] }),
          ).rejects.toMatchObject(refused)
          for (const options of [{ workerId: name }, { types: [name] }, { tags: [name] }]) {
            expect(() => work(adapter, { onClaim: () => SUCCESS, ...options })).toThrow(
              expect.objectContaining(refused),
            )
          }
          const lease = { type: 'mail', key: 'k', taskId: 'a' }
          for (const options of [{ type: name }, { taskId: name }, ...(name === 'a\0b' ? [] : [{ key: name }])]) {
            await expect(adapter.acquireIdempotencyLease?.({ ...lease, ...options })).rejects.toMatchObject(refused)
          }
        }
        for (const handlerVersion of [0, 1.5, Number.NaN, 2 ** 53, '1' as never]) {
          await expect(adapter.enqueue({ taskId: 'a', type: 'mail', handlerVersion })).rejects.toMatchObject(refused)
        }
        const notBefore = new Date(Number.NaN)
        await expect(
          adapter.enqueue({ taskId: 'a', type: 'mail', handlerVersion: 1, notBefore }),
        ).rejects.toMatchObject(refused)
      })

      it('may be whatever can be kept, also that of a worker', async () => {
        const adapter = await setUpOne()
        const names = ['a:v1', 'a', '{', '__proto__', '"\\', '\u001b', '😀', 'a|b%7C~', 'w-slot-0']
        const claimed: string[] = []
        for (const name of names) {
          work(adapter, {
            workerId: name,
            types: [name],
            tags: [name],
            compatibleVersions: { [name]: [1] },
            onClaim: ({ taskId, type }) => {
              claimed.push(`${type} ${taskId}`)
              return SUCCESS
            },
          })
          await enqueue(adapter, { taskId: name, type: name, tags: [name] })
        }
        await until(() => claimed.length >= names.length)
        expect(claimed.sort()).toEqual(names.map((name) => `${name} ${name}`).sort())
      })
    })

    describe('disposal', () => {
      it('Q41 makes later calls fail', async () => {
        const adapter = await setUpOne()
        adapter[Symbol.dispose]()
        adapter[Symbol.dispose]()
        await expect(enqueue(adapter)).rejects.toThrow(/disposed/)
        expect(() => work(adapter, { onClaim: () => SUCCESS })).toThrow(/disposed/)
        await adapter.heartbeat({ taskId: 'a', type: 'mail', receipt: undefined })
      })

      it('waits for open claims when it is asynchronous', async (context) => {
        const adapter = await setUpOne()
        if (adapter[Symbol.asyncDispose] === undefined) context.skip()
        const gate = deferred()
        const claimed = deferred()
        let isSettled = false
        work(adapter, {
          onClaim: async () => {
            claimed.resolve()
            await gate.promise
            isSettled = true
            return SUCCESS
          },
        })
        await enqueue(adapter)
        await claimed.promise
        const disposed = Promise.resolve(adapter[Symbol.asyncDispose]!()).then(() => isSettled)
        await delay(50)
        gate.resolve()
        expect(await disposed).toBe(true)
      })
    })
  })
}
