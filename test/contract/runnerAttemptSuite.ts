import { setTimeout as delay } from 'node:timers/promises'

import {
  AttemptTimeoutError,
  defineTaskHandler,
  isTerminalStatus,
  type BackoffFailure,
  type BackoffFunction,
  type DefineTaskHandlerOptions,
  type Task,
  type TaskContext,
  type TaskRunner,
} from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { MakeRunners } from './runnerSuite.js'

type Handler = (ctx: TaskContext<unknown>) => unknown

/** What any task runner has to do about the time that an attempt may take, and about the pause before the next one. */
export const runnerAttemptSuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} as a runner of attempts`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    /** A runner with a worker that runs one task at a time, and a task of its handler. */
    const setUp = async (
      handler: Handler,
      more: Partial<DefineTaskHandlerOptions<unknown, unknown>>,
    ): Promise<{ runner: TaskRunner; id: string }> => {
      const harness = await makeRunners(1)
      cleanups.push(() => harness.dispose())
      const [runner] = harness.runners
      runner!.registerWorker({
        name: 'worker',
        handlers: [defineTaskHandler<unknown, unknown>({ type: 'mail', version: 1, handler, ...more })],
        concurrency: 1,
        tags: [],
        compatibleVersions: {},
      })
      return { runner: runner!, id: await submit(runner!) }
    }

    const submit = async (runner: TaskRunner): Promise<string> =>
      (await runner.submit({ type: 'mail', handlerVersion: 1, payload: null })).id

    const becomes = (runner: TaskRunner, id: string, predicate: (task: Task) => boolean): Promise<Task> =>
      until(
        async () => {
          const task = await runner.get(id)
          return task !== undefined && predicate(task) && task
        },
        { intervalMs: 10, description: `task ${id} is as awaited` },
      )

    const ended = (runner: TaskRunner, id: string): Promise<Task> =>
      becomes(runner, id, ({ status }) => isTerminalStatus(status))

    /** Milliseconds between the attempts, by the clock of the store. */
    const pausesOf = ({ attempts }: Task): number[] =>
      attempts.slice(1).map(({ startedAt }, index) => Date.parse(startedAt) - Date.parse(attempts[index]!.finishedAt!))

    describe('attemptTimeoutMs', () => {
      it('T39 fails an attempt that takes longer, whose slot the next one gets, and to which nobody listens any more', async () => {
        const reasons: unknown[] = []
        const remaining: number[] = []
        const gate = deferred<string>()
        const { runner, id } = await setUp(
          (ctx) => {
            if (ctx.attempt > 1) return 'at last'
            ctx.cancellationSignal.addEventListener('abort', () => {
              reasons.push(ctx.cancellationSignal.reason)
              remaining.push(ctx.remainingMs)
            })
            return gate.promise
          },
          { attemptTimeoutMs: 200, retryPolicy: { maxAttempts: 2 } },
        )
        await becomes(runner, id, ({ status }) => status === 'succeeded')
        gate.resolve('too late')
        // What becomes of the late result has become of it by the time that another task has been run.
        const next = await submit(runner)
        expect((await ended(runner, next)).result).toBe('too late')
        const error = new AttemptTimeoutError(id, 1, 200)
        expect(reasons).toEqual([error])
        expect(remaining).toEqual([0])
        const task = await ended(runner, id)
        expect(task).toMatchObject({
          status: 'succeeded',
          result: 'at last',
          attempts: [
            { status: 'failed', error: { name: error.name, message: error.message } },
            { status: 'succeeded' },
          ],
        })
        const [{ startedAt, finishedAt }] = task.attempts as [Task['attempts'][number]]
        expect(Date.parse(finishedAt!) - Date.parse(startedAt)).toBeGreaterThanOrEqual(190)
      })

      it('T39 fails the task with the last attempt, as one to be looked at', async () => {
        const { runner, id } = await setUp(() => new Promise(() => undefined), { attemptTimeoutMs: 50 })
        const error = { name: 'AttemptTimeoutError', message: new AttemptTimeoutError(id, 1, 50).message }
        expect(await ended(runner, id)).toMatchObject({ status: 'failed', error, attempts: [{ status: 'failed' }] })
        expect(await runner.deadLetters.get(id)).toMatchObject({ id, reason: 'failed', task: { error } })
      })
    })

    describe('remainingMs', () => {
      it('tells how much of the time is left, which each attempt has anew', async () => {
        const seen: number[] = []
        const { runner, id } = await setUp(
          async (ctx) => {
            seen.push(ctx.remainingMs)
            if (ctx.attempt > 1) return
            await delay(300)
            seen.push(ctx.remainingMs)
            throw new Error('once')
          },
          { attemptTimeoutMs: 60_000, retryPolicy: { maxAttempts: 2 } },
        )
        expect(await ended(runner, id)).toMatchObject({ status: 'succeeded' })
        const [atFirst, later, again] = seen as [number, number, number]
        expect(atFirst).toBeLessThanOrEqual(60_000)
        expect(later).toBeLessThanOrEqual(atFirst - 299)
        expect(later).toBeGreaterThan(30_000)
        expect(again).toBeGreaterThan(later)
      })

      it('is Infinity where an attempt may take as long as it likes', async () => {
        const seen: number[] = []
        const { runner, id } = await setUp(({ remainingMs }) => void seen.push(remainingMs), {})
        await ended(runner, id)
        expect(seen).toEqual([Infinity])
      })
    })

    describe('a back-off of one’s own', () => {
      const setUpFailing = (backoff: BackoffFunction, maxAttempts = 9) =>
        setUp(({ attempt }) => Promise.reject(new RangeError(`attempt ${attempt}`)), {
          retryPolicy: { maxAttempts, backoff, jitter: 1, baseDelayMs: 30_000 },
        })

      it('is asked with each failure that may be followed by another attempt, and has its pauses kept', async () => {
        const asked: BackoffFailure[] = []
        const pauses = [0, 250]
        const { runner, id } = await setUpFailing((failure) => {
          asked.push(failure)
          return pauses[failure.failures - 1]!
        }, 3)
        const task = await ended(runner, id)
        expect(task).toMatchObject({ status: 'failed', error: { name: 'RangeError', message: 'attempt 3' } })
        expect(asked).toEqual([
          { attempt: 1, failures: 1, error: new RangeError('attempt 1') },
          { attempt: 2, failures: 2, error: new RangeError('attempt 2') },
        ])
        expect(task.attempts.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
        const [none, some] = pausesOf(task) as [number, number]
        // The base would have made it wait for 30 seconds.
        expect(none).toBeLessThan(10_000)
        expect(some).toBeGreaterThanOrEqual(250)
        expect(some).toBeLessThan(10_000)
      })

      it('parks the task until the time that it says', async () => {
        const { runner, id } = await setUpFailing(() => 600_000)
        const { notBefore, attempts } = await becomes(runner, id, (task) => task.notBefore !== undefined)
        expect(attempts).toMatchObject([{ status: 'failed' }])
        const pauseMs = Date.parse(notBefore!) - Date.parse(attempts[0]!.finishedAt!)
        expect(pauseMs).toBeGreaterThanOrEqual(600_000)
        expect(pauseMs).toBeLessThan(601_000)
      })

      it('may forbid another attempt, by what the error is', async () => {
        const { runner, id } = await setUpFailing(({ error }) => (String(error).endsWith('2') ? 'never' : 0))
        const task = await ended(runner, id)
        expect(task).toMatchObject({ status: 'failed', error: { message: 'attempt 2' } })
        expect(task.attempts).toHaveLength(2)
        expect(await runner.deadLetters.get(id)).toMatchObject({ id, reason: 'failed' })
      })
    })
  })
}
