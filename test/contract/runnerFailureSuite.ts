import {
  ChildTaskError,
  defineTaskHandler,
  InvalidArgumentError,
  TaskExpiredError,
  TaskFailedError,
  type SettledChildResult,
  type SubmitOptions,
  type Task,
  type TaskContext,
  type TaskRunner,
  type TaskUpdate,
} from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { RunnersHarness } from './runnerSuite.js'

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => unknown

/** What any task runner has to do about tasks that fail without having been run, and about those that have failed. */
export const runnerFailureSuite = (name: string, makeRunners: (count: number) => Promise<RunnersHarness>): void => {
  describe(`${name} as a runner of tasks that fail`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const setUp = async (count = 1): Promise<TaskRunner[]> => {
      const harness = await makeRunners(count)
      cleanups.push(() => harness.dispose())
      return [...harness.runners]
    }

    const setUpOne = async (): Promise<TaskRunner> => (await setUp())[0]!

    const work = (runner: TaskRunner, handlers: Record<string, Handler>): void => {
      runner.registerWorker({
        name: 'worker',
        handlers: Object.entries(handlers).map(([type, handler]) =>
          defineTaskHandler<unknown, unknown>({ type, version: 1, handler }),
        ),
        concurrency: 4,
        tags: [],
        compatibleVersions: {},
      })
    }

    const submit = (runner: TaskRunner, more: Partial<SubmitOptions<unknown>> = {}): Promise<Task> =>
      runner.submit({ type: 'mail', handlerVersion: 1, payload: { n: 1 }, ...more })

    const inMs = (ms: number): Date => new Date(Date.now() + ms)

    const failed = (runner: TaskRunner, { id }: { id: string }): Promise<Task> =>
      until(
        async () => {
          const task = await runner.get(id)
          return task?.status === 'failed' && task
        },
        { timeoutMs: 10_000, intervalMs: 10, description: `task ${id} has failed` },
      )

    describe('startBefore', () => {
      it('fails a task that no worker has begun by then', async () => {
        const [runner, other] = await setUp(2)
        const startBefore = inMs(100)
        const task = await submit(runner!, { startBefore })
        expect(task.startBefore).toBe(startBefore.toISOString())
        const waits = [runner!, other!].map((one) => one.waitFor(task.id).catch((error: unknown) => error))
        const errors = await Promise.all(waits)
        const error = { name: 'TaskExpiredError', message: new TaskExpiredError(task.id).message }
        for (const one of errors) expect(one).toBeInstanceOf(TaskFailedError)
        expect(errors).toMatchObject([{ error }, { error }])
        expect(await runner!.get(task.id)).toMatchObject({ status: 'failed', error, attempts: [] })
      })

      it('is kept to by workers, for delayed tasks and started drafts as well', async () => {
        const runner = await setUpOne()
        const runs: unknown[] = []
        const past = { startBefore: inMs(-1_000) }
        const tasks = [
          await submit(runner, past),
          await submit(runner, { notBefore: inMs(-2_000), ...past }),
          await submit(runner, { notBefore: inMs(200), startBefore: inMs(201) }),
        ]
        const draft = await runner.draft({ type: 'mail', handlerVersion: 1, payload: 1, ...past })
        tasks.push(await runner.start(draft.id))
        const updates: TaskUpdate[] = []
        using _subscription = runner.subscribeByType('mail', (update) => updates.push(update))
        await until(() => Date.now() > Date.parse(tasks[2]!.startBefore!))
        work(runner, { mail: (ctx) => runs.push(ctx.taskId) })
        for (const task of tasks) {
          expect(await failed(runner, task)).toMatchObject({ error: { name: 'TaskExpiredError' }, attempts: [] })
        }
        const ends = updates.flatMap((update) =>
          update.kind === 'status' && update.status === 'failed' ? [update] : [],
        )
        expect(new Set(ends.map(({ taskId }) => taskId)).size).toBe(ends.length)
        expect(runs).toEqual([])
      })

      it('does not touch a task that has begun, however long that takes', async () => {
        const runner = await setUpOne()
        const startBefore = inMs(2_000)
        const began = deferred()
        work(runner, {
          mail: async () => {
            began.resolve()
            await until(() => Date.now() > startBefore.getTime() + 200)
            return 'done'
          },
        })
        const { id } = await submit(runner, { startBefore })
        await began.promise
        expect(await runner.waitFor(id)).toBe('done')
      })

      it('T57 frees a parent from a child that nobody can run', async () => {
        const runner = await setUpOne()
        work(runner, {
          parent: async (ctx) => {
            const startBefore = new Date(ctx.now().getTime() + 150)
            const child = await ctx.spawnChild('nobody', 1, { startBefore })
            return ctx.awaitChildrenSettled([child])
          },
          strict: async (ctx) => {
            const startBefore = new Date(ctx.now().getTime() + 150)
            await ctx.spawnChildAndAwait('nobody', 1, { startBefore })
          },
        })
        const [parent, strict] = await runner.submitMany(
          ['parent', 'strict'].map((type) => ({ type, handlerVersion: 1, payload: 1 })),
        )
        const [child] = await runner.waitFor<Array<SettledChildResult<unknown>>>(parent!.id)
        expect(child).toMatchObject({ status: 'failed', error: { name: 'TaskExpiredError' } })
        expect((await failed(runner, strict!)).error?.name).toBe(ChildTaskError.name)
      })

      it('has to be a date, later than notBefore', async () => {
        const runner = await setUpOne()
        const wrong: Array<Partial<SubmitOptions<unknown>>> = [
          { startBefore: new Date(Number.NaN) },
          { startBefore: '2030-01-01' as never },
          { startBefore: new Date(5_000), notBefore: new Date(5_000) },
        ]
        for (const more of wrong) {
          await expect(submit(runner, more)).rejects.toThrow(InvalidArgumentError)
          await expect(submit(runner, more)).rejects.toThrow(/startBefore/)
        }
      })
    })
  })
}
