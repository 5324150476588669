import {
  ChildTaskError,
  defineTaskHandler,
  InvalidArgumentError,
  InvalidTaskStateError,
  ResendRefusedError,
  TaskExpiredError,
  TaskFailedError,
  UnknownTaskError,
  type DeadLetter,
  type ListDeadLetters,
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
        { intervalMs: 10, description: `task ${id} has failed` },
      )

    /** All pages, one letter after the other. */
    const listAll = async ({ deadLetters }: TaskRunner, query: ListDeadLetters = {}): Promise<DeadLetter[]> => {
      const letters: DeadLetter[] = []
      for (let cursor: string | undefined; ;) {
        const page = await deadLetters.list({ ...query, cursor })
        letters.push(...page.letters)
        cursor = page.cursor
        if (cursor === undefined) return letters
      }
    }

    /** A runner with a worker whose handlers fail as long as they are told to, and count their runs. */
    const setUpFailing = async (count = 1) => {
      const runners = await setUp(count)
      const state = { isBroken: true, runs: [] as string[] }
      for (const runner of runners) {
        work(runner, {
          mail: ({ taskId }, payload) => {
            state.runs.push(taskId)
            if (state.isBroken) throw new RangeError('broken')
            return payload
          },
        })
      }
      const fail = async (runner: TaskRunner, number: number): Promise<Task[]> => {
        const tasks = await runner.submitMany(
          Array.from({ length: number }, (_, payload) => ({ type: 'mail', handlerVersion: 1, payload })),
        )
        return Promise.all(tasks.map((task) => failed(runner, task)))
      }
      return { runners, runner: runners[0]!, state, fail }
    }

    describe('deadLetters', () => {
      it('lists what has failed, newest first, page by page', async () => {
        const { runner, fail } = await setUpFailing()
        const tasks = await fail(runner, 5)
        await submit(runner, { startBefore: inMs(-1), type: 'nobody' }).then((task) => failed(runner, task))
        const byEnd = [...tasks].sort((a, b) => (a.terminalAt! < b.terminalAt! ? 1 : -1))
        const letters = await listAll(runner, { type: 'mail', limit: 2 })
        expect(letters.map(({ at }) => at)).toEqual(byEnd.map(({ terminalAt }) => terminalAt))
        expect(new Set(letters.map(({ id }) => id))).toEqual(new Set(tasks.map(({ id }) => id)))
        expect(letters[0]).toMatchObject({
          kind: 'task',
          reason: 'failed',
          task: {
            status: 'failed',
            error: { name: 'RangeError', message: 'broken' },
            attempts: [{ status: 'failed' }],
          },
        })
        const all = await listAll(runner)
        expect(all.map(({ at }) => at)).toEqual(
          all
            .map(({ at }) => at)
            .sort()
            .reverse(),
        )
        // It is the last one, but may have ended in the same millisecond as another.
        expect(all.map(({ type, reason }) => `${type} ${reason}`).sort()).toEqual([
          ...tasks.map(() => 'mail failed'),
          'nobody expired',
        ])
        expect(all.find(({ type }) => type === 'nobody')?.at).toBe(all[0]?.at)
        expect(await listAll(runner, { reason: 'expired', limit: 1 })).toMatchObject([{ type: 'nobody' }])
        expect(await listAll(runner, { reason: 'lost' })).toEqual([])
        const { deadLetters } = runner
        expect(await deadLetters.count()).toBe(6)
        expect(await deadLetters.count({ type: 'mail' })).toBe(5)
        expect(await deadLetters.get(tasks[0]!.id)).toMatchObject({ id: tasks[0]!.id, task: tasks[0] })
        expect(await deadLetters.get('nobody')).toBeUndefined()
      })

      it('sends one again, to be run as if it had just been submitted', async () => {
        const { runner, state, fail } = await setUpFailing()
        const [task] = await fail(runner, 1)
        const updates: TaskUpdate[] = []
        using _subscription = runner.subscribe(task!.id, (update) => updates.push(update))
        state.isBroken = false
        await runner.deadLetters.resend(task!.id)
        expect(await runner.waitFor(task!.id)).toBe(0)
        const row = await runner.get(task!.id)
        expect(row).toMatchObject({ status: 'succeeded', attempts: [{ status: 'failed' }, { status: 'succeeded' }] })
        expect(row?.error).toBeUndefined()
        expect(row?.events.map(({ kind }) => kind)).toContain('resent')
        expect(updates.flatMap((update) => (update.kind === 'status' ? [update.status] : []))).toEqual([
          'pending',
          'claimed',
          'running',
          'succeeded',
        ])
        expect(await runner.deadLetters.count()).toBe(0)
        await expect(runner.deadLetters.resend(task!.id)).rejects.toThrow(InvalidTaskStateError)
        await expect(runner.deadLetters.resend('nobody')).rejects.toThrow(UnknownTaskError)
      })

      it('sends many again, each once, however many ask for it', async () => {
        const { runners, runner, state, fail } = await setUpFailing(2)
        const tasks = await fail(runner, 30)
        state.isBroken = false
        state.runs.length = 0
        const reports = await Promise.all(
          runners.flatMap(({ deadLetters }) => [
            deadLetters.resend({ type: 'mail' }),
            deadLetters.resend({ type: 'mail', reason: 'failed' }),
          ]),
        )
        expect(reports.reduce((sum, { resent }) => sum + resent, 0)).toBe(30)
        expect(reports.every(({ refused }) => refused === 0)).toBe(true)
        const results = await Promise.all(tasks.map(({ id }) => runner.waitFor(id)))
        expect(results).toEqual(tasks.map(({ payload }) => payload))
        expect(state.runs.sort()).toEqual(tasks.map(({ id }) => id).sort())
      })

      it('does not send again what fails again in the meantime', async () => {
        const { runner, state, fail } = await setUpFailing()
        const tasks = await fail(runner, 20)
        state.runs.length = 0
        expect(await runner.deadLetters.resend({ type: 'mail' })).toEqual({ resent: 20, refused: 0, refusals: [] })
        await until(() => state.runs.length >= 20, { description: 'all to have run again' })
        for (const task of tasks) await failed(runner, task)
        expect(state.runs).toHaveLength(20)
      })

      it('takes only what is selected, oldest first', async () => {
        const { runner, state, fail } = await setUpFailing()
        const [first] = await fail(runner, 1)
        await until(() => Date.now() > Date.parse(first!.terminalAt!) + 5)
        const rest = await fail(runner, 3)
        const { deadLetters } = runner
        expect(await deadLetters.resend({ type: 'post' })).toMatchObject({ resent: 0 })
        expect(await deadLetters.resend({ type: 'mail', reason: 'expired' })).toMatchObject({ resent: 0 })
        expect(await deadLetters.discard({ type: 'mail', olderThan: new Date(first!.terminalAt!) })).toBe(0)
        state.isBroken = false
        const olderThan = new Date(Date.parse(first!.terminalAt!) + 1)
        expect(await deadLetters.resend({ type: 'mail', olderThan })).toMatchObject({ resent: 1 })
        expect(await runner.waitFor(first!.id)).toBe(0)
        expect(await deadLetters.resend({ type: 'mail', limit: 2 })).toMatchObject({ resent: 2 })
        expect(await deadLetters.discard({ type: 'mail', limit: 1 })).toBe(1)
        expect(await deadLetters.count()).toBe(0)
        const rows = await Promise.all(rest.map(({ id }) => runner.get(id)))
        expect(rows.filter((row) => row === undefined)).toHaveLength(1)
      })

      it('discards one for good', async () => {
        const { runner, fail } = await setUpFailing()
        const [task, other] = await fail(runner, 2)
        await runner.deadLetters.discard(task!.id)
        expect(await runner.get(task!.id)).toBeUndefined()
        expect((await listAll(runner)).map(({ id }) => id)).toEqual([other!.id])
        await expect(runner.deadLetters.discard(task!.id)).rejects.toThrow(UnknownTaskError)
        const pending = await submit(runner, { type: 'nobody' })
        await expect(runner.deadLetters.discard(pending.id)).rejects.toThrow(InvalidTaskStateError)
      })

      it('keeps what children of a parent that is sent again have done, unless it is to begin from scratch', async () => {
        const runner = await setUpOne()
        const runs = { parent: 0, child: 0 }
        work(runner, {
          parent: async (ctx) => {
            const child = await ctx.spawnChildAndAwait<number, number>('child', 1)
            if (runs.parent++ < 2) throw new Error('not yet')
            return child
          },
          child: () => ++runs.child,
        })
        const task = await submit(runner, { type: 'parent' })
        await failed(runner, task)
        await runner.deadLetters.resend(task.id)
        await until(async () => (await runner.get(task.id))?.status === 'failed' && runs.parent === 2)
        expect(runs.child).toBe(1)
        await runner.deadLetters.resend(task.id, { fromScratch: true })
        expect(await runner.waitFor(task.id)).toBe(2)
        expect((await runner.get(task.id))?.childTaskIds).toHaveLength(2)
      })

      it('refuses a child whose parent is over, and tells so', async () => {
        const runner = await setUpOne()
        work(runner, {
          parent: async (ctx) => {
            const children = await Promise.all([1, 2].map((n) => ctx.spawnChild('child', n)))
            await ctx.awaitChildrenSettled(children)
          },
          child: () => Promise.reject(new Error('no')),
        })
        const parent = await submit(runner, { type: 'parent' })
        await runner.waitFor(parent.id)
        const [child] = (await runner.get(parent.id))!.childTaskIds
        const refusal = await runner.deadLetters.resend(child!).catch((error: unknown) => error)
        expect(refusal).toBeInstanceOf(ResendRefusedError)
        expect(refusal).toMatchObject({ id: child, refusal: 'parent-ended', by: parent.id })
        const report = await runner.deadLetters.resend({ type: 'child' })
        expect(report).toMatchObject({ resent: 0, refused: 2 })
        expect(report.refusals.map(({ id, refusal: why }) => [id, why])).toContainEqual([child, 'parent-ended'])
        expect(await runner.deadLetters.count({ type: 'child' })).toBe(2)
      })

      it('refuses what makes no sense', async () => {
        const { deadLetters } = await setUpOne()
        const calls: Array<() => Promise<unknown>> = [
          () => deadLetters.list({ limit: 0 }),
          () => deadLetters.list({ limit: 101 }),
          () => deadLetters.list({ reason: 'bored' as never }),
          () => deadLetters.list({ type: '' }),
          () => deadLetters.list({ cursor: 'nonsense' }),
          () => deadLetters.list({ cursor: Buffer.from('[{"at":1}]').toString('base64url') }),
          () => deadLetters.count({ type: '' }),
          () => deadLetters.get(''),
          () => deadLetters.resend(''),
          () => deadLetters.resend({} as never),
          () => deadLetters.resend({ type: 'mail', limit: 0 }),
          () => deadLetters.resend({ type: 'mail', olderThan: 'today' as never }),
          () => deadLetters.discard({ type: 'mail', reason: 'bored' as never }),
          () => deadLetters.discard(undefined as never),
        ]
        for (const call of calls) await expect(call()).rejects.toThrow(InvalidArgumentError)
      })
    })

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
