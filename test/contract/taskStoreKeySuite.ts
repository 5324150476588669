import { type CreateTask, type TaskStore } from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { eachWithStore, type TaskStoreHarness } from './taskStore/eachWithStore.js'
import { newTask } from './taskStore/newTask.js'

const WORKER = 'worker-1'
const TTL_MS = 300

/** What any store has to do with idempotency keys. */
export const taskStoreKeySuite = (name: string, makeStore: () => Promise<TaskStoreHarness>): void => {
  describe(`${name} as a store of idempotency keys`, () => {
    let store: TaskStore
    const { pass } = eachWithStore(makeStore, (made) => (store = made))

    const create = (more: Partial<CreateTask> = {}) =>
      store.create(newTask({ idempotencyKey: 'k', keyTtlMs: TTL_MS, ...more }))

    /** The id under which a creation was answered, and whether it made it. */
    const place = async (more?: Partial<CreateTask>): Promise<{ id: string; isNew: boolean }> => {
      const result = await create(more)
      if (result.kind === 'refused') throw new Error('refused')
      return result.kind === 'created'
        ? { id: result.taskId, isNew: true }
        : { id: result.stored.task.id, isNew: false }
    }

    const run = async (taskId: string, how: 'succeeded' | 'failed'): Promise<void> => {
      const begun = await store.beginAttempt({
        taskId,
        workerId: WORKER,
        visibilityTimeoutMs: 60_000,
        redelivered: false,
      })
      if (begun.kind !== 'begun') throw new Error('not begun')
      const { attempt, at } = begun
      const outcome = how === 'failed' ? { kind: how, error: { name: 'E', message: 'm' } } : { kind: how }
      await store.finishAttempt({ taskId, attempt, workerId: WORKER, startedAt: at, outcome })
    }

    /** Ways to the end of a task. */
    const ENDS: Array<[string, (taskId: string) => Promise<unknown>]> = [
      ['success', (taskId) => run(taskId, 'succeeded')],
      ['final failure', (taskId) => run(taskId, 'failed')],
      ['cancel', (taskId) => store.cancel({ taskId })],
      [
        'the end of the lease of a cancelling row',
        async (taskId) => {
          await store.beginAttempt({ taskId, workerId: WORKER, visibilityTimeoutMs: 50, redelivered: false })
          await store.cancel({ taskId })
          await pass(80)
          await store.expireAttempts({ limit: 10 })
        },
      ],
    ]

    it('belong to one of many racing writers', async () => {
      const places = await Promise.all(Array.from({ length: 20 }, () => place()))
      expect(new Set(places.map(({ id }) => id)).size).toBe(1)
      expect(places.filter(({ isNew }) => isNew)).toHaveLength(1)
    })

    it('are of one type each', async () => {
      const first = await place()
      expect(await place({ type: 'post' })).toMatchObject({ isNew: true })
      expect(await place({ idempotencyKey: 'l' })).toMatchObject({ isNew: true })
      expect(await place()).toEqual({ id: first.id, isNew: false })
    })

    it('count before ids', async () => {
      const first = await place()
      const other = await place({ idempotencyKey: 'l' })
      expect(await place({ id: other.id })).toEqual({ id: first.id, isNew: false })
    })

    it.each(ENDS)('T45 are kept for their time after the end by %s, and free after that', async (_, end) => {
      const { id } = await place({ keyTtlMs: 1_000 })
      await end(id)
      expect(await place()).toEqual({ id, isNew: false })
      await pass(1_050)
      expect(await place()).toMatchObject({ isNew: true })
    })

    it.each(ENDS)('T45 are kept beyond their time until the end by %s', async (_, end) => {
      const { id } = await place()
      await pass(TTL_MS + 50)
      expect(await place()).toEqual({ id, isNew: false })
      await end(id)
      const next = await place()
      expect(next).toMatchObject({ isNew: true })
      expect(await place()).toEqual({ id: next.id, isNew: false })
    })

    it('T45 are kept until the end only with a time of 0, and for ever without one', async () => {
      const none = await place({ keyTtlMs: 0 })
      const ever = await place({ idempotencyKey: 'ever', keyTtlMs: Infinity })
      expect(await place({ keyTtlMs: 0 })).toEqual({ id: none.id, isNew: false })
      for (const { id } of [none, ever]) await run(id, 'succeeded')
      expect(await place({ keyTtlMs: 0 })).toMatchObject({ isNew: true })
      await pass(TTL_MS)
      expect(await place({ idempotencyKey: 'ever' })).toEqual({ id: ever.id, isNew: false })
    })

    it('T45 go from a task without success to one of many racing writers that ask for it', async () => {
      const first = await place()
      await run(first.id, 'failed')
      expect(await place()).toEqual({ id: first.id, isNew: false })
      const again = { resubmitAfterFailure: true }
      const places = await Promise.all(Array.from({ length: 20 }, () => place(again)))
      expect(new Set(places.map(({ id }) => id)).size).toBe(1)
      expect(places[0]!.id).not.toBe(first.id)
      expect(places.filter(({ isNew }) => isNew)).toHaveLength(1)
      // The end of the one that follows is its own.
      expect(await place()).toEqual({ id: places[0]!.id, isNew: false })
      await run(places[0]!.id, 'succeeded')
      expect(await place(again)).toEqual({ id: places[0]!.id, isNew: false })
    })

    it('T45 give a task that follows one without success its own time', async () => {
      const first = await place({ keyTtlMs: 1_000 })
      await run(first.id, 'failed')
      await pass(700)
      const second = await place({ keyTtlMs: 1_000, resubmitAfterFailure: true })
      expect(second).toMatchObject({ isNew: true })
      await run(second.id, 'succeeded')
      await pass(400)
      expect(await place()).toEqual({ id: second.id, isNew: false })
    })

    it('are not taken by a creation that is refused', async () => {
      expect(await create({ parentTaskId: 'nobody' })).toMatchObject({ kind: 'refused' })
      expect(await place()).toMatchObject({ isNew: true })
    })
  })
}
