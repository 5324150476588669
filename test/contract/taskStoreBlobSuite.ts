import type { BlobRef } from '@furystack/blob-store'
import {
  DEFAULT_RETENTION_POLICY,
  type AttemptOutcome,
  type BlobUse,
  type CreateTask,
  type DueBlobs,
  type SettleBlobs,
  type TaskRetentionPolicy,
  type TaskStore,
} from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { eachWithStore, type TaskStoreHarness } from './taskStore/eachWithStore.js'
import { newTask } from './taskStore/newTask.js'

const DAY_MS = 86_400_000
/** Short enough to wait for its end, long enough that nothing in a test outlasts it by accident. */
const SHORT_MS = 700
const LEASE_MS = 60_000
/** More than any page; each takes a store four operations to make, so that ten thousand would take it ten seconds. */
const UNDUE = 2_000
const UNDUE_AT_ONCE = 200
const WORKER = 'worker-1'
const STORE = 'blobs'
const SUCCEEDED: AttemptOutcome = { kind: 'succeeded' }
const FAILED: AttemptOutcome = { kind: 'failed', error: { name: 'E', message: 'no' } }

const policy = (more: Partial<TaskRetentionPolicy>): TaskRetentionPolicy => ({ ...DEFAULT_RETENTION_POLICY, ...more })
/** Its blobs are due when it ends. */
const AT_ONCE = { ttlAfterTerminalDays: 0, keepRowDays: 1, keepFailedRowDays: 1 }
const ALL = policy({ ...AT_ONCE, onSuccess: 'delete-all', onFailure: 'delete-all' })
const OWN = policy({ ...AT_ONCE, onSuccess: 'delete-intermediate' })
const KEEP = policy(AT_ONCE)

const ref = (key: string, storeName = STORE): BlobRef => ({ storeName, key })

