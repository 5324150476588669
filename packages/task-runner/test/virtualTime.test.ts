import { lastValueFrom, map, timer } from 'rxjs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import {
  defineTaskHandler,
  InProcessQueueAdapter,
  LeaseLostError,
  MemoryTaskStore,
  type DefineTaskHandlerOptions,
  type Task,
  type TaskContext,
} from '../src/index.js'
import { createTestRunner, runTaskToCompletion, virtualTime, type TestRunnerOptions } from '../src/testing/index.js'
import { setUpCore } from './support/setUpCore.js'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const startAt = new Date('2030-01-01T00:00:00Z')
const mail = { type: 'mail', handlerVersion: 1, payload: 1 }

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => unknown

// All but what lets the event loop go round: whoever waits for the system's time would wait for ever.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] })
})
afterEach(() => {
  if (vi.isFakeTimers()) expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const setUp = (
  handler: Handler,
  { options, ...more }: Partial<DefineTaskHandlerOptions<unknown, unknown>> & { options?: TestRunnerOptions } = {},
) => {
  const handlers = [defineTaskHandler<unknown, unknown>({ type: 'mail', version: 1, handler, ...more })]
  return createTestRunner({ handlers, ...options, virtualTime: { startAt } })
}

/** Milliseconds from the beginning. */
const since = (text: string | undefined): number => Date.parse(text ?? '') - startAt.getTime()
const startsOf = ({ attempts }: Task): number[] => attempts.map(({ startedAt }) => since(startedAt))
const never = (): Promise<never> => new Promise(() => undefined)

describe('virtual time', () => {
  it('runs a task at once, and moves no time for it', async () => {
    await using test = setUp(() => Promise.resolve('done'))
    const { id } = await test.runner.submit(mail)
    const task = await runTaskToCompletion({ runner: test.runner, taskId: id })
    expect(task).toMatchObject({ status: 'succeeded', result: 'done' })
    expect(test.time.now).toBe(startAt.getTime())
  })

  it('retries when the back-off is over, to the millisecond and without jitter', async () => {
    const retryPolicy = { maxAttempts: 4, backoff: 'exponential', baseDelayMs: 15 * MINUTE, jitter: 0.5 } as const
    await using test = setUp(({ attempt }) => (attempt < 4 ? Promise.reject(new Error('no')) : attempt), {
      retryPolicy,
    })
    const { id } = await test.runner.submit(mail)
    const task = await runTaskToCompletion({ runner: test.runner, taskId: id })
    expect(task).toMatchObject({ status: 'succeeded', result: 4 })
    expect(startsOf(task)).toEqual([0, 15 * MINUTE, 45 * MINUTE, 105 * MINUTE])
    expect(since(task.terminalAt)).toBe(105 * MINUTE)
  })

  it('starts what is delayed by three days after three days', async () => {
    await using test = setUp((ctx) => ctx.now().toISOString())
    const { time, runner } = test
    const { id } = await runner.submit({ ...mail, notBefore: new Date(time.now + 3 * DAY) })
    await time.advance(3 * DAY - 1)
    expect((await runner.get(id))?.status).toBe('pending')
    await time.advance(1)
    expect(await runner.get(id)).toMatchObject({ status: 'succeeded', result: '2030-01-04T00:00:00.000Z' })
  })

  it('parks a sleep of seven days, and goes on after it', async () => {
    let runs = 0
    await using test = setUp(async (ctx) => {
      runs++
      const before = ctx.now()
      await ctx.sleep(7 * DAY)
      return ctx.now().getTime() - before.getTime()
    })
    const { id } = await test.runner.submit(mail)
    await test.time.advance(7 * DAY - 1)
    expect(await test.runner.get(id)).toMatchObject({ status: 'pending', attempts: [{ status: 'suspended' }] })
    expect(test.worker?.activeTaskCount).toBe(0)
    await test.time.advance(1)
    expect(await test.runner.get(id)).toMatchObject({ status: 'succeeded', result: 7 * DAY })
    expect(runs).toBe(2)
  })

  it('keeps the lease of a handler that holds its slot for three days', async () => {
    await using test = setUp(
      async (ctx) => {
        await ctx.sleep(3 * DAY)
        return ctx.attempt
      },
      { visibilityTimeoutMs: HOUR, options: { parkSleepsAfterMs: Infinity, heartbeatIntervalMs: HOUR } },
    )
    const { id } = await test.runner.submit(mail)
    await test.time.advance(2 * DAY)
    const { visibilityDeadline } = (await test.runner.get(id))!
    expect(since(visibilityDeadline)).toBeGreaterThan(2 * DAY)
    await test.time.advance(DAY)
    expect(await test.runner.get(id)).toMatchObject({ status: 'succeeded', result: 1 })
  })

  it('ends the lease of a handler that lets the event loop stand still, and runs the task again', async () => {
    const lost: unknown[] = []
    await using test = setUp(async (ctx) => {
      ctx.cancellationSignal.addEventListener('abort', () => lost.push(ctx.cancellationSignal.reason))
      if (ctx.attempt === 1) test.time.stall(61 * SECOND)
      await ctx.sleep(SECOND)
      return ctx.attempt
    })
    const { id } = await test.runner.submit(mail)
    const task = await runTaskToCompletion({ runner: test.runner, taskId: id })
    expect(task).toMatchObject({ status: 'succeeded', result: 2 })
    expect(task.attempts.map(({ status }) => status)).toEqual(['timed-out', 'succeeded'])
    expect(startsOf(task)).toEqual([0, 61 * SECOND])
    expect(lost).toEqual([expect.any(LeaseLostError)])
  })

  it('keeps the lease of one that stands still for less than that', async () => {
    await using test = setUp(async (ctx) => {
      test.time.stall(59 * SECOND)
      await ctx.sleep(5 * SECOND)
      return ctx.attempt
    })
    const { id } = await test.runner.submit(mail)
    expect((await runTaskToCompletion({ runner: test.runner, taskId: id })).result).toBe(1)
  })

  it('ends the lease of a worker that is no more', async () => {
    const time = virtualTime({ startAt })
    const store = new MemoryTaskStore({ now: () => time.now })
    const { core, register, submit } = setUpCore({
      store,
      clock: time.clock,
      sweepIntervalMs: SECOND,
      queueAdapter: new InProcessQueueAdapter({ clock: time.clock }),
    })
    const { id } = await submit()
    await store.beginAttempt({
      taskId: id,
      workerId: 'dead',
      visibilityTimeoutMs: MINUTE,
      redelivered: false,
      maxDeliveries: 5,
    })
    register(() => 'again')
    await time.advance(59 * SECOND)
    expect((await core.get(id))?.status).toBe('running')
    await time.advance(3 * SECOND)
    expect(await core.get(id)).toMatchObject({ status: 'succeeded', result: 'again' })
    await time.until(core[Symbol.asyncDispose]())
  })

  it('ends an attempt whose time is over', async () => {
    const retryPolicy = { maxAttempts: 2, baseDelayMs: HOUR, backoff: 'linear' } as const
    await using test = setUp(never, { attemptTimeoutMs: 2 * HOUR, retryPolicy })
    const { id } = await test.runner.submit(mail)
    const task = await runTaskToCompletion({ runner: test.runner, taskId: id })
    expect(task).toMatchObject({ status: 'failed', error: { name: 'AttemptTimeoutError' } })
    const [first, second] = task.attempts
    // The heartbeats are up to two milliseconds early.
    expect(since(first?.finishedAt)).toBeCloseTo(2 * HOUR, -1)
    expect(since(second?.startedAt) - since(first?.finishedAt)).toBe(HOUR)
  })

  it('fails what was not begun in time, with nobody looking', async () => {
    await using test = createTestRunner({ virtualTime: { startAt } })
    const { id } = await test.runner.submit({ ...mail, startBefore: new Date(test.time.now + HOUR) })
    await test.time.advance(HOUR + SECOND)
    const task = await test.runner.get(id)
    expect(task).toMatchObject({ status: 'failed', error: { name: 'TaskExpiredError' } })
    expect(since(task?.terminalAt)).toBeLessThanOrEqual(HOUR + 200)
  })

  it('gives back what is not to be done now', async () => {
    let runs = 0
    await using test = setUp((ctx) => (++runs < 5 ? ctx.notNow(6 * HOUR) : runs))
    const { id } = await test.runner.submit(mail)
    const task = await runTaskToCompletion({ runner: test.runner, taskId: id })
    expect(startsOf(task)).toEqual([0, 6 * HOUR, 12 * HOUR, 18 * HOUR, DAY])
  })

  it('runs a tree whose tasks take days', async () => {
    const parent = defineTaskHandler<unknown, unknown>({
      type: 'parent',
      version: 1,
      handler: async (ctx) => {
        const children = await Promise.all([1, 2, 3].map((days) => ctx.spawnChild<number, number>('child', days)))
        return ctx.awaitChildren(children)
      },
    })
    const child = defineTaskHandler<unknown, unknown>({
      type: 'child',
      version: 1,
      handler: async (ctx, days) => {
        await ctx.sleep((days as number) * DAY)
        return days
      },
    })
    await using test = createTestRunner({ handlers: [parent, child], virtualTime: { startAt } })
    const { id } = await test.runner.submit({ ...mail, type: 'parent' })
    const task = await runTaskToCompletion({ runner: test.runner, taskId: id })
    expect(task).toMatchObject({ status: 'succeeded', result: [1, 2, 3] })
    expect(since(task.terminalAt)).toBe(3 * DAY)
  })

  it('frees an idempotency key when its day is over', async () => {
    await using test = setUp(() => 1)
    const submit = () => test.runner.submit({ ...mail, idempotencyKey: 'k' })
    const first = await submit()
    await test.time.advance(DAY - 1)
    expect((await submit()).id).toBe(first.id)
    await test.time.advance(1)
    expect((await submit()).id).not.toBe(first.id)
  })

  it('drives Observables by its scheduler', async () => {
    await using test = setUp(() => timer(HOUR, HOUR, test.time.scheduler).pipe(map((n) => ({ percent: 25 * n }))))
    const { runner, time } = test
    const { id } = await runner.submit(mail)
    await time.advance(3 * HOUR)
    expect((await runner.get(id))?.progress).toMatchObject({ percent: 50 })
    await time.until(runner.cancel(id))
    await time.advance(0)
    expect((await runner.get(id))?.status).toBe('cancelled')
    expect(await time.until(lastValueFrom(timer(DAY, time.scheduler), { defaultValue: undefined }))).toBe(0)
  })

  it('moves on until a promise is settled, either way', async () => {
    await using test = setUp(never)
    const { runner, time } = test
    const { id } = await runner.submit(mail)
    const waiting = runner.waitFor(id, { timeoutMs: HOUR })
    await expect(time.until(waiting)).rejects.toMatchObject({ name: 'WaitTimeoutError', timeoutMs: HOUR })
    expect(time.now).toBe(startAt.getTime() + HOUR)
    await time.until(test.worker!.drain({ timeoutMs: HOUR }))
    expect(time.now).toBe(startAt.getTime() + 2 * HOUR)
  })

  it('gives up a promise that is never settled, by real time', async () => {
    vi.useRealTimers()
    const time = virtualTime()
    await expect(time.until(never(), { timeoutMs: 20 })).rejects.toThrow(/nothing is due/)
    const cancel = time.clock.setTimer(() => undefined, HOUR)
    await expect(time.until(never(), { timeoutMs: 0 })).rejects.toThrow(/next thing is due at/)
    cancel()
    await using test = createTestRunner({ virtualTime: { startAt } })
    const { runner } = test
    const { id: taskId } = await runner.submit(mail)
    const late = runTaskToCompletion({ runner, taskId, timeoutMs: 20 })
    await expect(late).rejects.toMatchObject({ name: 'WaitTimeoutError', taskId, status: 'pending' })
  })

  it('does not stop for those who only look, not even in a year', async () => {
    await using test = setUp(() => 1)
    const setTimer = vi.spyOn(test.time.clock, 'setTimer')
    using _watching = test.runner.subscribeByType('mail', () => undefined)
    await test.time.advance(365 * DAY)
    expect(setTimer.mock.calls.length).toBeLessThan(100)
  })

  it('comes out the same each time', async () => {
    const history = async () => {
      const retryPolicy = { maxAttempts: 5, backoff: 'exponential', baseDelayMs: 7 * SECOND, jitter: 0.9 } as const
      await using test = setUp(
        async (ctx, payload) => {
          await ctx.sleep(ctx.random() * HOUR)
          ctx.reportProgress({ percent: payload as number })
          if (ctx.attempt < (payload as number)) throw new Error('no')
        },
        { retryPolicy, options: { workerConcurrency: 2 } },
      )
      const tasks = await test.runner.submitMany(Array.from({ length: 20 }, (_, n) => ({ ...mail, payload: n % 6 })))
      await test.time.advance(30 * DAY)
      return Promise.all(
        tasks.map(async ({ id }) => {
          const task = await test.runner.get(id)
          return {
            ...task,
            id: '',
            workerId: '',
            events: [],
            attempts: task?.attempts.map((attempt) => ({ ...attempt, workerId: '', error: undefined })),
          }
        }),
      )
    }
    const first = await history()
    expect(first.filter(({ status }) => status === 'failed')).toHaveLength(0)
    expect(await history()).toEqual(first)
  })

  it('lets a disposal end although a handler does not', async () => {
    const test = setUp(never)
    await test.runner.submit(mail)
    await test.time.advance(0)
    expect(test.worker?.activeTaskCount).toBe(1)
    await test[Symbol.asyncDispose]()
    expect(test.worker?.activeTaskCount).toBe(0)
  })

  it('refuses to go back', async () => {
    const time = virtualTime({ startAt })
    await expect(time.advance(-1)).rejects.toMatchObject({ name: 'InvalidArgumentError' })
    expect(() => time.stall(Number.NaN)).toThrow(/"?ms"?/)
    expect(time.now).toBe(startAt.getTime())
  })
})

it("is not needed where the timers of the platform are replaced: a runner in the system's time keeps to them", async () => {
  vi.useRealTimers()
  vi.useFakeTimers({ now: startAt })
  const retryPolicy = { maxAttempts: 2, backoff: 'linear', baseDelayMs: HOUR } as const
  const handler: Handler = async (ctx) => {
    await ctx.sleep(7 * DAY)
    if (ctx.attempt < 3) throw new Error('no')
    return ctx.attempt
  }
  const handlers = [defineTaskHandler<unknown, unknown>({ type: 'mail', version: 1, handler, retryPolicy })]
  const test = createTestRunner({ handlers, sweepIntervalMs: HOUR, reconcilerIntervalMs: HOUR, expiryIntervalMs: HOUR })
  const { id } = await test.runner.submit(mail)
  await vi.advanceTimersByTimeAsync(15 * DAY)
  const task = await test.runner.get(id)
  expect(task).toMatchObject({ status: 'succeeded', result: 3 })
  // Timers of the platform are whole milliseconds.
  for (const [index, due] of [0, 7 * DAY, 7 * DAY + HOUR].entries()) expect(startsOf(task!)[index]).toBeCloseTo(due, -1)
  await test[Symbol.asyncDispose]()
})
