import { setTimeout as delay } from 'node:timers/promises'

import type { BlobStore } from '@furystack/blob-store'
import {
  type Clock,
  defineTaskHandler,
  isTerminalStatus,
  NonRetryableError,
  TaskCancelledError,
  type DefineTaskHandlerOptions,
  type RegisterWorkerOptions,
  type SubmitOptions,
  type Task,
  type TaskContext,
  type TaskRunner,
  type TaskRunnerTelemetry,
  type TaskStatus,
  type TaskUpdate,
  type Worker,
} from '@furystack/task-runner'
import { defer, from, lastValueFrom, merge, Observable, of, take, tap, throwError } from 'rxjs'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import type { Link } from '../support/link.js'
import { until } from '../support/until.js'
import { runnerAttemptSuite } from './runnerAttemptSuite.js'
import { runnerBlobSuite } from './runnerBlobSuite.js'
import { runnerIdempotencySuite } from './runnerIdempotencySuite.js'
import { runnerParentSuite } from './runnerParentSuite.js'
import { runnerFailureSuite } from './runnerFailureSuite.js'
import { runnerReplaySuite } from './runnerReplaySuite.js'
import { runnerRetentionSuite } from './runnerRetentionSuite.js'
import { runnerTreeRaceSuite } from './runnerTreeRaceSuite.js'
import { runnerTreeSuite } from './runnerTreeSuite.js'
import { runnerUnservedSuite } from './runnerUnservedSuite.js'
import { runnerWatchSuite } from './runnerWatchSuite.js'

/** Runners to be put through the suite: one a process, so to say, on one queue and one store that nobody else uses. */
export interface RunnersHarness {
  readonly runners: readonly TaskRunner[]
  /** Of all of them. */
  readonly telemetry: TaskRunnerTelemetry
  dispose(): Promise<void>
}

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => unknown

/** Long enough for something that must not happen to have happened. */
const QUIET_MS = 400

/** Makes so many of them. */
export type MakeRunners = (
  count: number,
  options?: {
    idempotencyTtlSec?: number
    blobStore?: BlobStore
    blobSweepIntervalMs?: number
    unservedAfterMs?: number
    maintenanceIntervalMs?: number
    reconcilerIntervalMs?: number
    maxPayloadBytes?: number
    /** Of the runners, not of their queue. */
    clock?: Clock
    /** What leads from the runners to their rows: each use has the name of an operation of the store. @default none */
    link?: Link
    /** What leads from the first of the runners to the bus, where that is another process. @default none */
    busLink?: Link
  },
) => Promise<RunnersHarness>

