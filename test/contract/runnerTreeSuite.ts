import { setTimeout as delay } from 'node:timers/promises'

import {
  defineTaskHandler,
  isTerminalStatus,
  type ChildTaskError,
  type DefineTaskHandlerOptions,
  type SettledChildResult,
  type Task,
  type TaskContext,
  type TaskRunner,
  type TaskTreeNode,
  type TaskUpdate,
} from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { RunnersHarness } from './runnerSuite.js'

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => Promise<unknown>

/** How deep a tree may be at least. */
const DEPTH = 1_000

/** What any task runner has to do about trees of tasks, and about handlers that are run again. */
export const runnerTreeSuite = (name: string, makeRunners: (count: number) => Promise<RunnersHarness>): void => {
  describe(`${name} as a runner of task trees`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    /** Runners with a worker each for these handlers by type. */
    const setUp = async (
      handlers: Record<string, Handler>,
      { count = 1, ...more }: { count?: number } & Partial<DefineTaskHandlerOptions<unknown, unknown>> = {},
    ): Promise<TaskRunner[]> => {
      const harness = await makeRunners(count)
      cleanups.push(() => harness.dispose())
      for (const runner of harness.runners) {
        runner.registerWorker({
          name: 'worker',
          handlers: Object.entries(handlers).map(([type, handler]) =>
            defineTaskHandler<unknown, unknown>({ type, version: 1, handler, ...more }),
          ),
          concurrency: 10,
          tags: [],
          compatibleVersions: {},
        })
      }
      return [...harness.runners]
    }

    const submit = (runner: TaskRunner, payload: unknown = 0): Promise<Task> =>
      runner.submit({ type: 'parent', handlerVersion: 1, payload })

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

    const waiting = (runner: TaskRunner, { id }: { id: string }): Promise<Task> =>
      until(
        async () => {
          const task = await read(runner, id)
          return task.status === 'waiting' && task
        },
        { intervalMs: 5, description: `task ${id} waits` },
      )

    /** A task, its first child, the first child of that, and so on. */
    const chainBelow = async (runner: TaskRunner, { id }: { id: string }): Promise<Task[]> => {
      const tasks: Task[] = []
      for (let node: TaskTreeNode | undefined = await runner.getTree(id); node; node = node.children[0]) {
        tasks.push(node.task)
      }
      return tasks
    }

    /** The chain as soon as all of it waits but the deepest, which runs. */
    const allWait = (runner: TaskRunner, root: { id: string }): Promise<Task[]> =>
      until(
        async () => {
          const tasks = await chainBelow(runner, root)
          const waits = tasks.slice(0, -1).every(({ status }) => status === 'waiting')
          return waits && tasks.at(-1)!.status === 'running' && tasks
        },
        { intervalMs: 100, description: 'all but the deepest wait' },
      )

    const statusesOf = ({ attempts }: Task) => attempts.map(({ status }) => status)

    const untilAborted: Handler = ({ cancellationSignal }) =>
      new Promise((_, reject) => {
        const abort = (): void => reject(cancellationSignal.reason as Error)
        if (cancellationSignal.aborted) abort()
        cancellationSignal.addEventListener('abort', abort, { once: true })
      })

    it('gives the results of five parallel children in order, with one resume', async () => {
      const updates: TaskUpdate[] = []
      const [runner] = await setUp({
        parent: async (ctx) => {
          const handles = await Promise.all([5, 4, 3, 2, 1].map((n) => ctx.spawnChild<number, number>('child', n)))
          return ctx.awaitChildren(handles)
        },
        child: async (_, n) => delay(10 * (n as number), (n as number) * 10),
      })
      using _subscription = runner!.subscribeByType('parent', (update) => updates.push(update))
      const task = await ended(runner!, await submit(runner!))
      expect(task).toMatchObject({ status: 'succeeded', result: [50, 40, 30, 20, 10] })
      expect(task.childTaskIds).toHaveLength(5)
      expect(statusesOf(task)).toEqual(['suspended', 'succeeded'])
      const completed = task.events.flatMap((event) => (event.kind === 'child-completed' ? [event.childTaskId] : []))
      expect(completed.sort()).toEqual([...task.childTaskIds].sort())
      const tree: TaskTreeNode = await runner!.getTree(task.id)
      expect(tree.children.map((node) => node.task.id)).toEqual(task.childTaskIds)
      expect(tree.children.every((node) => node.task.parentTaskId === task.id)).toBe(true)
      await until(() => updates.filter(({ kind }) => kind === 'child-completed').length === 5)
      expect(updates.filter(({ kind }) => kind === 'spawned-child')).toHaveLength(5)
      expect(
        updates.flatMap((update) => (update.kind === 'status' ? [update.status] : [])).filter((s) => s === 'pending'),
      ).toHaveLength(2)
    })

    it('T13 gives parallel branches their own children', async () => {
      const [runner] = await setUp({
        parent: async (ctx) => {
          const branch = async (n: number) => {
            await delay(n === 1 && ctx.attempt === 1 ? 20 : 0)
            const first = await ctx.spawnChildAndAwait<number, string>('child', n)
            const second = await ctx.spawnChildAndAwait<string, string>('child', `${first}!`)
            return second
          }
          return Promise.all([branch(1), branch(2), branch(2)])
        },
        // Long enough for the parent to be suspended.
        child: (_, payload) => delay(30, `<${String(payload)}>`),
      })
      const task = await ended(runner!, await submit(runner!))
      expect(task.error).toBeUndefined()
      expect(task.result).toEqual(['<<1>!>', '<<2>!>', '<<2>!>'])
      expect(task.childTaskIds).toHaveLength(6)
    })

    it('tells how children ended: success, failure, cancel; also over a second suspension', async () => {
      const running = deferred()
      const seen: Array<Array<SettledChildResult<unknown>>> = []
      const [runner] = await setUp({
        parent: async (ctx) => {
          const good = await ctx.spawnChild<number, string>('child', 1)
          const bad = await ctx.spawnChild<number, string>('bad', 2)
          const slow = await ctx.spawnChild<number, string>('slow', 3)
          const settled = await ctx.awaitChildrenSettled([good, bad, slow])
          seen.push(settled)
          await ctx.spawnChildAndAwait('child', 'second')
          return settled
        },
        child: (_, payload) => delay(30, payload),
        bad: () => Promise.reject(new RangeError('no')),
        slow: (ctx, payload) => {
          running.resolve()
          return untilAborted(ctx, payload)
        },
      })
      const parent = await submit(runner!)
      await running.promise
      await runner!.cancel((await waiting(runner!, parent)).childTaskIds[2]!)
      const task = await ended(runner!, parent)
      const [a, b, c] = task.childTaskIds
      const expected = [
        { status: 'succeeded', taskId: a, type: 'child', result: 1 },
        { status: 'failed', taskId: b, type: 'bad', error: { name: 'RangeError', message: 'no' } },
        { status: 'cancelled', taskId: c, type: 'slow' },
      ]
      expect(task.result).toEqual(expected)
      expect(seen).toEqual([expected, expected])
    })

    it('rejects for a child that failed, and lets the handler go on', async () => {
      const [runner] = await setUp({
        parent: async (ctx) => {
          try {
            return await ctx.spawnChildAndAwait('bad', 1)
          } catch (error) {
            const { status, error: cause } = error as ChildTaskError
            return { status, cause, then: await ctx.spawnChildAndAwait('child', 'repaired') }
          }
        },
        bad: () => Promise.reject(new RangeError('no')),
        child: (_, payload) => Promise.resolve(payload),
      })
      const task = await ended(runner!, await submit(runner!))
      expect(task.result).toEqual({
        status: 'failed',
        cause: { name: 'RangeError', message: 'no' },
        then: 'repaired',
      })
    })

    it('T16 answers now and random as before, over a suspension', async () => {
      const seen: unknown[] = []
      const [runner] = await setUp({
        parent: async (ctx) => {
          const values = [ctx.now().toISOString(), ctx.random(), ctx.random(), ctx.now().getTime()]
          seen.push(values)
          await ctx.spawnChildAndAwait('child', 1)
          return values
        },
        child: () => delay(30),
      })
      const task = await ended(runner!, await submit(runner!))
      expect(task.status).toBe('succeeded')
      expect(seen).toEqual([task.result, task.result])
    })

    it('T17 does not let the handler take its suspension for an end', async () => {
      let caught = 0
      const [runner] = await setUp({
        parent: async (ctx) => {
          try {
            return await ctx.spawnChildAndAwait('child', 1)
          } catch {
            return `caught ${++caught}`
          } finally {
            if (ctx.attempt === 1) caught += 10
          }
        },
        child: async () => delay(50, 'done'),
      })
      const task = await ended(runner!, await submit(runner!))
      expect(task).toMatchObject({ status: 'succeeded', result: 'done' })
      expect(caught).toBe(0)
    })

    it('T10 does not count suspensions as attempts', async () => {
      let failures = 0
      const [runner] = await setUp(
        {
          parent: async (ctx) => {
            for (let n = 0; n < 5; n++) await ctx.spawnChildAndAwait('child', n)
            if (failures++ === 0) throw new Error('only once')
            return 'at last'
          },
          child: () => delay(20, 1),
        },
        { retryPolicy: { maxAttempts: 2 } },
      )
      const task = await ended(runner!, await submit(runner!))
      expect(task).toMatchObject({ status: 'succeeded', result: 'at last' })
      expect(statusesOf(task).filter((status) => status === 'failed')).toHaveLength(1)
      expect(statusesOf(task)).toContain('suspended')
      expect(task.childTaskIds).toHaveLength(5)
    })

    it('T19 takes failed children anew in a retry, and keeps the others', async () => {
      let bad = 0
      const [runner] = await setUp(
        {
          parent: async (ctx) => [await ctx.spawnChildAndAwait('child', 1), await ctx.spawnChildAndAwait('bad', 2)],
          child: () => Promise.resolve('kept'),
          bad: () => (++bad <= 2 ? Promise.reject(new Error('not yet')) : Promise.resolve('mended')),
        },
        { retryPolicy: { maxAttempts: 2 } },
      )
      const task = await ended(runner!, await submit(runner!))
      expect(task).toMatchObject({ status: 'succeeded', result: ['kept', 'mended'] })
      expect(task.childTaskIds).toHaveLength(3)
    })

    it.each(['succeeded', 'failed'] as const)(
      'cancels children that a parent leaves behind, when it has %s',
      async (how) => {
        const running = deferred()
        const [runner] = await setUp({
          parent: async (ctx) => {
            await ctx.spawnChild('middle', 1)
            await running.promise
            if (how === 'failed') throw new Error('no')
          },
          middle: (ctx) => ctx.spawnChildAndAwait('slow', 1),
          slow: (ctx, payload) => {
            running.resolve()
            return untilAborted(ctx, payload)
          },
        })
        const parent = await ended(runner!, await submit(runner!))
        expect(parent.status).toBe(how)
        const [middle] = parent.childTaskIds
        const child = await ended(runner!, { id: middle! })
        expect(child.status).toBe('cancelled')
        const reason = how === 'failed' ? 'parent-failed' : 'parent-completed'
        expect(child.events).toContainEqual(expect.objectContaining({ kind: 'cancellation-requested', reason }))
        expect((await ended(runner!, { id: child.childTaskIds[0]! })).status).toBe('cancelled')
      },
    )

    it('leaves children alone when the parent will be tried again', async () => {
      const [runner] = await setUp(
        {
          parent: async (ctx) => {
            const handle = await ctx.spawnChild<number, string>('child', 1)
            if (ctx.attempt === 1) throw new Error('once')
            return ctx.awaitChildren([handle])
          },
          child: async () => delay(100, 'done'),
        },
        { retryPolicy: { maxAttempts: 3 } },
      )
      const task = await ended(runner!, await submit(runner!))
      expect(task).toMatchObject({ status: 'succeeded', result: ['done'] })
      expect(task.childTaskIds).toHaveLength(1)
    })

    it.each([0, 1])('cancels a waiting parent with three running children, from runner %i', async (canceller) => {
      let running = 0
      const runners = await setUp(
        {
          parent: async (ctx) =>
            ctx.awaitChildren(await Promise.all([1, 2, 3].map((n) => ctx.spawnChild<number, void>('slow', n)))),
          slow: (ctx, payload) => {
            running++
            return untilAborted(ctx, payload)
          },
        },
        { count: 2 },
      )
      const parent = await submit(runners[0]!)
      await waiting(runners[0]!, parent)
      await until(() => running === 3)
      await runners[canceller]!.cancel(parent.id, 'too slow')
      expect((await read(runners[0]!, parent.id)).status).toBe('cancelled')
      const { childTaskIds } = await read(runners[0]!, parent.id)
      for (const id of childTaskIds) expect((await ended(runners[0]!, { id })).status).toBe('cancelled')
      expect((await read(runners[0]!, parent.id)).status).toBe('cancelled')
    })

    it('T24 T26 ends a parent as cancelled that suspends while it is told to, and refuses its children', async () => {
      const running = deferred()
      const cancelled = deferred()
      const refused = deferred<unknown>()
      const [runner] = await setUp({
        parent: async (ctx) => {
          const handle = await ctx.spawnChild<number, void>('slow', 1)
          running.resolve()
          await cancelled.promise
          await ctx.spawnChild('slow', 2).catch(refused.resolve)
          await ctx.awaitChildren([handle])
        },
        slow: untilAborted,
      })
      const parent = await submit(runner!)
      await running.promise
      await runner!.cancel(parent.id, 'why')
      cancelled.resolve()
      expect(await refused.promise).toMatchObject({ name: 'TaskCancelledError' })
      const task = await ended(runner!, parent)
      expect(task.status).toBe('cancelled')
      expect(task.childTaskIds).toHaveLength(1)
      expect((await ended(runner!, { id: task.childTaskIds[0]! })).status).toBe('cancelled')
    })

    it(
      'T2 G11 runs a parent again once, however its children and its suspension race',
      { timeout: 60_000 },
      async () => {
        const runs = new Map<string, number>()
        const runners = await setUp(
          {
            parent: async (ctx, payload) => {
              runs.set(ctx.taskId, (runs.get(ctx.taskId) ?? 0) + 1)
              const handles = [1, 2, 3].map((n) => ctx.spawnChild<number, number>('child', n))
              return [payload, ...(await ctx.awaitChildren(await Promise.all(handles)))]
            },
            child: (_, n) => Promise.resolve(n),
          },
          { count: 2 },
        )
        const tasks = await Promise.all(Array.from({ length: 40 }, (_, n) => submit(runners[n % 2]!, n)))
        for (const [n, submitted] of tasks.entries()) {
          const task = await ended(runners[0]!, submitted)
          expect(task).toMatchObject({ status: 'succeeded', result: [n, 1, 2, 3] })
          expect(task.childTaskIds).toHaveLength(3)
          expect(task.attempts.length).toBeLessThanOrEqual(2)
          expect(runs.get(task.id)).toBe(task.attempts.length)
        }
      },
    )

    it('T56 takes 2,000 children of one parent, and spawns nothing twice', { timeout: 60_000 }, async () => {
      const [runner] = await setUp({
        parent: async (ctx) => {
          const handles = await Promise.all(
            Array.from({ length: 2_000 }, (_, n) => ctx.spawnChild<number, number>('child', n)),
          )
          const results = await ctx.awaitChildren(handles)
          return results.reduce((sum, n) => sum + n, 0)
        },
        child: (_, n) => Promise.resolve(n),
      })
      const { id } = await submit(runner!)
      const task = await until(
        async () => {
          const found = await read(runner!, id)
          return isTerminalStatus(found.status) && found
        },
        { timeoutMs: 50_000, intervalMs: 100, description: 'the parent of 2,000 has ended' },
      )
      expect(task).toMatchObject({ status: 'succeeded', result: 1_999_000 })
      expect(task.childTaskIds).toHaveLength(2_000)
      expect(statusesOf(task)).toEqual(['suspended', 'succeeded'])
    })

    it('T56 wakes one parent after the other in a tree that is 1,000 deep', { timeout: 60_000 }, async () => {
      const bottom = deferred()
      const gate = deferred()
      const [runner] = await setUp({
        parent: async (ctx, payload) => {
          const depth = payload as number
          if (depth === 0) {
            bottom.resolve()
            return gate.promise.then(() => 0)
          }
          return 1 + (await ctx.spawnChildAndAwait<number, number>('parent', depth - 1))
        },
      })
      const root = await submit(runner!, DEPTH)
      await bottom.promise
      await allWait(runner!, root)
      gate.resolve()
      expect(await runner!.waitFor(root.id, { timeoutMs: 50_000 })).toBe(DEPTH)
      const tasks = await chainBelow(runner!, root)
      expect(tasks).toHaveLength(DEPTH + 1)
      expect(tasks.map(({ result }) => result)).toEqual(tasks.map((_, index) => DEPTH - index))
      // Each was woken by its child, and run again only once.
      for (const task of tasks.slice(0, -1)) expect(statusesOf(task)).toEqual(['suspended', 'succeeded'])
    })

    it('T56 cancels a tree that is 1,000 deep, all of it', { timeout: 60_000 }, async () => {
      const bottom = deferred()
      const [runner] = await setUp({
        parent: async (ctx, payload) => {
          const depth = payload as number
          if (depth === 0) {
            bottom.resolve()
            return untilAborted(ctx, payload)
          }
          return ctx.spawnChildAndAwait<number, number>('parent', depth - 1)
        },
      })
      const root = await submit(runner!, DEPTH)
      await bottom.promise
      const grown = await allWait(runner!, root)
      expect(grown).toHaveLength(DEPTH + 1)
      await runner!.cancel(root.id, 'too deep')
      await ended(runner!, grown.at(-1)!)
      const tasks = await chainBelow(runner!, root)
      expect(tasks.map(({ id, status }) => [id, status])).toEqual(grown.map(({ id }) => [id, 'cancelled']))
      const reasonsOf = ({ events }: Task) =>
        events.flatMap((event) => (event.kind === 'cancellation-requested' ? [event.reason] : []))
      for (const task of tasks) expect(reasonsOf(task)).toEqual(['too deep'])
    })
  })
}
