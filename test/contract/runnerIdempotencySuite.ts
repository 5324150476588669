import {
  defineTaskHandler,
  isTerminalStatus,
  type SubmitOptions,
  type Task,
  type TaskContext,
  type TaskRunner,
  type TaskUpdate,
} from '@furystack/task-runner'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'

import { assertProperty } from '../support/assertProperty.js'
import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { MakeRunners } from './runnerSuite.js'

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => Promise<unknown>

/** Seconds; the shortest that all queues take. */
const SHORT = { idempotencyTtlSec: 1 }

/** What any task runner has to do with idempotency keys. */
export const runnerIdempotencySuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} with idempotency keys`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const setUp = async (
      handler?: Handler,
      { count = 1, ...options }: { count?: number; idempotencyTtlSec?: number } = {},
    ): Promise<[TaskRunner, ...TaskRunner[]]> => {
      const harness = await makeRunners(count, options)
      cleanups.push(() => harness.dispose())
      if (handler !== undefined) {
        const handlers = [defineTaskHandler<unknown, unknown>({ type: 'mail', version: 1, handler })]
        for (const runner of harness.runners) {
          runner.registerWorker({ name: 'worker', handlers, concurrency: 8, tags: [], compatibleVersions: {} })
        }
      }
      return [...harness.runners] as [TaskRunner, ...TaskRunner[]]
    }

    const options = (more: Partial<SubmitOptions<unknown>> = {}): SubmitOptions<unknown> => ({
      type: 'mail',
      handlerVersion: 1,
      payload: 1,
      idempotencyKey: 'k',
      ...more,
    })

    const ended = (runner: TaskRunner, { id }: { id: string }): Promise<Task> =>
      until(
        async () => {
          const task = await runner.get(id)
          return task !== undefined && isTerminalStatus(task.status) && task
        },
        { intervalMs: 10, description: `task ${id} has ended` },
      )

    /** A handler that fails as long as its payload, or the test, says so; and how often it ran. */
    const failing = () => {
      const state = { runs: 0, isFailing: true }
      const handler: Handler = () => {
        state.runs++
        return state.isFailing ? Promise.reject(new Error('no')) : Promise.resolve('done')
      }
      return { state, handler }
    }

    it('makes one task of fifty submissions on two runners, and tells who was first', async () => {
      let runs = 0
      const [first, second] = await setUp(() => Promise.resolve((runs += 1)), { count: 2 })
      const tasks = await Promise.all(
        Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? first : second!).submit(options())),
      )
      expect(new Set(tasks.map(({ id }) => id)).size).toBe(1)
      expect(tasks[0]).toMatchObject({ idempotencyKey: 'k' })
      expect(tasks.filter(({ isDuplicate }) => isDuplicate !== true)).toHaveLength(1)
      expect(Object.keys(tasks.find(({ isDuplicate }) => isDuplicate)!)).not.toContain('isDuplicate')
      await ended(first, tasks[0]!)
      // Whatever was queued behind it would have run before this one.
      await ended(first, await first.submit(options({ idempotencyKey: 'other' })))
      expect(runs).toBe(2)
    })

    it('T47 keeps types, submitters and payloads apart', async () => {
      const [runner] = await setUp()
      const first = await runner.submit(options({ payload: { a: 1, b: 2 } }))
      expect((await runner.submit(options({ payload: { b: 2, a: 1 } }))).id).toBe(first.id)
      for (const submit of [runner.submit.bind(runner), runner.draft.bind(runner)]) {
        await expect(submit(options({ payload: { a: 2 } }))).rejects.toMatchObject({
          name: 'IdempotencyConflictError',
          type: 'mail',
          idempotencyKey: 'k',
          taskId: first.id,
        })
      }
      const others = await Promise.all([
        runner.submit(options({ payload: 3, submittedBy: 'a' })),
        runner.submit(options({ payload: 4, submittedBy: 'b' })),
        runner.submit(options({ payload: 5, type: 'post' })),
      ])
      expect(new Set([first, ...others].map(({ id }) => id)).size).toBe(4)
      expect(others.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k', 'k', 'k'])
      expect(others.map(({ isDuplicate }) => isDuplicate)).toEqual([undefined, undefined, undefined])
      expect((await runner.get(others[0].id))?.idempotencyKey).toBe('k')
    })

    it('T47 tells apart whatever is not the same type, submitter and key, odd characters and all', async () => {
      const [runner] = await setUp()
      const text = fc.oneof(
        fc.constantFrom(
          'a',
          'a:b',
          'b',
          'a%3Ab',
          '{a}',
          'a\n',
          ' a',
          'A',
          'ä',
          'ä',
          '😀',
          '"a"',
          '*',
          '[a]',
          '\\',
          '\u0001',
        ),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((given) => !given.includes('\0')),
        fc.constant('x'.repeat(1_024)),
      )
      const who = fc.option(text, { nil: undefined })
      const shortText = text.filter((given) => given.length <= 512)
      const ids = new Map<string, string>()
      await assertProperty(
        [shortText, who, text],
        async ([type, submittedBy, idempotencyKey]) => {
          const more = { type, idempotencyKey, ...(submittedBy !== undefined && { submittedBy }) }
          const tasks = [await runner.submit(options(more)), await runner.submit(options(more))]
          const scope = JSON.stringify([type, submittedBy, idempotencyKey])
          const known = ids.get(scope)
          for (const task of tasks) {
            if (known === undefined) expect([...ids.values()]).not.toContain(task.id)
            else expect(task.id).toBe(known)
            expect(task).toMatchObject(more)
          }
          ids.set(scope, tasks[0]!.id)
        },
        { numRuns: 60 },
      )
    })

    it('T43 refuses what is no key', async () => {
      const [runner] = await setUp()
      for (const bad of ['', 'x'.repeat(1_025), 'x'.repeat(10_000), 'a\0b', '\ud800', 7 as unknown as string]) {
        const refused = { name: 'InvalidArgumentError', message: expect.stringContaining('idempotencyKey') as string }
        await expect(runner.submit(options({ idempotencyKey: bad }))).rejects.toMatchObject(refused)
        await expect(runner.draft(options({ idempotencyKey: bad }))).rejects.toMatchObject(refused)
        await expect(runner.submitMany([options({ idempotencyKey: bad })])).rejects.toMatchObject(refused)
      }
    })

    it('T46 starts the draft that a key belongs to, once', async () => {
      let runs = 0
      const [first, second] = await setUp(() => Promise.resolve((runs += 1)), { count: 2 })
      const draft = await first.draft(options())
      expect(await second!.draft(options())).toMatchObject({ id: draft.id, status: 'draft', isDuplicate: true })
      const tasks = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? first : second!).submit(options())))
      for (const task of tasks) expect(task).toMatchObject({ id: draft.id, isDuplicate: true })
      expect(tasks.map(({ status }) => status)).not.toContain('draft')
      expect((await ended(first, draft)).status).toBe('succeeded')
      expect(await first.draft(options())).toMatchObject({ id: draft.id, status: 'succeeded' })
      await ended(first, await first.submit(options({ idempotencyKey: 'other' })))
      expect(runs).toBe(2)
    })

    it('shows a task that was there as it is, with its history and its children', async () => {
      const [runner] = await setUp()
      const { id } = await runner.draft(options())
      const child = await runner.submit(options({ type: 'child', parentTaskId: id }))
      const duplicate = await runner.submit(options())
      expect(duplicate).toEqual(await runner.get(id))
      expect(duplicate).toMatchObject({ status: 'pending', childTaskIds: [child.id] })
      expect(await runner.submit(options())).toEqual(duplicate)
    })

    it('T45 keeps a key for its time, however the task ended, and no longer', async () => {
      const { state, handler } = failing()
      const [runner] = await setUp(handler, SHORT)
      const first: Record<string, Task> = {}
      const key = (status: string) => options({ idempotencyKey: status })
      first.failed = await ended(runner, await runner.submit(key('failed')))
      state.isFailing = false
      first.succeeded = await ended(runner, await runner.submit(key('succeeded')))
      first.cancelled = await runner.draft(key('cancelled'))
      await runner.cancel(first.cancelled.id)
      for (const [status, { id }] of Object.entries(first)) {
        expect(await runner.submit(key(status))).toMatchObject({ id, status, isDuplicate: true })
      }
      for (const [status, { id, submittedAt }] of Object.entries(first)) {
        const next = await until(
          async () => {
            const task = await runner.submit(key(status))
            return task.id !== id && task
          },
          { intervalMs: 20, description: `the key of the ${status} task is free` },
        )
        expect(next.isDuplicate).toBeUndefined()
        const keptMs = Date.parse(next.submittedAt) - Date.parse(submittedAt)
        expect(keptMs).toBeGreaterThanOrEqual(1_000)
        expect((await runner.get(id))?.status).toBe(status)
      }
    })

    it('T45 keeps a key for as long as its task is not over, however long that is', async () => {
      const hold = deferred()
      const [runner] = await setUp((_, payload) => (payload === 'hold' ? hold.promise : Promise.resolve()), SHORT)
      const running = options({ idempotencyKey: 'running', payload: 'hold' })
      const delayed = options({ idempotencyKey: 'delayed', notBefore: new Date(Date.now() + 3_600_000) })
      const queued = options({ idempotencyKey: 'queued', type: 'nobody' })
      const drafted = options({ idempotencyKey: 'drafted', type: 'drafted' })
      const held = [running, delayed, queued]
      const ids: string[] = []
      for (const each of held) ids.push((await runner.submit(each)).id)
      const draft = await runner.draft(drafted)
      const probe = await runner.submit(options({ idempotencyKey: 'probe' }))
      const isOver = async () => (await runner.submit(options({ idempotencyKey: 'probe' }))).id !== probe.id
      await until(isOver, { intervalMs: 50, description: 'the time of all keys is over' })
      for (const [index, each] of held.entries()) expect((await runner.submit(each)).id).toBe(ids[index])
      expect((await runner.draft(drafted)).id).toBe(draft.id)
      expect((await runner.submit(drafted)).id).toBe(draft.id)
      // With the end of the task it is free, as its time is over.
      hold.resolve()
      await ended(runner, { id: ids[0]! })
      expect((await runner.submit(running)).id).not.toBe(ids[0])
      await runner.cancel(ids[1]!)
      expect((await runner.submit(delayed)).id).not.toBe(ids[1])
    })

    it('T45 makes one new task after a failure, however many ask for it at once', async () => {
      const { state, handler } = failing()
      const [first, second] = await setUp(handler, { count: 2 })
      let last = await ended(first, await first.submit(options()))
      for (let generation = 2; generation <= 5; generation++) {
        const again = options({ resubmitAfterFailure: true, notBefore: new Date(Date.now() + 3_600_000) })
        const tasks = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? first : second!).submit(again)))
        expect(new Set(tasks.map(({ id }) => id)).size).toBe(1)
        expect(tasks[0]!.id).not.toBe(last.id)
        expect(tasks[0]!.idempotencyKey).toBe('k')
        expect(tasks.filter(({ isDuplicate }) => isDuplicate !== true)).toHaveLength(1)
        // Whoever does not ask for it gets the newest as well.
        expect((await second!.submit(options())).id).toBe(tasks[0]!.id)
        await first.cancel(tasks[0]!.id)
        last = await ended(first, tasks[0]!)
        expect(last.status).toBe('cancelled')
        expect((await second!.submit(options())).id).toBe(last.id)
      }
      expect(state.runs).toBe(1)
      state.isFailing = false
      const final = await first.submit(options({ resubmitAfterFailure: true, payload: 'another' }))
      expect((await ended(first, final)).status).toBe('succeeded')
      const succeeded = await first.submit(options({ resubmitAfterFailure: true, payload: 'another' }))
      expect(succeeded).toMatchObject({ id: final.id, isDuplicate: true })
    })

    describe('in a list', () => {
      it('makes one task of a key that comes several times', async () => {
        const [runner] = await setUp()
        const other = options({ idempotencyKey: 'other' })
        const held = await runner.submit(other)
        const tasks = await runner.submitMany([options(), other, options(), options({ submittedBy: 'me' }), options()])
        const [a, b, c, d, e] = tasks.map(({ id }) => id)
        expect([c, e]).toEqual([a, a])
        expect(b).toBe(held.id)
        expect(d).not.toBe(a)
        expect(tasks.map(({ isDuplicate }) => isDuplicate)).toEqual([undefined, true, true, undefined, true])
      })

      it('T45 makes one new task after a failure', async () => {
        const { handler } = failing()
        const [runner] = await setUp(handler)
        const first = await ended(runner, await runner.submit(options()))
        const again = options({ resubmitAfterFailure: true, notBefore: new Date(Date.now() + 3_600_000) })
        const [a, b, c] = await runner.submitMany([again, again, options()])
        expect(a!.id).not.toBe(first.id)
        expect([b!.id, c!.id]).toEqual([a!.id, a!.id])
        await runner.cancel(a!.id)
        // Each asks for itself, in a list and at the same time.
        const [old, next, same] = await runner.submitMany([options(), again, options()])
        expect(old!.id).toBe(a!.id)
        expect(next!.id).not.toBe(a!.id)
        expect(same!.id).toBe(next!.id)
        await runner.cancel(next!.id)
        const both = await Promise.all([runner.submit(options()), runner.submit(again)])
        expect(both[1].id).not.toBe(next!.id)
        expect([next!.id, both[1].id]).toContain(both[0].id)
      })

      it('T47 refuses a key with two payloads, and writes nothing', async () => {
        const updates: TaskUpdate[] = []
        const [runner] = await setUp()
        using _subscription = runner.subscribeByType('mail', (update) => updates.push(update))
        const list = [options(), options({ idempotencyKey: 'other' }), options({ payload: 2 })]
        await expect(runner.submitMany(list)).rejects.toMatchObject({
          name: 'InvalidArgumentError',
          message: expect.stringContaining('list[2].idempotencyKey') as string,
        })
        expect(updates).toEqual([])
        expect((await runner.submit(options({ payload: 2 }))).isDuplicate).toBeUndefined()
      })

      it('T47 refuses a list with a key that belongs to another payload, and writes nothing of it', async () => {
        const updates: TaskUpdate[] = []
        const [runner] = await setUp()
        const held = await runner.submit(options({ payload: 'other' }))
        using _subscription = runner.subscribeByType('mail', (update) => updates.push(update))
        const list = [
          options({ idempotencyKey: 'a' }),
          { type: 'mail', handlerVersion: 1, payload: 2 },
          { type: 'mail', handlerVersion: 1, payload: 3 },
          options(),
          options({ idempotencyKey: 'c' }),
        ]
        const conflict = { name: 'IdempotencyConflictError', taskId: held.id }
        await expect(runner.submitMany(list)).rejects.toMatchObject(conflict)
        expect(updates).toEqual([])
        const again = await Promise.all([runner.submit(list[0]!), runner.submit(list[4]!)])
        expect(again.map(({ isDuplicate }) => isDuplicate)).toEqual([undefined, undefined])
        expect(new Set(updates.map(({ taskId }) => taskId))).toEqual(new Set(again.map(({ id }) => id)))
      })

      it('T47 goes through a list in its order, where one may replace a failed task and one before it may not', async () => {
        const [runner] = await setUp()
        const failed = await runner.submit(options())
        await runner.cancel(failed.id)
        const [plain, again] = [options({ payload: 2 }), options({ payload: 2, resubmitAfterFailure: true })]
        const other = options({ idempotencyKey: 'other' })
        await expect(runner.submitMany([other, plain, again])).rejects.toMatchObject({ taskId: failed.id })
        const [made, next, same] = await runner.submitMany([other, again, plain])
        expect([made, next].map((task) => task!.isDuplicate)).toEqual([undefined, undefined])
        expect(same).toMatchObject({ id: next!.id, isDuplicate: true })
      })

      it('T47 takes a payload for the same that is told in another order', async () => {
        const [runner] = await setUp()
        const long = 'x'.repeat(200)
        const held = await runner.submit(options({ payload: { a: 1, long } }))
        const list = [options({ idempotencyKey: 'a' }), options({ payload: { long, a: 1 } })]
        const [made, same] = await runner.submitMany(list)
        expect(made!.isDuplicate).toBeUndefined()
        expect(same).toMatchObject({ id: held.id, isDuplicate: true })
        await expect(runner.submitMany([options({ payload: { a: 1, long: long + 'x' } })])).rejects.toMatchObject({
          name: 'IdempotencyConflictError',
        })
      })
    })
  })
}