/** What any store knows about the blobs of its tasks. */
export const taskStoreBlobSuite = (name: string, makeStore: () => Promise<TaskStoreHarness>): void => {
  describe(`${name} with blobs`, () => {
    let store: TaskStore
    const { pass } = eachWithStore(makeStore, (made) => (store = made))

    const create = async (more: Partial<CreateTask> = {}): Promise<string> => {
      const input = newTask({ retentionPolicy: ALL, ...more })
      expect(await store.create(input)).toMatchObject({ kind: 'created' })
      return input.id
    }

    const begin = async (taskId: string): Promise<number> => {
      const begun = await store.beginAttempt({
        taskId,
        workerId: WORKER,
        visibilityTimeoutMs: 60_000,
        redelivered: false,
      })
      if (begun.kind !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`)
      return begun.attempt
    }

    const record = (taskId: string, use: BlobUse, blob: BlobRef, attempt = 1) =>
      store.recordBlob({ taskId, attempt, use, blob })

    /** A blob as tasks name those they produce. */
    const own = (taskId: string, suffix = 'out', storeName?: string) => ref(`tasks/${taskId}/${suffix}`, storeName)

    const finish = (taskId: string, outcome: AttemptOutcome = SUCCEEDED, attempt = 1) =>
      store.finishAttempt({ taskId, attempt, workerId: WORKER, startedAt: Date.now(), outcome })

    /** A task that has run, with one blob of its own and whatever else. */
    const ended = async (
      more: Partial<CreateTask> = {},
      { outcome = SUCCEEDED, consumed = [] }: { outcome?: AttemptOutcome; consumed?: BlobRef[] } = {},
    ): Promise<string> => {
      const id = await create(more)
      await begin(id)
      await record(id, 'produced', own(id))
      for (const blob of consumed) await record(id, 'consumed', blob)
      await finish(id, outcome)
      return id
    }

    const take = async (limit = 100, leaseMs = LEASE_MS, storeName = STORE): Promise<DueBlobs[]> =>
      (await store.takeDueBlobs({ storeName, limit, leaseMs })).tasks

    const keysOf = (blobs: DueBlobs['deletable']): string[] => blobs.map(({ blob }) => blob.key)

    const settle = (task: DueBlobs, more: Partial<SettleBlobs> = {}) =>
      store.settleBlobs({
        taskId: task.taskId,
        storeName: STORE,
        taken: task.deletable,
        gone: task.deletable,
        ...more,
      })

    const read = async (taskId: string) => {
      const { producedBlobs = [], consumedBlobs = [], blobsSweptAt } = (await store.get(taskId))?.task ?? {}
      return { producedBlobs, consumedBlobs, isSwept: blobsSweptAt !== undefined }
    }

    it('T50 puts blobs on the record of a task, in their order and each of them once', async () => {
      const id = await create()
      expect(await record(id, 'produced', own(id))).toEqual({ kind: 'lost' })
      expect(await begin(id)).toBe(1)
      expect(await read(id)).toEqual({ producedBlobs: [], consumedBlobs: [], isSwept: false })
      for (const suffix of ['b', 'a', 'b', 'c|d', 'é:1']) {
        expect(await record(id, 'produced', own(id, suffix))).toMatchObject({ kind: 'recorded' })
      }
      const complete = { ...own(id, 'b'), contentType: 'text/plain', contentLength: 3, etag: '"x"' }
      await record(id, 'produced', complete)
      await record(id, 'consumed', ref('in|1', 'an:other|store'))
      const expected = {
        producedBlobs: [complete, own(id, 'a'), own(id, 'c|d'), own(id, 'é:1')],
        consumedBlobs: [ref('in|1', 'an:other|store')],
        isSwept: false,
      }
      expect(await read(id)).toEqual(expected)
      expect(await record(id, 'produced', own(id, 'late'), 2)).toEqual({ kind: 'lost' })
      await finish(id, { kind: 'failed', error: { name: 'E', message: 'no' }, retryDelayMs: 0 })
      expect(await record(id, 'produced', own(id, 'late'))).toEqual({ kind: 'lost' })
      expect(await begin(id)).toBe(2)
      expect(await record(id, 'produced', own(id, 'a'), 2)).toMatchObject({ kind: 'recorded' })
      expect(await read(id)).toEqual(expected)
    })

    it('takes the blobs that a task is given from its submission', async () => {
      const consumedBlobs = [ref('in/1'), { ...ref('in/2', 'other'), contentType: 'text/csv' }]
      const id = await create({ status: 'draft', consumedBlobs })
      expect(await read(id)).toMatchObject({ consumedBlobs })
      const again = await store.create({
        id,
        type: 'mail',
        handlerVersion: 1,
        status: 'draft',
        tags: [],
        retentionPolicy: ALL,
      })
      expect(again).toMatchObject({ kind: 'exists', stored: { task: { consumedBlobs } } })
      expect(await store.start({ taskId: id })).toMatchObject({ stored: { task: { consumedBlobs } } })
    })

    describe('what the policies say', () => {
      const outcomes = {
        succeeded: (id: string) => finish(id),
        failed: (id: string) => finish(id, FAILED),
        cancelled: async (id: string) => {
          await store.cancel({ taskId: id })
          return finish(id, { kind: 'cancelled' })
        },
      }

      it.each([
        ['succeeded', 'keep', 'keep', []],
        ['succeeded', 'delete-intermediate', 'keep', ['produced']],
        ['succeeded', 'delete-all', 'keep', ['produced', 'consumed']],
        ['failed', 'delete-all', 'keep', []],
        ['failed', 'keep', 'delete-all', ['produced', 'consumed']],
        ['cancelled', 'delete-all', 'keep', []],
        ['cancelled', 'keep', 'delete-all', ['produced', 'consumed']],
      ] as const)('%s, with %s after a success and %s otherwise', async (status, onSuccess, onFailure, uses) => {
        const id = await create({ retentionPolicy: policy({ ...AT_ONCE, onSuccess, onFailure }) })
        await begin(id)
        await record(id, 'produced', own(id))
        await record(id, 'consumed', ref('in'))
        expect(await take()).toEqual([])
        await outcomes[status](id)
        const [task, ...others] = await take()
        expect(others).toEqual([])
        expect(task).toMatchObject({ taskId: id, type: 'mail', inUse: [] })
        expect(task!.deletable.map(({ use }) => use).sort()).toEqual([...uses].sort())
        await settle(task!)
        const left = await read(id)
        expect(left.isSwept).toBe(true)
        expect(left.producedBlobs).toHaveLength(uses.includes('produced' as never) ? 0 : 1)
        expect(left.consumedBlobs).toHaveLength(uses.includes('consumed' as never) ? 0 : 1)
        expect(await take()).toEqual([])
      })

      it('takes the policy that comes with the end, where the row has none of its own', async () => {
        const id = await create({ retentionPolicy: DEFAULT_RETENTION_POLICY })
        await begin(id)
        await record(id, 'produced', own(id))
        await store.finishAttempt({
          taskId: id,
          attempt: 1,
          workerId: WORKER,
          startedAt: Date.now(),
          outcome: SUCCEEDED,
          retentionPolicy: OWN,
        })
        expect((await take()).map(({ taskId }) => taskId)).toEqual([id])
      })

      it('has nothing to do with tasks that have no blobs', async () => {
        const id = await create()
        await begin(id)
        await finish(id)
        expect(await take()).toEqual([])
      })

      it('deals with the blobs of tasks that never end by themselves', async () => {
        const lost = await create({ retentionPolicy: ALL })
        await begin(lost)
        await record(lost, 'produced', own(lost))
        await finish(lost, { kind: 'released' })
        await store.cancel({ taskId: lost })
        expect((await take()).map(({ taskId }) => taskId)).toEqual([lost])
      })
    })

    it('T51 takes what is due, however much that is not due has ended before', async () => {
      const later = policy({ ...ALL, ttlAfterTerminalDays: 1 })
      for (let index = 0; index < UNDUE; index += UNDUE_AT_ONCE) {
        await Promise.all(Array.from({ length: UNDUE_AT_ONCE }, () => ended({ retentionPolicy: later })))
      }
      const first = await ended()
      // Their order within a millisecond is open.
      await pass(5)
      const second = await ended()
      const page = await store.takeDueBlobs({ storeName: STORE, limit: 1, leaseMs: LEASE_MS })
      expect(page).toMatchObject({ tasks: [{ taskId: first }], hasMore: true })
      expect((await take(10)).map(({ taskId }) => taskId)).toEqual([second])
      expect(await store.takeDueBlobs({ storeName: STORE, limit: 10, leaseMs: LEASE_MS })).toEqual({
        tasks: [],
        hasMore: false,
      })
    })

    it('waits for the time that the policy gives, and not longer', async () => {
      const never = await ended({ retentionPolicy: policy({ ...ALL, ttlAfterTerminalDays: Infinity }) })
      const id = await ended({ retentionPolicy: policy({ ...ALL, ttlAfterTerminalDays: SHORT_MS / DAY_MS }) })
      expect(await take()).toEqual([])
      await pass(SHORT_MS + 50)
      expect((await take()).map(({ taskId }) => taskId)).toEqual([id])
      expect((await read(never)).producedBlobs).toHaveLength(1)
    })

    it('T52 comes back to a task that could not be dealt with, and to a blob that could not be deleted', async () => {
      const id = await create()
      await begin(id)
      for (const suffix of ['a', 'b']) await record(id, 'produced', own(id, suffix))
      await finish(id)
      const [task] = await take()
      const [first] = task!.deletable
      await settle(task!, { gone: [first!], retryAfterMs: SHORT_MS })
      expect(await read(id)).toEqual({ producedBlobs: [own(id, 'b')], consumedBlobs: [], isSwept: false })
      expect(await take()).toEqual([])
      await pass(SHORT_MS + 50)
      const [again] = await take()
      expect(keysOf(again!.deletable)).toEqual([own(id, 'b').key])
      await settle(again!)
      expect(await read(id)).toMatchObject({ producedBlobs: [], isSwept: true })
    })

    it('T54 gives each task to one of those who ask at once, and again when the lease is over', async () => {
      const ids = await Promise.all(Array.from({ length: 12 }, () => ended()))
      const pages = await Promise.all(Array.from({ length: 4 }, () => take(5, SHORT_MS)))
      expect(
        pages
          .flat()
          .map(({ taskId }) => taskId)
          .sort(),
      ).toEqual(ids.sort())
      expect(await take()).toEqual([])
      await pass(SHORT_MS + 50)
      expect(await take()).toHaveLength(12)
    })

    describe('T53 blobs that others use', () => {
      it('are left alone until the task that consumes them is done with them', async () => {
        const producer = await ended({ retentionPolicy: OWN })
        const blob = own(producer)
        const consumer = await create({ consumedBlobs: [blob] })
        const [task] = await take()
        expect(task).toMatchObject({ taskId: producer, deletable: [], inUse: [{ use: 'produced', blob }] })
        await settle(task!, { gone: [], retryAfterMs: 0 })
        // So that the producer comes first.
        await pass(5)
        await begin(consumer)
        await finish(consumer)
        const tasks = await take()
        expect(tasks).toHaveLength(2)
        const [first, second] = [producer, consumer].map((id) => tasks.find(({ taskId }) => taskId === id))
        expect(first?.inUse).toHaveLength(1)
        // The producer answers for it itself.
        expect(second).toMatchObject({ deletable: [], inUse: [] })
        await settle(second!)
        expect(await read(consumer)).toMatchObject({ consumedBlobs: [], isSwept: true })
        await settle(first!, { gone: [], retryAfterMs: 0 })
        const [again] = await take()
        expect(again).toMatchObject({ taskId: producer, deletable: [{ use: 'produced', blob }], inUse: [] })
        await settle(again!)
        expect(await read(producer)).toMatchObject({ producedBlobs: [], isSwept: true })
      })

      it('are deleted with the last task that was given them', async () => {
        const blob = ref('uploads/in')
        const first = await ended({}, { consumed: [blob] })
        const second = await create()
        await begin(second)
        await record(second, 'consumed', blob)
        const [task] = await take()
        expect(task).toMatchObject({ taskId: first, inUse: [] })
        expect(keysOf(task!.deletable)).toEqual([own(first).key])
        await settle(task!)
        await finish(second)
        const [last] = await take()
        expect(last).toMatchObject({ taskId: second, deletable: [{ use: 'consumed', blob }], inUse: [] })
      })

      it('are deleted once, when all that were given them are over', async () => {
        const blob = ref('uploads/in')
        const ids = [await ended({}, { consumed: [blob] }), await ended({}, { consumed: [blob] })]
        const tasks = await take()
        expect(tasks.flatMap(({ deletable }) => keysOf(deletable)).sort()).toEqual(
          ['uploads/in', ...ids.map((id) => own(id).key)].sort(),
        )
      })

      it('are left alone while a task that keeps its blobs is there', async () => {
        const keeps = await create({ retentionPolicy: KEEP, consumedBlobs: [ref('in')] })
        await begin(keeps)
        await finish(keeps)
        await ended({}, { consumed: [ref('in')] })
        const tasks = await take()
        expect(tasks).toHaveLength(2)
        expect(tasks.flatMap(({ deletable }) => keysOf(deletable))).not.toContain('in')
        for (const task of tasks) await settle(task)
        expect(await read(keeps)).toMatchObject({ consumedBlobs: [ref('in')], isSwept: true })
      })

      it('are free once the row of the task that used them is gone', async () => {
        const brief = policy({ ...KEEP, keepRowDays: SHORT_MS / DAY_MS })
        const user = await create({ retentionPolicy: brief, consumedBlobs: [ref('in')] })
        await begin(user)
        await finish(user)
        await pass(SHORT_MS + 50)
        await ended({}, { consumed: [ref('in')] })
        const deletable = (await take()).flatMap((task) => keysOf(task.deletable))
        expect(deletable).toContain('in')
      })

      it('are not looked at in another store', async () => {
        const id = await ended({}, { consumed: [ref('in', 'elsewhere')] })
        const [task] = await take()
        expect(keysOf(task!.deletable)).toEqual([own(id).key])
        await settle(task!)
        expect(await read(id)).toMatchObject({ consumedBlobs: [ref('in', 'elsewhere')], isSwept: false })
        expect(await take()).toEqual([])
        const [there] = await take(1, LEASE_MS, 'elsewhere')
        expect(there).toMatchObject({ taskId: id, deletable: [{ use: 'consumed', blob: { key: 'in' } }] })
        await settle(there!, { storeName: 'elsewhere' })
        expect(await read(id)).toMatchObject({ consumedBlobs: [], isSwept: true })
      })
    })

    it('keeps the record of blobs that have yet to be deleted, where the row goes before', async () => {
      const gone = policy({ ...ALL, ttlAfterTerminalDays: SHORT_MS / DAY_MS, keepRowDays: 0 })
      const id = await ended({ retentionPolicy: gone })
      expect(await store.get(id)).toBeUndefined()
      expect(await take()).toEqual([])
      await pass(SHORT_MS + 50)
      const [task] = await take()
      expect(task).toMatchObject({ taskId: id, type: 'mail', deletable: [{ use: 'produced', blob: own(id) }] })
      await settle(task!)
      expect(await take()).toEqual([])
    })

    it('keeps it also for children, which go with their parent', async () => {
      const parent = await create({ retentionPolicy: policy({ keepRowDays: 0, keepFailedRowDays: 0 }) })
      await begin(parent)
      const child = await create({ parentTaskId: parent })
      await begin(child)
      await record(child, 'produced', own(child))
      await finish(child)
      await finish(parent)
      while ((await store.removeExpired({ limit: 100 })).hasMore) continue
      expect(await store.getMany([parent, child])).toEqual([undefined, undefined])
      const [task] = await take()
      expect(task).toMatchObject({ taskId: child, deletable: [{ use: 'produced', blob: own(child) }] })
    })

    it('leaves the blobs of a task alone that was sent again', async () => {
      const id = await ended({}, { outcome: FAILED })
      expect(await store.deadLetters.resend({ id, fromScratch: false })).toMatchObject({ kind: 'resent' })
      expect(await take()).toEqual([])
      expect(await read(id)).toMatchObject({ producedBlobs: [own(id)], isSwept: false })
      await begin(id)
      await finish(id, SUCCEEDED, 2)
      expect(await take()).toHaveLength(1)
    })

    it('has nothing more to do with a task that was sent again when its blobs had been deleted', async () => {
      const id = await ended({}, { outcome: FAILED })
      for (const task of await take()) await settle(task)
      expect(await read(id)).toMatchObject({ producedBlobs: [], isSwept: true })

      await store.deadLetters.resend({ id, fromScratch: false })
      await store.cancel({ taskId: id })

      expect(await take()).toEqual([])
      expect(await read(id)).toMatchObject({ producedBlobs: [], isSwept: false })
    })

    it('lets nobody write a blob anew while it is being deleted', async () => {
      const id = await ended({}, { outcome: FAILED })
      const [task] = await take()
      await store.deadLetters.resend({ id, fromScratch: false })
      expect(await begin(id)).toBe(2)
      expect(await record(id, 'produced', own(id, 'another'), 2)).toMatchObject({ kind: 'recorded' })
      const busy = await record(id, 'produced', own(id), 2)
      expect(busy).toMatchObject({ kind: 'busy' })
      expect((busy as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(0)
      expect((busy as { retryAfterMs: number }).retryAfterMs).toBeLessThanOrEqual(LEASE_MS)
      await settle(task!)
      expect(await record(id, 'produced', own(id), 2)).toMatchObject({ kind: 'recorded' })
      expect(await read(id)).toEqual({
        producedBlobs: expect.arrayContaining([own(id, 'another'), own(id)]) as unknown,
        consumedBlobs: [],
        isSwept: false,
      })
      await finish(id, SUCCEEDED, 2)
      expect(keysOf((await take())[0]!.deletable)).toHaveLength(2)
    })

    it('tells of the blobs of a dead letter, and keeps what is to be deleted when it is discarded', async () => {
      const [kept, deleted] = [
        await ended({ retentionPolicy: KEEP }, { outcome: FAILED }),
        await ended({}, { outcome: FAILED }),
      ]
      const { letters } = await store.deadLetters.list({ limit: 10, order: 'oldest' })
      const blobs = new Map(letters.map((letter) => [letter.id, letter.kind === 'task' && letter.task.producedBlobs]))
      expect([blobs.get(kept), blobs.get(deleted)]).toEqual([[own(kept)], [own(deleted)]])
      for (const id of [kept, deleted]) expect(await store.deadLetters.discard(id)).toBe(true)
      expect((await take()).map(({ taskId }) => taskId)).toEqual([deleted])
    })
  })
}
