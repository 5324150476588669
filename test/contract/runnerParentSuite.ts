import {
  defineTaskHandler,
  isTerminalStatus,
  ParentEndedError,
  UnknownTaskError,
  type SubmitOptions,
  type Task,
  type TaskContext,
  type TaskRunner,
  type TaskUpdate,
} from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { MakeRunners } from './runnerSuite.js'

type Handler = (ctx: TaskContext<unknown>) => Promise<unknown>

/** What any task runner has to do with tasks that are submitted as somebody's children. */
export const runnerParentSuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} with children that are submitted`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const setUp = async (handlers: Record<string, Handler> = {}): Promise<TaskRunner> => {
      const harness = await makeRunners(1)
      cleanups.push(() => harness.dispose())
      const runner = harness.runners[0]!
      const list = Object.entries(handlers).map(([type, handler]) =>
        defineTaskHandler<unknown, unknown>({ type, version: 1, handler }),
      )
      const more = { concurrency: 10, tags: [], compatibleVersions: {} }
      if (list.length > 0) runner.registerWorker({ name: 'worker', handlers: list, ...more })
      return runner
    }

    const options = (more: Partial<SubmitOptions<unknown>> = {}): SubmitOptions<unknown> => ({
      type: 'child',
      handlerVersion: 1,
      payload: 1,
      ...more,
    })

    const read = async (runner: TaskRunner, id: string): Promise<Task> => {
      const task = await runner.get(id)
      if (task === undefined) throw new Error(`no task ${id}`)
      return task
    }

    const ended = (runner: TaskRunner, { id }: { id: string }): Promise<Task> =>
      until(
        async () => {
          const task = await read(runner, id)
          return isTerminalStatus(task.status) && task
        },
        { intervalMs: 10, description: `task ${id} has ended` },
      )

    it('T48 shows them in the tree, in order, and tells the parent of each', async () => {
      const updates: TaskUpdate[] = []
      const runner = await setUp()
      const parent = await runner.submit(options({ type: 'parent' }))
      using _subscription = runner.subscribe(parent.id, (update) => updates.push(update))
      const parentTaskId = parent.id
      const submitted = await runner.submit(options({ parentTaskId }))
      const drafted = await runner.draft(options({ parentTaskId }))
      const many = await runner.submitMany([options({ parentTaskId }), options({ parentTaskId }), options()])
      const ids = [submitted, drafted, many[0]!, many[1]!].map(({ id }) => id)
      const tree = await runner.getTree(parent.id)
      expect(tree.task.childTaskIds).toEqual(ids)
      expect(tree.children.map(({ task }) => task.id)).toEqual(ids)
      expect(tree.children.map(({ task }) => task.status)).toEqual(['pending', 'draft', 'pending', 'pending'])
      const spawned = updates.flatMap((update) => (update.kind === 'spawned-child' ? [update.childTaskId] : []))
      expect(spawned).toEqual(ids)
      const events = tree.task.events.flatMap((event) => (event.kind === 'spawned-child' ? [event.childTaskId] : []))
      expect(events).toEqual(ids)
    })

    it('T48 cancels them with their parent', async () => {
      const runner = await setUp()
      const parent = await runner.submit(options({ type: 'parent' }))
      const child = await runner.submit(options({ parentTaskId: parent.id }))
      const grandchild = await runner.draft(options({ parentTaskId: child.id }))
      await runner.cancel(parent.id, 'why')
      for (const { id } of [parent, child, grandchild]) expect((await read(runner, id)).status).toBe('cancelled')
    })

    it('T48 cancels them when their parent ends first, as those that a handler spawned', async () => {
      const begun = deferred()
      const mayEnd = deferred()
      const runner = await setUp({
        parent: async () => {
          begun.resolve()
          await mayEnd.promise
        },
      })
      const parent = await runner.submit(options({ type: 'parent' }))
      await begun.promise
      const child = await runner.submit(options({ type: 'nobody', parentTaskId: parent.id }))
      mayEnd.resolve()
      expect((await ended(runner, parent)).status).toBe('succeeded')
      const { status, events } = await ended(runner, child)
      expect(status).toBe('cancelled')
      expect(events).toContainEqual(expect.objectContaining({ reason: 'parent-completed' }))
    })

    it('T48 tells the parent once when one has ended', async () => {
      const updates: TaskUpdate[] = []
      const mayEnd = deferred()
      const runner = await setUp({
        parent: () => mayEnd.promise,
        child: () => Promise.resolve('done'),
      })
      const parent = await runner.submit(options({ type: 'parent' }))
      using _subscription = runner.subscribe(parent.id, (update) => updates.push(update))
      const child = await runner.submit(options({ parentTaskId: parent.id }))
      expect((await ended(runner, child)).status).toBe('succeeded')
      await until(() => updates.some(({ kind }) => kind === 'child-completed'))
      mayEnd.resolve()
      const { status, events } = await ended(runner, parent)
      expect(status).toBe('succeeded')
      const completed = { kind: 'child-completed', childTaskId: child.id, status: 'succeeded' }
      expect(events.filter(({ kind }) => kind === 'child-completed')).toMatchObject([completed])
      expect(updates.filter(({ kind }) => kind === 'child-completed')).toMatchObject([completed])
    })

    it('T48 lets a handler wait for one that it submitted itself', async () => {
      let runner: TaskRunner | undefined = undefined
      runner = await setUp({
        parent: async (ctx) => {
          const child = options({ parentTaskId: ctx.taskId, idempotencyKey: ctx.taskId })
          const { id: taskId, type } = await runner!.submit(child)
          return ctx.awaitChildren([{ taskId, type }])
        },
        child: () => Promise.resolve('done'),
      })
      const parent = await ended(runner, await runner.submit(options({ type: 'parent' })))
      expect(parent).toMatchObject({ status: 'succeeded', result: ['done'] })
      expect(parent.childTaskIds).toHaveLength(1)
    })

    it('T48 refuses them below a parent that does not exist or is over, and writes nothing', async () => {
      const updates: TaskUpdate[] = []
      const runner = await setUp()
      using _subscription = runner.subscribeByType('child', (update) => updates.push(update))
      const over = await runner.submit(options({ type: 'parent' }))
      await runner.cancel(over.id)
      const gone = { parentTaskId: 'nobody' }
      const late = { parentTaskId: over.id }
      for (const [more, error] of [
        [gone, UnknownTaskError],
        [late, ParentEndedError],
      ] as const) {
        await expect(runner.submit(options(more))).rejects.toThrow(error)
        await expect(runner.draft(options(more))).rejects.toThrow(error)
        await expect(runner.submit(options({ ...more, idempotencyKey: 'k' }))).rejects.toThrow(error)
        await expect(runner.draft(options({ ...more, idempotencyKey: 'k' }))).rejects.toThrow(error)
        await expect(runner.submitMany([options(), options(more)])).rejects.toThrow(error)
      }
      await expect(runner.submit(options(late))).rejects.toMatchObject({ parentTaskId: over.id, status: 'cancelled' })
      expect(updates).toEqual([])
      expect((await read(runner, over.id)).childTaskIds).toEqual([])
      // The key is free: a refusal is nobody's task.
      expect((await runner.submit(options({ idempotencyKey: 'k' }))).parentTaskId).toBeUndefined()
    })

    it('T48 answers a key with its task, whatever has become of the parent', async () => {
      const runner = await setUp()
      const parent = await runner.submit(options({ type: 'parent' }))
      const child = options({ parentTaskId: parent.id, idempotencyKey: 'k' })
      const { id } = await runner.submit(child)
      await runner.cancel(parent.id)
      expect(await runner.submit(child)).toMatchObject({ id, status: 'cancelled' })
      expect((await runner.submitMany([child])).map((task) => task.id)).toEqual([id])
      expect((await read(runner, parent.id)).childTaskIds).toEqual([id])
    })
  })
}
