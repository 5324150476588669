import { randomUUID } from 'node:crypto'

import {
  DEFAULT_RETENTION_POLICY,
  MaxDeliveriesExceededError,
  TaskExpiredError,
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

    /** The store's clock. */
    const storeNow = async (): Promise<number> => {
      const id = await create({ status: 'draft' })
      return Date.parse((await read(id)).task.submittedAt)
    }

    /** A task whose time to start is over in a moment. */
    const createWithin = async (ms: number, more: Partial<CreateTask> = {}): Promise<string> =>
      create({ startBefore: (await storeNow()) + ms, ...more })

    const expire = async (limit = 100): Promise<string[]> =>
      (await store.expireTasks({ limit })).map(({ stored }) => stored.task.id)

    describe('a task with a time to start', () => {
      it('tells it, and is begun before it', async () => {
        const startBefore = (await storeNow()) + 60_000
        const id = await create({ startBefore })
        expect((await read(id)).task.startBefore).toBe(new Date(startBefore).toISOString())
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 1 })
        expect(await expire()).toEqual([])
      })

      it('fails instead of being begun when it is over', async () => {
        const id = await createWithin(0)
        const failed = (await begin(id)) as BeginResult & { kind: 'failed' }
        const error = { name: 'TaskExpiredError', message: new TaskExpiredError(id).message }
        expect(failed).toMatchObject({
          kind: 'failed',
          stored: { task: { id, status: 'failed', error, attempts: [] } },
        })
        const { task } = await read(id)
        expect(task).toMatchObject({ status: 'failed', error, attempts: [] })
        expect(task.terminalAt).toBe(new Date(failed.at).toISOString())
        expect(await begin(id)).toMatchObject({ kind: 'refused', reason: 'stale' })
        expect(await expire()).toEqual([])
        expect(await unqueued()).toEqual([])
      })

      it('fails when somebody looks and no worker has come', async () => {
        const now = await storeNow()
        const late = await create({ startBefore: now + 5 })
        const later = await create({ startBefore: now + 1, notBefore: now })
        const early = await create({ startBefore: now + 60_000 })
        await create()
        await pass(20)
        const failed = await store.expireTasks({ limit: 100 })
        const error = { name: 'TaskExpiredError', message: new TaskExpiredError(late).message }
        expect(failed).toMatchObject([{ stored: { task: { id: later } } }, { stored: { task: { id: late, error } } }])
        for (const { stored, at } of failed) {
          const { task } = await read(stored.task.id)
          expect(task).toMatchObject({ status: 'failed', attempts: [], terminalAt: new Date(at).toISOString() })
        }
        expect((await read(early)).task.status).toBe('pending')
        expect(await expire()).toEqual([])
        expect(await unqueued()).not.toContain(late)
      })

      it('fails once, whoever looks at the same time, and in pages', async () => {
        const ids = await Promise.all(Array.from({ length: 5 }, () => createWithin(0)))
        const pages = await Promise.all([expire(2), expire(2), expire(2), begin(ids[0]!).then(() => [])])
        const rest = await expire()
        const told = [...pages.flat(), ...rest]
        expect(new Set(told).size).toBe(told.length)
        expect(pages.every((page) => page.length <= 2)).toBe(true)
        for (const id of ids) expect((await read(id)).task.status).toBe('failed')
      })

      it.each<AttemptOutcome>([
        { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 },
        { kind: 'released' },
        { kind: 'parked', delayMs: 0 },
        { kind: 'suspended', awaiting: [] },
      ])('may take its time after an attempt that is $kind', async (outcome) => {
        const id = await createWithin(LEASE_MS)
        await begin(id)
        await finish(id, 1, outcome)
        await pass(LEASE_MS + 50)
        expect(await expire()).toEqual([])
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 2 })
      })

      it('may take its time after an attempt that was lost', async () => {
        const id = await createWithin(LEASE_MS)
        await begin(id, { ms: LEASE_MS / 2 })
        await pass(LEASE_MS + 50)
        expect(await expire()).toEqual([])
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 2 })
      })

      it('has not been begun by an attempt that never reached a handler', async () => {
        const ids = [await createWithin(LEASE_MS), await createWithin(LEASE_MS)]
        for (const id of ids) {
          await begin(id)
          await finish(id, 1, { kind: 'released', unstarted: true })
          await begin(id)
          await finish(id, 2, { kind: 'released', unstarted: true })
        }
        expect(await expire()).toEqual([])
        await pass(LEASE_MS + 50)
        expect(await begin(ids[0]!)).toMatchObject({ kind: 'failed' })
        expect(await expire()).toEqual([ids[1]])
      })

      it('is looked at once it is no draft any more, and no longer once it is cancelled', async () => {
        const draft = await createWithin(0, { status: 'draft' })
        const cancelled = await createWithin(0)
        await store.cancel({ taskId: cancelled })
        expect(await expire()).toEqual([])
        await store.start({ taskId: draft })
        expect(await expire()).toEqual([draft])
      })

      it('T57 tells its parent, and wakes one that waits for it', async () => {
        const parentId = await create({ type: 'report' })
        await begin(parentId)
        const child: CreateTask = {
          id: randomUUID(),
          type: 'page',
          handlerVersion: 1,
          status: 'pending',
          tags: [],
          parentTaskId: parentId,
          startBefore: await storeNow(),
          retentionPolicy: DEFAULT_RETENTION_POLICY,
        }
        await store.spawnChild({ parentId, attempt: 1, step: { key: 'spawn', json: '{}' }, child })
        await finish(parentId, 1, { kind: 'suspended', awaiting: [child.id] })
        const failed = await store.expireTasks({ limit: 10 })
        expect(failed).toMatchObject([{ parent: { taskId: parentId, type: 'report', woken: true } }])
        expect((await read(parentId)).task.status).toBe('pending')
      })
    })

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