/** What any task runner has to do, whatever its queue and its store are. */
export const runnerSuite = (name: string, makeRunners: MakeRunners): void => {
  runnerAttemptSuite(name, makeRunners)
  runnerTreeSuite(name, makeRunners)
  runnerReplaySuite(name, makeRunners)
  runnerTreeRaceSuite(name, makeRunners)
  runnerFailureSuite(name, makeRunners)
  runnerRetentionSuite(name, makeRunners)
  runnerBlobSuite(name, makeRunners)
  runnerParentSuite(name, makeRunners)
  runnerIdempotencySuite(name, makeRunners)
  runnerUnservedSuite(name, makeRunners)
  runnerWatchSuite(name, makeRunners)

  describe(`${name} as a task runner`, () => {
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

    const handle = (handler: Handler, more: Partial<DefineTaskHandlerOptions<unknown, unknown>> = {}) =>
      defineTaskHandler<unknown, unknown>({ type: 'mail', version: 1, handler, ...more })

    const register = (
      runner: TaskRunner,
      handlers: Handler | RegisterWorkerOptions['handlers'],
      more: Partial<RegisterWorkerOptions> = {},
    ): Worker =>
      runner.registerWorker({
        name: 'worker',
        handlers: typeof handlers === 'function' ? [handle(handlers)] : handlers,
        concurrency: 4,
        tags: [],
        compatibleVersions: {},
        ...more,
      })

    const submit = (runner: TaskRunner, more: Partial<SubmitOptions<unknown>> = {}): Promise<Task> =>
      runner.submit({ type: 'mail', handlerVersion: 1, payload: { n: 1 }, ...more })

    const read = async (runner: TaskRunner, { id }: { id: string }): Promise<Task> => {
      const task = await runner.get(id)
      if (task === undefined) throw new Error(`no task ${id}`)
      return task
    }

    const ended = (runner: TaskRunner, { id }: { id: string }): Promise<Task> =>
      until(
        async () => {
          const task = await runner.get(id)
          return task !== undefined && isTerminalStatus(task.status) && task
        },
        { intervalMs: 10, description: `task ${id} has ended` },
      )

    const statusesOf = (updates: readonly TaskUpdate[]): TaskStatus[] =>
      updates.flatMap((update) => (update.kind === 'status' ? [update.status] : []))

    /** Waits for the signal, and throws its reason. */
    const untilAborted = ({ cancellationSignal }: TaskContext<unknown>): Promise<never> =>
      new Promise((_, reject) => {
        const abort = (): void => reject(cancellationSignal.reason as Error)
        if (cancellationSignal.aborted) abort()
        cancellationSignal.addEventListener('abort', abort, { once: true })
      })

    describe('a task', () => {
      it('succeeds with the result of its handler', async () => {
        const runner = await setUpOne()
        const contexts: Array<Pick<TaskContext<unknown>, 'taskId' | 'attempt' | 'payload'>> = []
        const worker = register(runner, (ctx, payload) => {
          contexts.push({ taskId: ctx.taskId, attempt: ctx.attempt, payload: ctx.payload })
          return Promise.resolve({ got: payload })
        })
        const submitted = await submit(runner, { submittedBy: 'somebody' })
        expect(submitted).toMatchObject({ type: 'mail', handlerVersion: 1, status: 'pending', payload: { n: 1 } })
        expect(submitted).toMatchObject({ submittedBy: 'somebody', attempts: [], childTaskIds: [], tags: [] })
        const task = await ended(runner, submitted)
        expect(task).toMatchObject({ id: submitted.id, status: 'succeeded', result: { got: { n: 1 } } })
        expect(task.attempts).toMatchObject([{ attempt: 1, status: 'succeeded', workerId: worker.workerId }])
        expect(task.terminalAt).toBeDefined()
        expect(contexts).toEqual([{ taskId: task.id, attempt: 1, payload: { n: 1 } }])
      })

      it('T40 fails with name and message, and without a stack', async () => {
        const runner = await setUpOne()
        register(runner, () => Promise.reject(new TypeError('no such address')))
        const task = await ended(runner, await submit(runner))
        expect(task.status).toBe('failed')
        expect(task.error).toEqual({ name: 'TypeError', message: 'no such address' })
        expect(task.attempts).toMatchObject([{ attempt: 1, status: 'failed', error: { message: 'no such address' } }])
      })

      it('is tried again with growing pauses', async () => {
        const runner = await setUpOne()
        const starts: number[] = []
        const handler = handle(
          ({ attempt }) => {
            starts.push(Date.now())
            return attempt < 3 ? Promise.reject(new Error(`attempt ${attempt}`)) : Promise.resolve('at last')
          },
          { retryPolicy: { maxAttempts: 3, backoff: 'exponential', baseDelayMs: 60 } },
        )
        register(runner, [handler])
        const task = await ended(runner, await submit(runner))
        expect(task).toMatchObject({ status: 'succeeded', result: 'at last' })
        expect(task.attempts.map(({ status }) => status)).toEqual(['failed', 'failed', 'succeeded'])
        expect(starts[1]! - starts[0]!).toBeGreaterThanOrEqual(59)
        expect(starts[2]! - starts[1]!).toBeGreaterThanOrEqual(119)
      })

      it('fails for good after its last attempt', async () => {
        const runner = await setUpOne()
        let runs = 0
        register(runner, [
          handle(() => Promise.reject(new Error(`run ${++runs}`)), { retryPolicy: { maxAttempts: 2 } }),
        ])
        const task = await ended(runner, await submit(runner))
        expect(task).toMatchObject({ status: 'failed', error: { message: 'run 2' } })
        await delay(QUIET_MS)
        expect(runs).toBe(2)
      })

      it('T42 is not tried again after an error that forbids it', async () => {
        const runner = await setUpOne()
        let runs = 0
        const policy = { retryPolicy: { maxAttempts: 5 } }
        register(runner, [handle(() => Promise.reject(new NonRetryableError(`run ${++runs}`)), policy)])
        const task = await ended(runner, await submit(runner))
        expect(task).toMatchObject({ status: 'failed', error: { name: 'NonRetryableError', message: 'run 1' } })
      })

      it('fails when its handler throws at once, throws something odd, or returns what JSON cannot carry', async () => {
        const runner = await setUpOne()
        const handlers: Record<string, () => unknown> = {
          sync: () => {
            throw new RangeError('at once')
          },
          odd: () => {
            // eslint-disable-next-line @typescript-eslint/only-throw-error -- that is what is tested
            throw 'just a text'
          },
          bare: () => Promise.reject(Object.create(null) as Error),
          bigint: () => Promise.resolve(10n),
          function: () => Promise.resolve(() => 1),
        }
        register(runner, (_, payload) => handlers[payload as string]!())
        const errors: Record<string, unknown> = {}
        for (const payload of Object.keys(handlers)) {
          const task = await ended(runner, await submit(runner, { payload }))
          expect(task.status).toBe('failed')
          errors[payload] = task.error
        }
        expect(errors).toMatchObject({
          sync: { name: 'RangeError', message: 'at once' },
          odd: { name: 'Error', message: 'just a text' },
          bare: { name: 'Error' },
          bigint: { name: 'ResultError' },
          function: { name: 'ResultError' },
        })
      })

      it('does not start before its time', async () => {
        const runner = await setUpOne()
        if (!runner.capabilities.delayedDispatch) return
        const started = deferred<number>()
        register(runner, () => Promise.resolve(started.resolve(Date.now())))
        const notBefore = new Date(Date.now() + 300)
        const task = await submit(runner, { notBefore })
        expect(task).toMatchObject({ status: 'pending', notBefore: notBefore.toISOString() })
        expect(await started.promise).toBeGreaterThanOrEqual(notBefore.getTime())
      })

      it('carries any JSON, and undefined', async () => {
        const runner = await setUpOne()
        const payloads = [undefined, null, 0, '', 'ä€😀\u0000', [1, [2]], { a: { b: [true] } }]
        register(runner, (_, payload) => Promise.resolve({ payload }))
        for (const payload of payloads) {
          const task = await ended(runner, await submit(runner, { payload }))
          expect(task.payload).toEqual(payload)
          expect(task.result).toEqual(payload === undefined ? {} : { payload })
        }
      })

      it('Q1 runs once, however much longer than its visibility it takes', async () => {
        const runners = await setUp(2)
        let runs = 0
        const handler = handle(async () => delay(1_500, (runs += 1)), { visibilityTimeoutMs: 400 })
        for (const runner of runners) register(runner, [handler])
        const task = await ended(runners[0]!, await submit(runners[0]!))
        expect(task).toMatchObject({ status: 'succeeded', attempts: [{ status: 'succeeded' }] })
        await delay(QUIET_MS)
        expect(runs).toBe(1)
      })

      it('stores and publishes its progress', async () => {
        const runner = await setUpOne()
        const updates: TaskUpdate[] = []
        using _subscription = runner.subscribeByType('mail', (update) => updates.push(update))
        register(runner, async ({ reportProgress }) => {
          reportProgress({ percent: 10 })
          reportProgress({ percent: 20 })
          reportProgress({ percent: 30, meta: { step: 'last' } })
          return Promise.resolve(1)
        })
        const task = await ended(runner, await submit(runner))
        expect(task.progress).toMatchObject({ percent: 30, meta: { step: 'last' } })
        await until(() => updates.some((update) => update.kind === 'progress' && update.percent === 30))
      })
    })

    describe('an Observable handler', () => {
      it('has its values as progress, and the last one as its result', async () => {
        const runner = await setUpOne()
        register(runner, (_, payload) => from(payload as unknown[]))
        const task = await submit(runner, { payload: [{ percent: 10 }, 'almost', { pages: 3 }] })
        expect(await runner.waitFor(task.id)).toEqual({ pages: 3 })
        expect((await read(runner, task)).progress).toMatchObject({ percent: 10, meta: { pages: 3 } })
        const many = await submit(runner, { payload: Array.from({ length: 1_000 }, (_, index) => index) })
        expect(await runner.waitFor(many.id)).toBe(999)
        const none = await submit(runner, { payload: [] })
        expect(await runner.waitFor(none.id)).toBeUndefined()
      })

      it('is unsubscribed from when its task is cancelled', async () => {
        const runner = await setUpOne()
        const [running, left] = [deferred(), deferred()]
        register(runner, () => new Observable(() => (running.resolve(), left.resolve)))
        const task = await submit(runner)
        await running.promise
        await runner.cancel(task.id, 'enough')
        await left.promise
        expect(await ended(runner, task)).toMatchObject({ status: 'cancelled', attempts: [{ status: 'cancelled' }] })
      })

      it('is unsubscribed from while it waits for a child, and subscribed to anew when that has ended', async () => {
        const runner = await setUpOne()
        const left = [deferred(), deferred()]
        register(runner, [
          handle((ctx) =>
            merge(
              new Observable<never>(() => left[ctx.attempt - 1]!.resolve),
              defer(() => ctx.spawnChildAndAwait<null, string>('child', null)),
            ).pipe(take(1)),
          ),
          handle(() => left[0]!.promise.then(() => 'done'), { type: 'child' }),
        ])
        const task = await submit(runner)
        expect(await runner.waitFor(task.id)).toBe('done')
        await left[1]!.promise
        expect((await read(runner, task)).attempts.map(({ status }) => status)).toEqual(['suspended', 'succeeded'])
      })

      it('is handed back when its runner is disposed', async () => {
        const runners = await setUp(2)
        const running = deferred()
        register(runners[0]!, () => new Observable(() => running.resolve()))
        const task = await submit(runners[0]!)
        await running.promise
        register(runners[1]!, () => of('elsewhere'))
        await disposeGently(runners[0]!)
        expect(await runners[1]!.waitFor(task.id)).toBe('elsewhere')
        expect((await read(runners[1]!, task)).attempts.map(({ status }) => status)).toEqual(['released', 'succeeded'])
      })
    })

    describe('"not now"', () => {
      it('T42 brings a task back after its delay, without an attempt spent', async () => {
        const runner = await setUpOne()
        const starts: number[] = []
        register(runner, (ctx) => {
          starts.push(Date.now())
          return ctx.attempt < 3 ? ctx.notNow(100) : Promise.resolve('at last')
        })
        const task = await submit(runner)
        expect(await runner.waitFor(task.id)).toBe('at last')
        const { attempts } = await read(runner, task)
        expect(attempts.map(({ status }) => status)).toEqual(['released', 'released', 'succeeded'])
        for (const index of [1, 2]) expect(starts[index]! - starts[index - 1]!).toBeGreaterThanOrEqual(99)
      })
    })

    describe('many tasks', () => {
      it('are submitted at once, and answered in their order', async () => {
        const runner = await setUpOne()
        const payloads = Array.from({ length: 1_100 }, (_, index) => index)
        const tasks = await runner.submitMany(payloads.map((payload) => ({ type: 'mail', handlerVersion: 1, payload })))
        expect(tasks.map(({ payload }) => payload)).toEqual(payloads)
        expect(new Set(tasks.map(({ id }) => id)).size).toBe(payloads.length)
        const ran: unknown[] = []
        const all = deferred()
        register(runner, (_, payload) => void (ran.push(payload) === payloads.length && all.resolve()), {
          concurrency: 1,
        })
        await all.promise
        expect(ran).toEqual(payloads)
      })

      it('may be due later, have tags, and share a key', async () => {
        const runner = await setUpOne()
        const options = { type: 'mail', handlerVersion: 1, payload: 1 }
        const notBefore = new Date(Date.now() + 60_000)
        const known = await runner.submit({ ...options, idempotencyKey: 'known' })
        const tasks = await runner.submitMany([
          { ...options, notBefore },
          { ...options, tags: ['gpu'] },
          { ...options, idempotencyKey: 'new' },
          { ...options, idempotencyKey: 'new' },
          { ...options, idempotencyKey: 'known' },
          { ...options, parentTaskId: known.id },
        ])
        expect(tasks[0]).toMatchObject({ status: 'pending', notBefore: notBefore.toISOString() })
        expect(tasks[1]).toMatchObject({ tags: ['gpu'] })
        expect(tasks[2]).toMatchObject({ idempotencyKey: 'new' })
        expect(tasks[3]!.id).toBe(tasks[2]!.id)
        expect(tasks[4]!.id).toBe(known.id)
        expect(tasks[5]).toMatchObject({ parentTaskId: known.id })
        for (const task of tasks) expect((await read(runner, task)).status).toBe('pending')
        const other = [options, { ...options, payload: 2, idempotencyKey: 'new' }]
        await expect(runner.submitMany(other)).rejects.toMatchObject({ name: 'IdempotencyConflictError' })
        expect(await runner.submitMany([])).toEqual([])
      })

      it('T43 are refused together', async () => {
        const runner = await setUpOne()
        const statuses: TaskUpdate[] = []
        using _subscription = runner.subscribeByType('mail', (update) => statuses.push(update))
        const good = { type: 'mail', handlerVersion: 1, payload: 1 as unknown }
        for (const bad of [{ type: '' }, { payload: 10n }, { handlerVersion: 0 }, { parentTaskId: 'nobody' }]) {
          await expect(runner.submitMany([good, { ...good, ...bad }])).rejects.toMatchObject({
            name: expect.stringMatching(/^(InvalidArgument|Payload|UnknownTask)Error$/) as string,
          })
        }
        await expect(runner.submitMany('mail' as never)).rejects.toMatchObject({ property: 'list' })
        expect(statuses).toEqual([])
      })
    })

    describe('whoever waits', () => {
      it('is given the result or the error, from whatever runner', async () => {
        const runners = await setUp(2)
        const gate = deferred()
        register(runners[0]!, async (_, payload) => {
          await gate.promise
          if (payload === 'bad') throw new RangeError('no')
          return payload
        })
        const tasks = await Promise.all(['good', 'bad'].map((payload) => submit(runners[0]!, { payload })))
        const waiting = Promise.all(
          runners.flatMap((runner) => [
            expect(runner.waitFor(tasks[0]!.id)).resolves.toBe('good'),
            expect(runner.waitFor(tasks[1]!.id)).rejects.toMatchObject({
              name: 'TaskFailedError',
              taskId: tasks[1]!.id,
              error: { name: 'RangeError', message: 'no' },
            }),
          ]),
        )
        gate.resolve()
        await waiting
        await expect(runners[1]!.waitFor('nobody')).rejects.toMatchObject({ name: 'UnknownTaskError' })
      })

      it('is told of every transition once, from whatever runner', async () => {
        const runners = await setUp(2)
        const policy = { retryPolicy: { maxAttempts: 2 } }
        register(runners[0]!, [
          handle(({ attempt }) => (attempt === 1 ? throwError(() => new Error('no')) : of(1)), policy),
        ])
        const draft = await runners[0]!.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
        const seen = runners.map((): string[] => [])
        const first = runners.map(() => deferred())
        const whole = runners.map((runner, index) =>
          lastValueFrom(
            runner.updates$(draft.id).pipe(
              tap((update) => {
                if (update.kind === 'status') seen[index]!.push(update.status)
                first[index]!.resolve()
              }),
            ),
            { defaultValue: undefined },
          ),
        )
        await Promise.all(first.map(({ promise }) => promise))
        await runners[0]!.start(draft.id)
        expect(await Promise.all(whole)).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }])
        for (const statuses of seen) {
          expect(statuses[0]).toBe('draft')
          expect(statuses.at(-1)).toBe('succeeded')
          for (const status of ['claimed', 'running']) {
            expect(statuses.filter((seenOne) => seenOne === status)).toHaveLength(2)
          }
        }
      })
    })

    describe('a draft', () => {
      it('is not run before it is started', async () => {
        const runner = await setUpOne()
        let runs = 0
        register(runner, (_, payload) => Promise.resolve({ payload, run: ++runs }))
        const draft = await runner.draft({ type: 'mail', handlerVersion: 1, payload: { n: 1 } })
        expect(draft.status).toBe('draft')
        await delay(QUIET_MS)
        expect(runs).toBe(0)
        expect((await runner.start(draft.id)).status).toBe('pending')
        expect(await ended(runner, draft)).toMatchObject({ status: 'succeeded', result: { payload: { n: 1 }, run: 1 } })
      })

      it('T61 is late from when it was started or sent again, not from when it was stored or failed', async () => {
        const harness = await makeRunners(1)
        cleanups.push(() => harness.dispose())
        const runner = harness.runners[0]!
        const lags: number[] = []
        harness.telemetry.addListener('onTaskClaimed', ({ queueLagMs }) => lags.push(queueLagMs))
        register(runner, ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('no')) : Promise.resolve()))
        const draft = await runner.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
        const passed = async (time: string): Promise<void> =>
          void (await until(() => Date.now() > Date.parse(time) + 20))
        await passed(draft.submittedAt)
        const started = await runner.start(draft.id)
        const failed = await ended(runner, draft)
        await passed(failed.terminalAt!)
        await runner.deadLetters.resend(draft.id)
        const { attempts, events } = await ended(runner, draft)
        const resentAt = events.find(({ kind }) => kind === 'resent')!.at
        const dues = [started.notBefore!, resentAt].map(Date.parse)
        expect(dues[0]).toBeGreaterThan(Date.parse(draft.submittedAt))
        expect(dues[1]).toBeGreaterThan(Date.parse(failed.terminalAt!))
        expect(lags).toEqual(attempts.map(({ startedAt }, index) => Date.parse(startedAt) - dues[index]!))
      })

      it('takes the payload of its start', async () => {
        const runner = await setUpOne()
        register(runner, (_, payload) => Promise.resolve({ payload }))
        const [a, b] = await Promise.all([
          runner.draft({ type: 'mail', handlerVersion: 1, payload: 1 }),
          runner.draft({ type: 'mail', handlerVersion: 1, payload: 1 }),
        ])
        await runner.start(a.id, { payload: 2 })
        await runner.start(b.id, { payload: undefined })
        expect((await ended(runner, a)).result).toEqual({ payload: 2 })
        expect((await ended(runner, b)).result).toEqual({})
      })

      it('is started once', async () => {
        const runner = await setUpOne()
        const draft = await runner.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
        await runner.start(draft.id)
        await expect(runner.start(draft.id)).rejects.toThrow(new RegExp(`${draft.id}.*pending`))
        await expect(runner.start('nobody')).rejects.toThrow(/nobody/)
      })
    })

    describe('cancel', () => {
      it('ends a queued task, which never runs', async () => {
        const runner = await setUpOne()
        const task = await submit(runner)
        await runner.cancel(task.id, 'changed my mind')
        const { status, events, terminalAt } = await read(runner, task)
        expect(status).toBe('cancelled')
        expect(terminalAt).toBeDefined()
        expect(events.at(-1)).toMatchObject({ kind: 'cancellation-requested', reason: 'changed my mind' })
        let runs = 0
        register(runner, () => Promise.resolve(++runs))
        await delay(QUIET_MS)
        expect(runs).toBe(0)
      })

      it('ends a parked task, and a draft', async () => {
        const runner = await setUpOne()
        const parked = await submit(runner, { notBefore: new Date(Date.now() + 60_000) })
        const draft = await runner.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
        await Promise.all([runner.cancel(parked.id), runner.cancel(draft.id)])
        expect((await read(runner, parked)).status).toBe('cancelled')
        expect((await read(runner, draft)).status).toBe('cancelled')
      })

      it.each([0, 1])('fires the signal of a running handler, from runner %i', async (canceller) => {
        const runners = await setUp(2)
        const [runner] = runners
        const running = deferred()
        const reason = deferred<unknown>()
        register(runner!, async (ctx) => {
          running.resolve()
          ctx.cancellationSignal.addEventListener('abort', () => reason.resolve(ctx.cancellationSignal.reason))
          return untilAborted(ctx)
        })
        const task = await submit(runner!)
        await running.promise
        await runners[canceller]!.cancel(task.id, 'too slow')
        expect(['cancelling', 'cancelled']).toContain((await read(runner!, task)).status)
        const error = await reason.promise
        expect(error).toBeInstanceOf(TaskCancelledError)
        expect(error).toMatchObject({ reason: 'too slow' })
        expect(await ended(runner!, task)).toMatchObject({ status: 'cancelled', attempts: [{ status: 'cancelled' }] })
      })

      it('T24 wins over a handler that returns all the same', async () => {
        const runner = await setUpOne()
        const running = deferred()
        const gate = deferred()
        register(runner, async () => {
          running.resolve()
          await gate.promise
          return 'a result'
        })
        const task = await submit(runner)
        await running.promise
        await runner.cancel(task.id)
        expect((await read(runner, task)).status).toBe('cancelling')
        gate.resolve()
        const end = await ended(runner, task)
        expect(end.status).toBe('cancelled')
        expect(end.result).toBeUndefined()
      })

      it('ends a sleep', async () => {
        const runner = await setUpOne()
        const running = deferred()
        register(runner, async ({ sleep }) => {
          running.resolve()
          await sleep(60_000)
        })
        const task = await submit(runner)
        await running.promise
        await runner.cancel(task.id)
        expect((await ended(runner, task)).status).toBe('cancelled')
      })

      it('leaves unknown and ended tasks alone', async () => {
        const runner = await setUpOne()
        register(runner, () => Promise.resolve('done'))
        const task = await ended(runner, await submit(runner))
        await runner.cancel(task.id)
        await runner.cancel('nobody')
        expect(await read(runner, task)).toEqual(task)
      })
    })

    describe('workers', () => {
      it('are given the versions and tags that they have', async () => {
        const runner = await setUpOne()
        const answer = (by: string) => () => Promise.resolve(by)
        register(runner, [handle(answer('v1')), handle(answer('v2'), { version: 2 })])
        register(runner, [handle(answer('v3 gpu'), { version: 3 })], { tags: ['gpu', 'eu'] })
        const results = await Promise.all(
          [{}, { handlerVersion: 2 }, { handlerVersion: 3, tags: ['eu'] }].map(async (more) => {
            const task = await ended(runner, await submit(runner, more))
            return task.result
          }),
        )
        expect(results).toEqual(['v1', 'v2', 'v3 gpu'])
      })

      it('leave alone what they cannot run, until somebody can', async () => {
        const runner = await setUpOne()
        const seen: unknown[] = []
        register(runner, (_, payload) => Promise.resolve(seen.push(payload)))
        const tasks = await Promise.all([
          submit(runner, { payload: 'tag', tags: ['gpu'] }),
          submit(runner, { payload: 'version', handlerVersion: 9 }),
        ])
        await delay(QUIET_MS)
        expect(seen).toEqual([])
        for (const task of tasks) expect((await read(runner, task)).status).toBe('pending')
        register(runner, [handle(() => Promise.resolve('tag'))], { tags: ['gpu'] })
        register(runner, [handle(() => Promise.resolve('version'))], { compatibleVersions: { mail: [9] } })
        const ends = await Promise.all(tasks.map((task) => ended(runner, task)))
        expect(ends.map(({ result }) => result)).toEqual(['tag', 'version'])
      })

      it('run as much at the same time as they have slots', async () => {
        const runner = await setUpOne()
        const gate = deferred()
        let open = 0
        const worker = register(runner, async () => ((open += 1), gate.promise), { concurrency: 2 })
        const tasks = await Promise.all([1, 2, 3, 4].map(() => submit(runner)))
        await until(() => open === 2)
        await delay(QUIET_MS)
        expect(open).toBe(2)
        expect(worker.activeTaskCount).toBe(2)
        gate.resolve()
        for (const task of tasks) await ended(runner, task)
        expect(worker).toMatchObject({ name: 'worker', concurrency: 2, tags: [] })
        expect(worker.workerId).toMatch(/^worker-[0-9a-f-]{36}$/)
      })

      it('T33 drain: what runs ends, nothing new begins, everybody who waits is told', async () => {
        const runners = await setUp(2)
        const gate = deferred()
        const running = deferred()
        let runs = 0
        const worker = register(
          runners[0]!,
          async () => {
            runs++
            running.resolve()
            await gate.promise
          },
          { concurrency: 1 },
        )
        const first = await submit(runners[0]!)
        await running.promise
        await worker.drain({ timeoutMs: 20 })
        const drained = Promise.all([worker.drain(), worker.drain(), worker.drain({ timeoutMs: 10_000 })])
        const second = await submit(runners[0]!)
        await delay(QUIET_MS)
        expect(worker.activeTaskCount).toBe(1)
        gate.resolve()
        await drained
        expect(worker.activeTaskCount).toBe(0)
        expect((await ended(runners[0]!, first)).status).toBe('succeeded')
        expect((await read(runners[0]!, second)).status).toBe('pending')
        expect(runs).toBe(1)
        register(runners[1]!, () => Promise.resolve('elsewhere'))
        expect((await ended(runners[0]!, second)).result).toBe('elsewhere')
      })

      it('T34 drain: handlers that ask for it are told to stop, and their task runs elsewhere', async () => {
        const runners = await setUp(2)
        const running = deferred()
        const reason = deferred<unknown>()
        const stoppable = handle(
          async (ctx) => {
            running.resolve()
            ctx.cancellationSignal.addEventListener('abort', () => reason.resolve(ctx.cancellationSignal.reason))
            return untilAborted(ctx)
          },
          { cancelOnDrain: true },
        )
        const worker = register(runners[0]!, [stoppable])
        const task = await submit(runners[0]!)
        await running.promise
        await worker.drain()
        expect(await reason.promise).toMatchObject({ name: 'TaskCancelledError', reason: 'drain' })
        register(runners[1]!, () => Promise.resolve('elsewhere'))
        const end = await ended(runners[1]!, task)
        expect(end).toMatchObject({ status: 'succeeded', result: 'elsewhere' })
        expect(end.attempts.map(({ status }) => status)).toEqual(['released', 'succeeded'])
      })

      it('Q3 hand what they run back when their runner is disposed', async () => {
        const runners = await setUp(2)
        const running = deferred()
        const reasons: unknown[] = []
        register(runners[0]!, async (ctx) => {
          running.resolve()
          try {
            return await untilAborted(ctx)
          } catch (error) {
            reasons.push(error)
            throw error
          }
        })
        const task = await submit(runners[0]!)
        await running.promise
        register(runners[1]!, () => Promise.resolve('elsewhere'))
        await disposeGently(runners[0]!)
        expect(reasons).toMatchObject([{ name: 'RunnerDisposedError' }])
        const end = await ended(runners[1]!, task)
        expect(end).toMatchObject({ status: 'succeeded', result: 'elsewhere' })
        expect(end.attempts.map(({ status }) => status)).toEqual(['released', 'succeeded'])
      })

      it('T62 can still be told to cancel after their disposal, until the last handler has ended', async () => {
        const runners = await setUp(2)
        const running = deferred()
        const worker = register(runners[0]!, async (ctx) => {
          running.resolve()
          return untilAborted(ctx)
        })
        const task = await submit(runners[0]!)
        await running.promise
        worker[Symbol.dispose]()
        await runners[1]!.cancel(task.id)
        expect((await ended(runners[1]!, task)).status).toBe('cancelled')
      })
    })

    describe('subscribers', () => {
      it('T32 hear of every status', async () => {
        const runner = await setUpOne()
        const byType: TaskUpdate[] = []
        using _byType = runner.subscribeByType('mail', (update) => byType.push(update))
        const draft = await runner.draft({ type: 'mail', handlerVersion: 1, payload: 1 })
        const byTask: TaskUpdate[] = []
        using _byTask = runner.subscribe(draft.id, (update) => byTask.push(update))
        register(runner, [
          handle(({ attempt }) => (attempt === 1 ? Promise.reject(new Error('no')) : Promise.resolve()), {
            retryPolicy: { maxAttempts: 2 },
          }),
        ])
        await runner.start(draft.id)
        await until(() => statusesOf(byTask).includes('succeeded'))
        // Nobody says which comes first: the answer to `start`, or the worker that has been given the task.
        expect([...statusesOf(byTask)].sort()).toEqual(
          ['claimed', 'claimed', 'pending', 'pending', 'running', 'running', 'succeeded'].sort(),
        )
        expect(statusesOf(byType)).toEqual(['draft', ...statusesOf(byTask)])
        for (const update of byTask) expect(Date.parse(update.at)).not.toBeNaN()
      })

      it('T31 hear of what happens in other processes', async () => {
        const runners = await setUp(2)
        const gate = deferred()
        register(runners[0]!, async ({ reportProgress }) => {
          await gate.promise
          reportProgress({ percent: 50, meta: 'half' })
          return 1
        })
        const task = await submit(runners[1]!)
        const updates: TaskUpdate[] = []
        using _subscription = runners[1]!.subscribe(task.id, (update) => updates.push(update))
        // The subscription finds out the type of the task, and only then listens to the bus: there is no signal for it.
        await delay(QUIET_MS)
        gate.resolve()
        await until(() => statusesOf(updates).includes('succeeded'))
        expect(updates).toContainEqual(
          expect.objectContaining({ kind: 'progress', taskId: task.id, percent: 50, meta: 'half' }),
        )
        for (const update of updates) expect(Object.keys(update)).not.toContain('via')
      })

      it('hear nothing after their disposal, and cannot harm each other', async () => {
        const runner = await setUpOne()
        const updates: TaskUpdate[] = []
        const silent = runner.subscribeByType('mail', () => expect.unreachable())
        silent[Symbol.dispose]()
        silent[Symbol.dispose]()
        using _bad = runner.subscribeByType('mail', () => {
          throw new Error('a bad subscriber')
        })
        using _good = runner.subscribeByType('mail', (update) => updates.push(update))
        await submit(runner)
        await until(() => statusesOf(updates).includes('pending'))
      })
    })

    describe('trees', () => {
      it('have one node for a task without children', async () => {
        const runner = await setUpOne()
        const task = await submit(runner)
        const tree = await runner.getTree(task.id)
        expect(tree.task.id).toBe(task.id)
        expect(tree.children).toEqual([])
        await expect(runner.getTree('nobody')).rejects.toThrow(/nobody/)
      })
    })

    describe('bad input', () => {
      const cycle: { self?: unknown } = {}
      cycle.self = cycle
      it.each<[string, Record<string, unknown>]>([
        ['type', { type: '' }],
        ['type', { type: '\ud800' }],
        ['type', { type: 'x'.repeat(513) }],
        ['type', { type: 7 }],
        ['handlerVersion', { handlerVersion: 0 }],
        ['handlerVersion', { handlerVersion: 1.5 }],
        ['handlerVersion', { handlerVersion: undefined }],
        ['tags', { tags: 'gpu' }],
        ['tags[1]', { tags: ['gpu', ''] }],
        ['notBefore', { notBefore: new Date(Number.NaN) }],
        ['notBefore', { notBefore: '2030-01-01' }],
        ['idempotencyKey', { idempotencyKey: '' }],
        ['idempotencyKey', { idempotencyKey: 'x'.repeat(1025) }],
        ['retentionPolicy.onSuccess', { retentionPolicy: { onSuccess: 'burn' } }],
        ['retentionPolicy.ttlAfterTerminalDays', { retentionPolicy: { ttlAfterTerminalDays: -1 } }],
        ['payload', { payload: 10n }],
        ['payload', { payload: cycle }],
        ['payload', { payload: () => 1 }],
        ['payload', { payload: Symbol('s') }],
      ])('T43 is refused before anything is written: %s %o', async (property, options) => {
        const runner = await setUpOne()
        const statuses: TaskUpdate[] = []
        using _subscription = runner.subscribeByType('mail', (update) => statuses.push(update))
        for (const method of ['submit', 'draft'] as const) {
          const given = { type: 'mail', handlerVersion: 1, payload: 1, ...options } as SubmitOptions<unknown>
          const refused = expect(runner[method](given)).rejects
          if (property === 'payload') await refused.toMatchObject({ name: 'PayloadError' })
          else await refused.toMatchObject({ name: 'InvalidArgumentError', property })
        }
        expect(statuses).toEqual([])
      })

      it('T43 is refused for workers too', async () => {
        const runner = await setUpOne()
        const idle = handle(() => Promise.resolve())
        const bad: Array<Partial<RegisterWorkerOptions>> = [
          { concurrency: 0 },
          { concurrency: 1.5 },
          { name: '' },
          { handlers: [] },
          { handlers: [idle, idle] },
          { tags: [''] },
          { compatibleVersions: { mail: [0] } },
        ]
        for (const options of bad) {
          expect(() => register(runner, [idle], options)).toThrow(
            expect.objectContaining({ name: 'InvalidArgumentError' }),
          )
        }
      })

      it('sorts tags and drops doubles', async () => {
        const runner = await setUpOne()
        expect((await submit(runner, { tags: ['b', 'a', 'b'] })).tags).toEqual(['a', 'b'])
      })
    })

    it('tells what it can do', async () => {
      const { capabilities } = await setUpOne()
      expect(Object.isFrozen(capabilities)).toBe(true)
      expect(capabilities).toMatchObject({
        persistent: expect.any(Boolean) as boolean,
        distributed: expect.any(Boolean) as boolean,
        fleetCapEnforcement: expect.any(Boolean) as boolean,
        delayedDispatch: expect.any(Boolean) as boolean,
        maxPayloadBytes: Infinity,
      })
    })

    it('is of no use after its disposal', async () => {
      const runner = await setUpOne()
      const task = await submit(runner)
      await disposeGently(runner)
      runner[Symbol.dispose]()
      const calls: Array<() => unknown> = [
        () => submit(runner),
        () => runner.draft({ type: 'mail', handlerVersion: 1, payload: 1 }),
        () => runner.start(task.id),
        () => runner.cancel(task.id),
        () => runner.get(task.id),
        () => runner.getTree(task.id),
        () => runner.subscribe(task.id, () => undefined),
        () => runner.subscribeByType('mail', () => undefined),
        () => register(runner, () => Promise.resolve()),
        () => runner.submitMany([]),
        () => runner.waitFor(task.id),
        () => runner.updates$(task.id),
        () => runner.deadLetters.list(),
        () => runner.deadLetters.get(task.id),
        () => runner.deadLetters.count(),
        () => runner.deadLetters.resend(task.id),
        () => runner.deadLetters.discard(task.id),
      ]
      for (const call of calls) {
        await expect(Promise.resolve().then(call)).rejects.toThrow(/disposed/)
      }
    })
  })
}

const disposeGently = async (runner: TaskRunner): Promise<void> => {
  const { [Symbol.asyncDispose]: dispose }: Partial<AsyncDisposable> = runner as TaskRunner & Partial<AsyncDisposable>
  if (dispose === undefined) runner[Symbol.dispose]()
  else await dispose.call(runner)
}
