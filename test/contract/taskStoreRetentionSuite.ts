import { randomUUID } from 'node:crypto'

import {
  DEFAULT_RETENTION_POLICY,
  type AttemptOutcome,
  type CreateTask,
  type FinishAttempt,
  type TaskRetentionPolicy,
  type TaskStore,
} from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { eachWithStore, type TaskStoreHarness } from './taskStore/eachWithStore.js'
import { newTask } from './taskStore/newTask.js'

const DAY_MS = 86_400_000
/** Short enough to wait for its end. */
const KEEP_MS = 250
const WORKER = 'worker-1'
const SUCCEEDED: AttemptOutcome = { kind: 'succeeded', resultJson: '1' }
const FAILED: AttemptOutcome = { kind: 'failed', error: { name: 'E', message: 'no' } }

const policy = (more: Partial<TaskRetentionPolicy>): TaskRetentionPolicy => ({ ...DEFAULT_RETENTION_POLICY, ...more })
const NOTHING = policy({ keepRowDays: 0 })
const BRIEFLY = policy({ keepRowDays: KEEP_MS / DAY_MS })

/** How long any store keeps the rows of tasks that are over. */
export const taskStoreRetentionSuite = (name: string, makeStore: () => Promise<TaskStoreHarness>): void => {
  describe(`${name} keeping what is over`, () => {
    let store: TaskStore
    const { pass } = eachWithStore(makeStore, (made) => (store = made))

    const create = async (more: Partial<CreateTask> = {}): Promise<string> => {
      const input = newTask(more)
      expect(await store.create(input)).toMatchObject({ kind: 'created' })
      return input.id
    }

    const begin = async (
      taskId: string,
    ): Promise<Pick<FinishAttempt, 'taskId' | 'attempt' | 'workerId' | 'startedAt'>> => {
      const begun = await store.beginAttempt({
        taskId,
        workerId: WORKER,
        visibilityTimeoutMs: 60_000,
        redelivered: false,
      })
      if (begun.kind !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`)
      return { taskId, attempt: begun.attempt, workerId: WORKER, startedAt: begun.at }
    }

    const end = async (taskId: string, outcome: AttemptOutcome = SUCCEEDED, more: Partial<FinishAttempt> = {}) =>
      store.finishAttempt({ ...(await begin(taskId)), outcome, ...more })

    /** Looks for what is over until there is nothing left to look at. */
    const sweep = async (limit = 100): Promise<number> => {
      for (let removed = 0; ;) {
        const page = await store.removeExpired({ limit })
        removed += page.removed
        if (!page.hasMore) return removed
      }
    }

    const areThere = async (...ids: string[]): Promise<boolean[]> =>
      (await store.getMany(ids)).map((row) => row !== undefined)

    it('T55 removes a row in the step that ends it, if nothing is to be kept', async () => {
      const id = await create({ retentionPolicy: NOTHING })
      expect(await end(id)).toMatchObject({ kind: 'finished', status: 'succeeded', removed: true })
      expect(await store.get(id)).toBeUndefined()
      expect(await store.readSteps(id)).toEqual([])
    })

    it('keeps a failed row as long as the policy would by itself, unless told what to do with failures', async () => {
      const ids = await Promise.all([
        create({ retentionPolicy: NOTHING }),
        create({ retentionPolicy: policy({ keepRowDays: 0, keepFailedRowDays: 0 }) }),
        create({ retentionPolicy: policy({ keepFailedRowDays: 0 }) }),
      ])
      const results = []
      for (const id of ids) results.push(await end(id, FAILED))
      expect(results.map((result) => 'removed' in result)).toEqual([false, true, true])
      expect(await areThere(...ids)).toEqual([true, false, false])
      const succeeded = await create({ retentionPolicy: policy({ keepFailedRowDays: 0 }) })
      await end(succeeded)
      expect(await areThere(succeeded)).toEqual([true])
    })

    it('keeps the row of a retry, whatever the policy', async () => {
      const id = await create({ retentionPolicy: policy({ keepRowDays: 0, keepFailedRowDays: 0 }) })
      const retry: AttemptOutcome = { kind: 'failed', error: { name: 'E', message: 'no' }, retryDelayMs: 0 }
      expect(await end(id, retry)).toMatchObject({ status: 'pending' })
      expect(await end(id, { kind: 'released' })).toMatchObject({ status: 'pending' })
      expect(await end(id, { kind: 'parked', delayMs: 5 })).toMatchObject({ status: 'pending' })
      expect(await areThere(id)).toEqual([true])
    })

    it('T55 removes a row, its history and its steps when their time is over, and not before', async () => {
      const id = await create({ retentionPolicy: BRIEFLY })
      const fence = await begin(id)
      await store.recordStep({ ...fence, step: { key: 'now:0', json: '{}' } })
      await store.finishAttempt({ ...fence, outcome: SUCCEEDED })
      const kept = await create()
      await end(kept)
      await sweep()
      expect(await areThere(id, kept)).toEqual([true, true])
      expect(await store.readSteps(id)).toHaveLength(1)
      await pass(KEEP_MS + 50)
      await sweep()
      expect(await areThere(id, kept)).toEqual([false, true])
      expect(await store.readSteps(id)).toEqual([])
    })

    it('keeps for good what is to be kept for good', async () => {
      const forGood = policy({ keepRowDays: Infinity, keepFailedRowDays: Infinity, ttlAfterTerminalDays: Infinity })
      const id = await create({ retentionPolicy: forGood })
      await end(id)
      expect((await store.get(id))?.task.retentionPolicy).toEqual(forGood)
      expect(await sweep()).toBe(0)
      expect(await areThere(id)).toEqual([true])
    })

    it('takes the policy that comes with the end, where the row has none of its own', async () => {
      const [id, failed, retried] = await Promise.all([create(), create(), create()])
      const own = await create({ retentionPolicy: policy({ ttlAfterTerminalDays: 3 }) })
      expect(await end(own, SUCCEEDED, { retentionPolicy: NOTHING })).not.toHaveProperty('removed')
      expect((await store.get(own))?.task.retentionPolicy).toEqual(policy({ ttlAfterTerminalDays: 3 }))
      expect(await end(id, SUCCEEDED, { retentionPolicy: NOTHING })).toMatchObject({ removed: true })
      await end(failed, FAILED, { retentionPolicy: NOTHING })
      expect((await store.get(failed))?.task.retentionPolicy).toEqual(NOTHING)
      await end(retried, { kind: 'released' }, { retentionPolicy: NOTHING })
      expect((await store.get(retried))?.task.retentionPolicy).toEqual(DEFAULT_RETENTION_POLICY)
    })

    it('shows the end of a task to whoever cancels it, although nothing of it is to be kept', async () => {
      const id = await create({ retentionPolicy: NOTHING })
      expect(await store.cancel({ taskId: id, reason: 'no' })).toMatchObject({
        kind: 'cancelled',
        stored: { task: { status: 'cancelled' } },
      })
      expect((await store.get(id))?.task.status).toBe('cancelled')
    })

    it('keeps a row for as long as its idempotency key is held', async () => {
      const key = (keyTtlMs: number) => ({ idempotencyKey: randomUUID(), keyTtlMs })
      const [long, brief, good] = await Promise.all([
        create({ retentionPolicy: NOTHING, ...key(DAY_MS) }),
        create({ retentionPolicy: NOTHING, ...key(KEEP_MS) }),
        create({ retentionPolicy: NOTHING, ...key(Infinity) }),
      ])
      for (const id of [long, brief, good]) expect(await end(id)).not.toHaveProperty('removed')
      await pass(KEEP_MS + 50)
      await sweep()
      expect(await areThere(long, brief, good)).toEqual([true, false, true])
    })

    describe('trees', () => {
      const spawn = async (
        parent: Pick<FinishAttempt, 'taskId' | 'attempt'>,
        more: Partial<CreateTask> = {},
      ): Promise<string> => {
        const id = randomUUID()
        const child: CreateTask = {
          id,
          type: 'page',
          handlerVersion: 1,
          status: 'pending',
          parentTaskId: parent.taskId,
          tags: [],
          retentionPolicy: NOTHING,
          ...more,
        }
        const step = { key: `spawn:${id}`, json: '{}' }
        const spawned = await store.spawnChild({ parentId: parent.taskId, attempt: parent.attempt, step, child })
        expect(spawned).toMatchObject({ kind: 'spawned' })
        return id
      }

      it('T26 tells which tasks have left open children behind, until they have been seen to', async () => {
        const orphaned = (olderThanMs = 0) => store.findOrphaned({ olderThanMs, limit: 10 })
        const root = await create()
        const fence = await begin(root)
        await spawn(fence)
        expect(await orphaned()).toEqual([])
        await store.finishAttempt({ ...fence, outcome: FAILED })
        expect(await orphaned()).toEqual([{ parentId: root, status: 'failed' }])
        expect(await orphaned(60_000)).toEqual([])
        await store.markReaped([])
        await store.markReaped([root, 'nobody'])
        expect(await orphaned()).toEqual([])

        const waiting = await create()
        const waitingFence = await begin(waiting)
        await spawn(waitingFence)
        await store.finishAttempt({
          ...waitingFence,
          outcome: { kind: 'suspended', awaiting: [await spawn(waitingFence)] },
        })
        expect(await orphaned()).toEqual([])
        await store.cancel({ taskId: waiting })
        expect(await orphaned()).toEqual([{ parentId: waiting, status: 'cancelled' }])
      })

      it('forgets that a task has left children behind once they have ended by themselves', async () => {
        const root = await create()
        const fence = await begin(root)
        const child = await begin(await spawn(fence))
        await store.finishAttempt({ ...fence, outcome: SUCCEEDED })
        expect(await store.findOrphaned({ olderThanMs: 0, limit: 10 })).toHaveLength(1)
        await store.finishAttempt({ ...child, outcome: SUCCEEDED })
        expect(await store.findOrphaned({ olderThanMs: 0, limit: 10 })).toEqual([])
      })

      it('keeps children for their parent, and removes them with it', async () => {
        const root = await create({ retentionPolicy: BRIEFLY })
        const fence = await begin(root)
        const child = await spawn(fence)
        const childFence = await begin(child)
        const grandchildren = [await spawn(childFence), await spawn(childFence)]
        for (const id of grandchildren) expect(await end(id)).not.toHaveProperty('removed')
        expect(await store.finishAttempt({ ...childFence, outcome: SUCCEEDED })).not.toHaveProperty('removed')
        await sweep()
        expect(await areThere(child, ...grandchildren)).toEqual([true, true, true])
        await store.finishAttempt({ ...fence, outcome: SUCCEEDED })
        await pass(KEEP_MS + 50)
        await sweep()
        expect(await areThere(root, child, ...grandchildren)).toEqual([false, false, false, false])
      })

      it('waits for children that are open still', async () => {
        const root = await create({ retentionPolicy: NOTHING })
        const fence = await begin(root)
        const child = await spawn(fence)
        const childFence = await begin(child)
        expect(await store.finishAttempt({ ...fence, outcome: SUCCEEDED })).not.toHaveProperty('removed')
        await sweep()
        expect(await areThere(root, child)).toEqual([true, true])
        await store.finishAttempt({ ...childFence, outcome: SUCCEEDED })
        await sweep()
        expect(await areThere(root, child)).toEqual([false, false])
      })

      it('removes a wide tree in pages', async () => {
        const root = await create({ retentionPolicy: NOTHING })
        const fence = await begin(root)
        const children: string[] = []
        for (let index = 0; index < 60; index++) children.push(await spawn(fence))
        await Promise.all(children.map((id) => store.cancel({ taskId: id })))
        await store.finishAttempt({ ...fence, outcome: SUCCEEDED })
        await sweep(7)
        expect(new Set(await areThere(root, ...children))).toEqual(new Set([false]))
      })

      it('removes a deep tree', async () => {
        const root = await create({ retentionPolicy: NOTHING })
        const chain = [await begin(root)]
        for (let depth = 0; depth < 40; depth++) chain.push(await begin(await spawn(chain[depth]!)))
        for (const fence of [...chain].reverse()) await store.finishAttempt({ ...fence, outcome: SUCCEEDED })
        await sweep(3)
        expect(new Set(await areThere(...chain.map(({ taskId }) => taskId)))).toEqual(new Set([false]))
      })

      it('keeps a child whose idempotency key is held', async () => {
        const root = await create({ retentionPolicy: NOTHING })
        const fence = await begin(root)
        const key = { idempotencyKey: randomUUID(), keyTtlMs: DAY_MS }
        const child = await create({ parentTaskId: root, retentionPolicy: NOTHING, ...key })
        await end(child)
        await store.finishAttempt({ ...fence, outcome: SUCCEEDED })
        await sweep()
        expect(await areThere(root, child)).toEqual([false, true])
      })
    })
  })
}
