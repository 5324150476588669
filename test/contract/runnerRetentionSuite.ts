import {
  defineTaskHandler,
  type RegisterWorkerOptions,
  type SubmitOptions,
  TaskCancelledError,
  TaskFailedError,
  type TaskRunner,
  type TaskUpdate,
  UnknownTaskError,
} from '@furystack/task-runner'
import { lastValueFrom } from 'rxjs'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { RunnersHarness } from './runnerSuite.js'

const NOTHING = { keepRowDays: 0, keepFailedRowDays: 0 }

/** What is left of tasks that are over, whatever the runner's queue and store are. */
export const runnerRetentionSuite = (name: string, makeRunners: (count: number) => Promise<RunnersHarness>): void => {
  describe(`${name} with what is over`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const setUp = async (count = 1): Promise<[TaskRunner, ...TaskRunner[]]> => {
      const harness = await makeRunners(count)
      cleanups.push(() => harness.dispose())
      return [...harness.runners] as [TaskRunner, ...TaskRunner[]]
    }

    const work = (runner: TaskRunner, handlers: RegisterWorkerOptions['handlers']) =>
      runner.registerWorker({ name: 'worker', handlers, concurrency: 4, tags: [], compatibleVersions: {} })

    const submit = (runner: TaskRunner, more: Partial<SubmitOptions<unknown>> = {}) =>
      runner.submit({ type: 'mail', handlerVersion: 1, payload: 1, retentionPolicy: NOTHING, ...more })

    it('T34 keeps a task by the policy of the handler that ran it, where its submitter knew of none', async () => {
      const [runner, other = runner] = await setUp(2)
      const retentionPolicy = { keepRowDays: 3 }
      work(other, [defineTaskHandler({ type: 'mail', version: 1, handler: () => 'sent', retentionPolicy })])
      const [plain, own] = await Promise.all([
        submit(runner, { retentionPolicy: {} }),
        submit(runner, { retentionPolicy: { keepRowDays: 9 } }),
      ])
      await Promise.all([runner.waitFor(plain.id), runner.waitFor(own.id)])
      expect((await runner.get(plain.id))?.retentionPolicy).toMatchObject(retentionPolicy)
      expect((await runner.get(own.id))?.retentionPolicy).toMatchObject({ keepRowDays: 9 })
    })

    it('gives the result to those who wait, also if nothing of the task is kept', async () => {
      const [runner, other = runner] = await setUp(2)
      const gate = deferred()
      const { id } = await submit(runner)
      const waiting = [
        runner.waitFor(id),
        other.waitFor(id),
        lastValueFrom(runner.updates$(id), { defaultValue: undefined }),
      ] as const
      work(other, [
        defineTaskHandler({
          type: 'mail',
          version: 1,
          handler: async () => {
            await gate.promise
            return { sent: [1, 'two'] }
          },
        }),
      ])
      await until(async () => (await runner.get(id))?.status === 'running')
      gate.resolve()
      expect(await waiting[0]).toEqual({ sent: [1, 'two'] })
      expect(await waiting[1]).toEqual({ sent: [1, 'two'] })
      expect(await waiting[2]).toMatchObject({ status: 'succeeded', removed: { result: { sent: [1, 'two'] } } })
      expect(await runner.get(id)).toBeUndefined()
      await expect(runner.waitFor(id)).rejects.toBeInstanceOf(UnknownTaskError)
    })

    it('tells those who wait of a failure and of a cancel, also if nothing of the task is kept', async () => {
      const [runner] = await setUp()
      const running = deferred()
      work(runner, [
        defineTaskHandler<unknown, unknown>({
          type: 'mail',
          version: 1,
          handler: async ({ cancellationSignal }, payload) => {
            if (payload === 'fail') throw new RangeError('too much')
            running.resolve()
            await new Promise((resolve) => cancellationSignal.addEventListener('abort', resolve))
            throw cancellationSignal.reason
          },
        }),
      ])
      const [failing, stopping] = [
        await submit(runner, { payload: 'fail', notBefore: new Date(Date.now() + 200) }),
        await submit(runner),
      ]
      const failed = runner.waitFor(failing.id).catch((error: unknown) => error)
      const cancelled = runner.waitFor(stopping.id).catch((error: unknown) => error)
      const updates: TaskUpdate[] = []
      const watched = lastValueFrom(runner.updates$(stopping.id), { defaultValue: undefined })
      using _subscription = runner.subscribe(stopping.id, (update) => updates.push(update))
      await running.promise
      await runner.cancel(stopping.id, 'enough')
      expect(await failed).toBeInstanceOf(TaskFailedError)
      expect(await failed).toMatchObject({ message: expect.stringContaining('too much') as string })
      expect(await cancelled).toBeInstanceOf(TaskCancelledError)
      expect(await cancelled).toMatchObject({ message: expect.stringContaining('enough') as string })
      expect(await watched).toMatchObject({ status: 'cancelled', reason: 'enough', removed: {} })
      expect(await runner.get(failing.id)).toBeUndefined()
    })

    it('keeps what a handler’s policy says, where whoever submitted did not know it', async () => {
      const [runner, other = runner] = await setUp(2)
      const inherited = await submit(runner, { retentionPolicy: {} })
      const explicit = await submit(runner, { retentionPolicy: { ttlAfterTerminalDays: 3 } })
      const results = Promise.all([runner.waitFor(inherited.id), runner.waitFor(explicit.id)])
      await runner.get(inherited.id)
      work(other, [
        defineTaskHandler({
          type: 'mail',
          version: 1,
          retentionPolicy: NOTHING,
          handler: async ({ sleep }) => {
            await sleep(100)
            return 'done'
          },
        }),
      ])
      expect(await results).toEqual(['done', 'done'])
      expect(await runner.get(inherited.id)).toBeUndefined()
      expect((await runner.get(explicit.id))?.retentionPolicy).toMatchObject({ ttlAfterTerminalDays: 3 })
    })

    it('T34 keeps what whoever submitted asked for, also where that is the default', async () => {
      const [runner, other = runner] = await setUp(2)
      const asked = await submit(runner, { retentionPolicy: { onSuccess: 'keep' } })
      const inherited = await submit(runner, { retentionPolicy: { onSuccess: undefined } as never })
      const results = Promise.all([runner.waitFor(asked.id), runner.waitFor(inherited.id)])
      work(other, [
        defineTaskHandler<unknown, unknown>({
          type: 'mail',
          version: 1,
          retentionPolicy: { ...NOTHING, onSuccess: 'delete-all' },
          handler: () => 'done',
        }),
      ])
      await results
      expect((await runner.get(asked.id))?.retentionPolicy).toMatchObject({
        onSuccess: 'keep',
        ttlAfterTerminalDays: 30,
      })
      expect(await runner.get(inherited.id)).toBeUndefined()
    })

    it('lets a parent read its children, whose policy leaves nothing', async () => {
      const [runner] = await setUp()
      work(runner, [
        defineTaskHandler<unknown, unknown>({ type: 'page', version: 1, handler: (_ctx, n) => Promise.resolve(n) }),
        defineTaskHandler<unknown, unknown>({
          type: 'mail',
          version: 1,
          handler: async (ctx) => {
            const pages = [1, 2, 3].map((n) => ctx.spawnChild<number, number>('page', n, { retentionPolicy: NOTHING }))
            return ctx.awaitChildren(await Promise.all(pages))
          },
        }),
      ])
      const { id } = await submit(runner, { retentionPolicy: {} })
      expect(await runner.waitFor(id)).toEqual([1, 2, 3])
      const { children } = await runner.getTree(id)
      expect(children.map(({ task }) => task.result)).toEqual([1, 2, 3])
    })
  })
}
