import { randomUUID } from 'node:crypto'

import {
  DEFAULT_RETENTION_POLICY,
  MaxDeliveriesExceededError,
  type AttemptOutcome,
  type BeginResult,
  type CreateTask,
  type TaskStore,
} from '@furystack/task-runner'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import type { TaskStoreHarness } from './taskStoreSuite.js'

const WORKER = 'worker-1'
const LEASE_MS = 400

/** What any store has to do about tasks that fail without being run (again). */
export const taskStoreFailureSuite = (name: string, makeStore: () => Promise<TaskStoreHarness>): void => {
  describe(`${name} as a store of failed tasks`, () => {
    let harness: TaskStoreHarness
    let store: TaskStore

    beforeEach(async () => {
      harness = await makeStore()
      store = harness.store
    })

    afterEach(() => harness.dispose())

    const pass = async (ms: number): Promise<void> => {
      if (harness.advance) await harness.advance(ms)
      else await new Promise((resolve) => setTimeout(resolve, ms))
    }

    const create = async (more: Partial<CreateTask> = {}): Promise<string> => {
      const input: CreateTask = {
        id: randomUUID(),
        type: 'mail',
        handlerVersion: 1,
        status: 'pending',
        payloadJson: '{"n":1}',
        tags: [],
        retentionPolicy: DEFAULT_RETENTION_POLICY,
        ...more,
      }
      await store.create(input)
      return input.id
    }

    interface Begin {
      redelivered?: boolean
      ms?: number
      maxDeliveries?: number
    }

    const begin = (taskId: string, { redelivered = false, ms = 60_000, maxDeliveries }: Begin = {}) =>
      store.beginAttempt({
        taskId,
        workerId: WORKER,
        visibilityTimeoutMs: ms,
        redelivered,
        ...(maxDeliveries !== undefined && { maxDeliveries }),
      })

    const finish = (taskId: string, attempt: number, outcome: AttemptOutcome) =>
      store.finishAttempt({ taskId, attempt, workerId: WORKER, startedAt: Date.now(), outcome })

    const read = async (taskId: string) => {
      const stored = await store.get(taskId)
      if (stored === undefined) throw new Error(`no row ${taskId}`)
      return stored
    }

    const unqueued = async (): Promise<string[]> =>
      (await store.findUnqueued({ olderThanMs: 0, limit: 100 })).map(({ task }) => task.id)

    describe('a task that loses its workers', () => {
      it.each([1, 2, 5])('T10 is delivered %d times at most, and fails with an error that says so', async (limit) => {
        const id = await create()
        for (let delivery = 1; delivery <= limit; delivery++) {
          const begun = await begin(id, { redelivered: delivery > 1, maxDeliveries: limit })
          expect(begun).toMatchObject({ kind: 'begun', attempt: delivery })
        }
        const failed = (await begin(id, { redelivered: true, maxDeliveries: limit })) as BeginResult & {
          kind: 'failed'
        }
        const { message } = new MaxDeliveriesExceededError(id, limit)
        expect(failed).toMatchObject({ kind: 'failed', stored: { losses: limit, failures: 0 } })
        const { task } = await read(id)
        expect(task).toMatchObject({ status: 'failed', error: { name: 'MaxDeliveriesExceededError', message } })
        expect(task.terminalAt).toBe(new Date(failed.at).toISOString())
        expect(task.attempts.map(({ status }) => status)).toEqual(Array.from({ length: limit }, () => 'timed-out'))
        expect(failed.stored.task).toMatchObject({ id, error: task.error, attempts: task.attempts })
        expect(await begin(id, { redelivered: true })).toMatchObject({ kind: 'refused', reason: 'stale' })
        expect(await finish(id, limit, { kind: 'succeeded' })).toMatchObject({ kind: 'lost', status: 'failed' })
        expect(await unqueued()).toEqual([])
      })

      it('T10 fails although somebody else has ended its last lease', async () => {
        const id = await create()
        await begin(id, { ms: LEASE_MS })
        await pass(LEASE_MS + 50)
        expect(await store.expireAttempts({ limit: 10 })).toMatchObject([
          { task: { id, status: 'pending' }, losses: 1 },
        ])
        expect(await begin(id, { maxDeliveries: 1 })).toMatchObject({ kind: 'failed' })
        expect((await read(id)).task.status).toBe('failed')
        expect(await unqueued()).toEqual([])
      })

      it('has no limit unless one is given', async () => {
        const id = await create()
        for (let delivery = 1; delivery <= 20; delivery++) {
          expect(await begin(id, { redelivered: true })).toMatchObject({ kind: 'begun', attempt: delivery })
        }
        expect(await begin(id, { redelivered: true, maxDeliveries: Infinity })).toMatchObject({ kind: 'begun' })
      })

      it.each<AttemptOutcome>([
        { kind: 'released' },
        { kind: 'parked', delayMs: 1 },
        { kind: 'suspended', awaiting: [] },
        { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 },
      ])('does not come nearer to it by an attempt that is $kind', async (outcome) => {
        const id = await create()
        for (let attempt = 1; attempt <= 4; attempt++) {
          expect(await begin(id, { maxDeliveries: 1 })).toMatchObject({ kind: 'begun', attempt })
          await finish(id, attempt, outcome)
        }
        expect((await read(id)).losses).toBe(0)
      })

      it('is cancelled rather than failed if that was asked for', async () => {
        const id = await create()
        await begin(id)
        await store.cancel({ taskId: id })
        expect(await begin(id, { redelivered: true, maxDeliveries: 1 })).toMatchObject({ kind: 'cancelled' })
      })

      it('tells its parent, and wakes one that waits for it', async () => {
        const parentId = await create({ type: 'report' })
        await begin(parentId)
        const child = { id: randomUUID(), type: 'page', handlerVersion: 1, status: 'pending' as const, tags: [] }
        await store.spawnChild({
          parentId,
          attempt: 1,
          step: { key: 'spawn', json: '{}' },
          child: { ...child, parentTaskId: parentId, retentionPolicy: DEFAULT_RETENTION_POLICY },
        })
        await finish(parentId, 1, { kind: 'suspended', awaiting: [child.id] })
        await begin(child.id)
        const failed = await begin(child.id, { redelivered: true, maxDeliveries: 1 })
        expect(failed).toMatchObject({ kind: 'failed', parent: { taskId: parentId, type: 'report', woken: true } })
        const { task } = await read(parentId)
        expect(task.status).toBe('pending')
        expect(task.events).toContainEqual(
          expect.objectContaining({ kind: 'child-completed', childTaskId: child.id, status: 'failed' }),
        )
        await pass(5)
        expect(await unqueued()).toEqual([parentId])
      })
    })
  })
}
