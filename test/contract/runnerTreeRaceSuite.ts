import {
  defineTaskHandler,
  isTerminalStatus,
  type Task,
  type TaskContext,
  type TaskRunner,
  type TaskTreeNode,
} from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { MakeRunners } from './runnerSuite.js'

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => Promise<unknown>

/** What any task runner has to do about trees that still grow while their root ends. */
export const runnerTreeRaceSuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} as a runner of growing trees`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    /** Two runners, so that whoever cancels has another connection than whoever spawns, with a worker each. */
    const setUp = async (handlers: Record<string, Handler>): Promise<[TaskRunner, TaskRunner]> => {
      const harness = await makeRunners(2)
      cleanups.push(() => harness.dispose())
      for (const runner of harness.runners) {
        runner.registerWorker({
          name: 'worker',
          handlers: Object.entries(handlers).map(([type, handler]) =>
            defineTaskHandler<unknown, unknown>({ type, version: 1, handler }),
          ),
          concurrency: 10,
          tags: [],
          compatibleVersions: {},
        })
      }
      return [...harness.runners] as [TaskRunner, TaskRunner]
    }

    const submit = (runner: TaskRunner, payload: unknown): Promise<Task> =>
      runner.submit({ type: 'root', handlerVersion: 1, payload })

    /** All tasks of a tree, root first, once each of them has ended. */
    const whenAllEnded = (runner: TaskRunner, { id }: Task): Promise<Task[]> =>
      until(
        async () => {
          const tasks = flatten(await runner.getTree(id))
          return tasks.every(({ status }) => isTerminalStatus(status)) && tasks
        },
        { intervalMs: 50, description: `the tree of ${id} has ended` },
      )

    it('T26 makes and cancels each child that a parent spawns while it is cancelled, or refuses it', async () => {
      const parents = Array.from({ length: 10 }, (_, index) => ({
        /** So many children are there when the cancel is sent. */
        enough: index * 3 + 1,
        made: new Array<string>(),
        reached: deferred(),
        refusal: deferred<unknown>(),
      }))
      const [spawner, canceller] = await setUp({
        root: async (ctx, index) => {
          const { enough, made, reached, refusal } = parents[index as number]!
          const spawn = async (): Promise<void> => {
            made.push((await ctx.spawnChild('nobody', 0)).taskId)
            if (made.length === enough) reached.resolve()
          }
          // Only a refusal ends this.
          const spawnOn = async (): Promise<never> => {
            for (;;) await spawn()
          }
          // Where rows answer at once, a cancel is all over before the next answer of a queue comes.
          const spawnMeanwhile = async (): Promise<void> => {
            await reached.promise
            for (let n = 0; n < 20; n++) await Promise.race([spawn(), Promise.resolve()])
          }
          try {
            return await Promise.all([spawnOn(), spawnOn(), spawnMeanwhile()])
          } catch (error) {
            refusal.resolve(error)
            throw error
          }
        },
      })
      await Promise.all(
        parents.map(async ({ enough, made, reached, refusal }, index) => {
          const root = await submit(spawner, index)
          await reached.promise
          await canceller.cancel(root.id, 'enough')
          expect(await refusal.promise).toMatchObject({ name: 'TaskCancelledError', reason: 'enough' })
          const [{ childTaskIds, events }, ...children] = (await whenAllEnded(spawner, root)) as [Task, ...Task[]]
          expect(made.length).toBeGreaterThanOrEqual(enough)
          expect(childTaskIds).toEqual(expect.arrayContaining(made))
          expect(new Set(childTaskIds).size).toBe(childTaskIds.length)
          expect(children.map(({ id }) => id)).toEqual(childTaskIds)
          expect(new Set(children.map(({ status }) => status))).toEqual(new Set(['cancelled']))
          // The row refuses from the moment of the request on, long before the run has heard of it.
          const kinds = events.map(({ kind }) => kind)
          expect(kinds).toContain('cancellation-requested')
          expect(kinds.slice(kinds.indexOf('cancellation-requested'))).not.toContain('spawned-child')
        }),
      )
    })

    it.each(['cancelled', 'succeeded', 'failed'] as const)(
      'T26 leaves nothing alive below a root that ends as %s while its tree grows',
      async (how) => {
        const LEVELS = 5
        const trees = Array.from({ length: 6 }, (_, index) => ({
          /** So many tasks below the root have been begun when it ends. */
          enough: index * 9 + 1,
          begun: new Set<string>(),
          spawned: new Set<string>(),
          reached: deferred(),
        }))
        const spawnTwo = async (ctx: TaskContext<unknown>, index: number, level: number) => {
          const handles = []
          for (let n = 0; n < 2; n++) {
            const handle = await ctx.spawnChild<unknown, void>('node', { index, level })
            trees[index]!.spawned.add(handle.taskId)
            handles.push(handle)
          }
          return handles
        }
        const [spawner, canceller] = await setUp({
          root: async (ctx, payload) => {
            const index = payload as number
            const children = await spawnTwo(ctx, index, 1)
            if (how === 'cancelled') return ctx.awaitChildren(children)
            await trees[index]!.reached.promise
            if (how === 'failed') throw new Error('no')
          },
          node: async (ctx, payload) => {
            const { index, level } = payload as { index: number; level: number }
            const { begun, enough, reached } = trees[index]!
            if (begun.add(ctx.taskId).size === enough) reached.resolve()
            // Nothing ends by itself, and nothing keeps a slot.
            if (level === LEVELS) return ctx.sleep(3_600_000)
            return ctx.awaitChildren(await spawnTwo(ctx, index, level + 1))
          },
        })
        const sizes = await Promise.all(
          trees.map(async ({ reached, spawned }, index) => {
            const submitted = await submit(spawner, index)
            await reached.promise
            if (how === 'cancelled') await canceller.cancel(submitted.id)
            const [root, ...below] = (await whenAllEnded(canceller, submitted)) as [Task, ...Task[]]
            expect(root.status).toBe(how)
            expect(below.map(({ id }) => id)).toEqual(expect.arrayContaining([...spawned]))
            expect(new Set(below.map(({ status }) => status))).toEqual(new Set(['cancelled']))
            return below.length
          }),
        )
        // Some of them were still growing.
        expect(Math.min(...sizes)).toBeLessThan(2 ** (LEVELS + 1) - 2)
      },
    )
  })
}

const flatten = ({ task, children }: TaskTreeNode): Task[] => [task, ...children.flatMap(flatten)]
