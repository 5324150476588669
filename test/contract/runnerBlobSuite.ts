import {
  type BlobPutInput,
  type BlobPutOptions,
  type BlobRef,
  BlobStore,
  type BlobUploadUrl,
  InMemoryBlobStore,
} from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import {
  AttemptEndedError,
  type DefineTaskHandlerOptions,
  defineTaskBlobSweeper,
  defineTaskHandler,
  type SubmitOptions,
  type TaskBlobSweeper,
  type TaskContext,
  TaskRunner,
  TaskRunnerTelemetryToken,
  type TaskRunnerTelemetryEvents,
} from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'
import type { MakeRunners, RunnersHarness } from './runnerSuite.js'

/** Its blobs are due when it ends, and its row stays to be looked at. */
const DELETE_ALL = {
  onSuccess: 'delete-all',
  onFailure: 'delete-all',
  ttlAfterTerminalDays: 0,
  keepRowDays: 1,
  keepFailedRowDays: 1,
} as const

/** A blob store that can be watched, and gets into trouble where it is told to. */
class WatchedBlobStore extends InMemoryBlobStore {
  readonly deleted: string[] = []
  onWrite: (key: string) => Promise<void> = () => Promise.resolve()
  onDelete: (key: string) => Promise<void> = () => Promise.resolve()

  constructor() {
    super({ name: 'watched' })
  }

  override async put(key: string, payload: BlobPutInput, options?: BlobPutOptions): Promise<BlobRef> {
    await this.onWrite(key)
    return super.put(key, payload, options)
  }

  override async getUploadUrl(key: string): Promise<BlobUploadUrl> {
    await this.onWrite(key)
    return { url: `https://blobs/${key}`, method: 'PUT' }
  }

  override async delete(key: string): Promise<void> {
    await this.onDelete(key)
    await super.delete(key)
    this.deleted.push(key)
  }
}

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => unknown

/** What becomes of the blobs of tasks, whatever the runner's queue and store are. */
export const runnerBlobSuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} with blobs`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const setUp = async (count = 1, { blobSweepIntervalMs = Infinity } = {}) => {
      const blobStore = new WatchedBlobStore()
      const harness = await makeRunners(count, { blobStore, blobSweepIntervalMs })
      cleanups.push(() => harness.dispose())
      const [runner, other = runner] = harness.runners as [TaskRunner, ...TaskRunner[]]
      const troubles: string[] = []
      harness.telemetry.addListener('onTaskRunnerError', ({ operation }) => void troubles.push(operation))
      return { blobStore, runner, other, telemetry: harness.telemetry, troubles }
    }

    const work = (
      runner: TaskRunner,
      handler: Handler,
      more: Partial<DefineTaskHandlerOptions<unknown, unknown>> = {},
    ) =>
      runner.registerWorker({
        name: 'worker',
        handlers: [
          defineTaskHandler<unknown, unknown>({
            type: 'page',
            version: 1,
            handler,
            ...more,
          }),
        ],
        concurrency: 4,
        tags: [],
        compatibleVersions: {},
      })

    const submit = (runner: TaskRunner, more: Partial<SubmitOptions<unknown>> = {}) =>
      runner.submit({ type: 'page', handlerVersion: 1, payload: 1, retentionPolicy: DELETE_ALL, ...more })

    /** A sweeper as an application has it. */
    const sweeperOf = (
      runner: TaskRunner,
      blobStore: BlobStore,
      telemetry: RunnersHarness['telemetry'],
    ): TaskBlobSweeper => {
      const injector = createInjector()
      cleanups.push(() => injector[Symbol.asyncDispose]())
      injector.bind(TaskRunner, () => runner)
      injector.bind(BlobStore, () => blobStore)
      injector.bind(TaskRunnerTelemetryToken, () => telemetry)
      return injector.get(defineTaskBlobSweeper({ scanIntervalMs: Infinity }))
    }

    it('T50 has a blob on the record before it can be written, and each of them once', async () => {
      const { blobStore, runner } = await setUp()
      const writes: Array<{ key: string; isRecorded: boolean }> = []
      blobStore.onWrite = async (key) => {
        const task = await runner.get(key.split('/')[1] ?? '')
        writes.push({ key, isRecorded: task?.producedBlobs.some((blob) => blob.key === key) === true })
      }
      work(
        runner,
        async ({ allocateBlob, blobStore: blobs, attempt, spawnChildAndAwait, taskId }, payload) => {
          if (payload === 'child') return
          const ref = allocateBlob('report.txt', { contentType: 'text/plain' })
          await blobs.put(ref.key, Buffer.from('hello'), { contentType: 'text/plain' })
          await blobs.put(`tasks/${taskId}/direct`, Buffer.from('x'))
          await blobs.getUploadUrl(`tasks/${taskId}/upload`, { ttlSec: 60 })
          await blobs.put('elsewhere/of/nobody', Buffer.from('y'))
          if (attempt === 1) throw new Error('again')
          // The handler is run again from the top after this.
          await spawnChildAndAwait('page', 'child')
          return ref
        },
        { retryPolicy: { maxAttempts: 2 } },
      )
      const { id } = await submit(runner)
      expect(await runner.waitFor(id)).toMatchObject({ key: `tasks/${id}/report.txt` })
      // At least the run that failed and the one after it.
      expect(writes.length).toBeGreaterThanOrEqual(8)
      for (const { key, isRecorded } of writes) expect([key, isRecorded]).toEqual([key, key.startsWith(`tasks/${id}/`)])
      const task = await runner.get(id)
      expect(task?.producedBlobs).toMatchObject([
        { storeName: 'watched', key: `tasks/${id}/report.txt`, contentType: 'text/plain', contentLength: 5 },
        { key: `tasks/${id}/direct`, contentLength: 1 },
        { key: `tasks/${id}/upload` },
      ])
      expect(task?.producedBlobs).toHaveLength(3)
      expect(task?.consumedBlobs).toEqual([])
    })

    it('T50 has a blob on the record that was only named, by the end of the run', async () => {
      const { runner } = await setUp()
      work(runner, ({ allocateBlob }) => allocateBlob('later.bin'))
      const { id } = await submit(runner)
      const ref = await runner.waitFor(id)
      expect(ref).toEqual({ storeName: 'watched', key: `tasks/${id}/later.bin` })
      expect((await runner.get(id))?.producedBlobs).toEqual([ref])
    })

    it('T50 finds what was being written when its worker failed', async () => {
      const { blobStore, runner, telemetry } = await setUp()
      // Half of it is there, and nobody has heard of that.
      blobStore.onWrite = async (key) => {
        blobStore.onWrite = () => Promise.resolve()
        await blobStore.put(key, Buffer.from('half'))
        throw new Error('the connection is gone')
      }
      work(runner, ({ blobStore: blobs, taskId }) => blobs.put(`tasks/${taskId}/out`, Buffer.from('whole')))
      const { id } = await submit(runner)
      await expect(runner.waitFor(id)).rejects.toThrow('the connection is gone')
      expect(await blobStore.head(`tasks/${id}/out`)).toBeDefined()
      const sweeper = sweeperOf(runner, blobStore, telemetry)
      expect(await sweeper.runOnce()).toEqual({ scannedCount: 1, sweptCount: 1, deletedBlobCount: 1 })
      expect(await blobStore.head(`tasks/${id}/out`)).toBeUndefined()
      const task = await runner.get(id)
      expect(task).toMatchObject({ producedBlobs: [], status: 'failed' })
      expect(task?.blobsSweptAt).toBeDefined()
      expect(await sweeper.runOnce()).toEqual({ scannedCount: 0, sweptCount: 0, deletedBlobCount: 0 })
    })

    it('writes nothing for a run that is over', async () => {
      const { blobStore, runner } = await setUp()
      const kept = deferred<TaskContext<unknown>>()
      work(runner, (ctx) => {
        kept.resolve(ctx)
        void ctx.blobStore
      })
      const { id } = await submit(runner)
      await runner.waitFor(id)
      const ctx = await kept.promise
      const key = `tasks/${id}/late`
      await expect(ctx.blobStore.put(key, Buffer.from('x'))).rejects.toBeInstanceOf(AttemptEndedError)
      await expect(ctx.consumeBlob({ storeName: 'watched', key })).rejects.toBeInstanceOf(AttemptEndedError)
      expect(await blobStore.head(key)).toBeUndefined()
      expect((await runner.get(id))?.producedBlobs).toEqual([])
    })

    it('T18 settles no upload that a branch begins once its run waits', async () => {
      const { blobStore, runner } = await setUp()
      const [waits, childMayEnd] = [deferred(), deferred()]
      const seen: unknown[] = []
      work(runner, async ({ allocateBlob, blobStore: blobs, attempt, spawnChildAndAwait }, payload) => {
        if (payload === 'child') return childMayEnd.promise
        const { key } = allocateBlob('out')
        const upload = async (): Promise<void> => {
          await waits.promise
          try {
            await blobs.put(key, Buffer.from('late'))
          } catch (error) {
            seen.push(error)
          } finally {
            seen.push('settled')
          }
        }
        await Promise.all([spawnChildAndAwait('page', 'child'), attempt === 1 && upload()])
        return 'done'
      })
      const { id } = await submit(runner)
      await until(async () => (await runner.get(id))?.status === 'waiting', { description: 'the parent waits' })
      waits.resolve()
      childMayEnd.resolve()
      expect(await runner.waitFor(id)).toBe('done')
      expect(seen).toEqual([])
      expect(await blobStore.head(`tasks/${id}/out`)).toBeUndefined()
    })

    it('T52 deletes what can be deleted, and reports the rest', async () => {
      const { blobStore, runner, telemetry, troubles } = await setUp()
      work(runner, async ({ blobStore: blobs, taskId }) => {
        for (const suffix of ['a', 'b', 'c']) await blobs.put(`tasks/${taskId}/${suffix}`, Buffer.from(suffix))
      })
      const ids: string[] = []
      for (let index = 0; index < 4; index++) {
        const { id } = await submit(runner)
        await runner.waitFor(id)
        ids.push(id)
      }
      const stuck = `tasks/${ids[1]!}/b`
      blobStore.onDelete = (key) => (key === stuck ? Promise.reject(new Error('no')) : Promise.resolve())
      const told: Array<TaskRunnerTelemetryEvents['onSweeperBlobDeleted']> = []
      telemetry.addListener('onSweeperBlobDeleted', (event) => void told.push(event))
      const sweeper = sweeperOf(runner, blobStore, telemetry)
      expect(await sweeper.runOnce()).toEqual({ scannedCount: 4, sweptCount: 3, deletedBlobCount: 11 })
      expect(troubles).toEqual(['sweepBlobs'])
      expect(told).toHaveLength(11)
      expect(told[0]).toMatchObject({ type: 'page', reason: 'produced' })
      const rows = await Promise.all(ids.map((id) => runner.get(id)))
      expect(rows.map((row) => row?.blobsSweptAt !== undefined)).toEqual([true, false, true, true])
      expect(rows[1]?.producedBlobs.map(({ key }) => key)).toEqual([stuck])
    })

    it('T53 deletes no blob that another task still uses', async () => {
      const { blobStore, runner, other, telemetry } = await setUp(2)
      const gate = deferred()
      const isReading = deferred()
      work(other, async (ctx, payload) => {
        if (payload === 'write') return ctx.blobStore.put(ctx.allocateBlob('out').key, Buffer.from('shared'))
        const { input } = payload as { input: BlobRef }
        if (ctx.attempt === 1) await ctx.consumeBlob(input)
        isReading.resolve()
        await gate.promise
        return Buffer.from(await new Response((await ctx.blobStore.get(input.key)).stream).arrayBuffer()).toString()
      })
      const writer = await submit(runner, { payload: 'write' })
      const input = await runner.waitFor<BlobRef>(writer.id)
      const uploaded = await blobStore.put('uploads/1', Buffer.from('given'))
      const reader = await submit(runner, { payload: { input }, consumedBlobs: [uploaded] })
      expect(reader.consumedBlobs).toEqual([uploaded])
      await isReading.promise
      expect((await runner.get(reader.id))?.consumedBlobs.map(({ key }) => key)).toEqual(['uploads/1', input.key])
      const sweeper = sweeperOf(runner, blobStore, telemetry)
      expect(await sweeper.runOnce()).toMatchObject({ sweptCount: 0, deletedBlobCount: 0 })
      gate.resolve()
      expect(await runner.waitFor(reader.id)).toBe('shared')
      // What it was given goes with it; what another task produced is that one's.
      expect(await sweeper.runOnce()).toMatchObject({ sweptCount: 1, deletedBlobCount: 1 })
      expect(blobStore.deleted).toEqual(['uploads/1'])
      expect(await runner.get(reader.id)).toMatchObject({ consumedBlobs: [] })
    })

    it('deletes a blob in one sweep, where its writer and its reader are both over', async () => {
      const { blobStore, runner, telemetry } = await setUp()
      work(runner, (ctx, payload) =>
        payload === 'write'
          ? ctx.blobStore.put(ctx.allocateBlob('out').key, Buffer.from('shared'))
          : ctx.consumeBlob(payload as BlobRef),
      )
      const writer = await submit(runner, { payload: 'write' })
      const blob = await runner.waitFor<BlobRef>(writer.id)
      const reader = await submit(runner, { payload: { ...blob } })
      await runner.waitFor(reader.id)
      const sweeper = sweeperOf(runner, blobStore, telemetry)
      expect(await sweeper.runOnce()).toEqual({ scannedCount: 2, sweptCount: 2, deletedBlobCount: 1 })
      expect(blobStore.deleted).toEqual([blob.key])
    })

    it('T53 deletes nothing of another store', async () => {
      const { blobStore, runner, telemetry } = await setUp()
      const foreign = new WatchedBlobStore()
      const key = 'uploads/1'
      work(runner, ({ consumeBlob }) => consumeBlob({ storeName: 'another', key }))
      const { id } = await submit(runner)
      await runner.waitFor(id)
      await foreign.put(key, Buffer.from('x'))
      await blobStore.put(key, Buffer.from('y'))
      expect(await sweeperOf(runner, blobStore, telemetry).runOnce()).toMatchObject({ deletedBlobCount: 0 })
      expect(await blobStore.head(key)).toBeDefined()
      expect((await runner.get(id))?.consumedBlobs).toEqual([{ storeName: 'another', key }])
    })

    it('T54 deletes each blob once, whoever sweeps at the same time', async () => {
      const { blobStore, runner, other, telemetry } = await setUp(2)
      work(runner, ({ blobStore: blobs, taskId }) => blobs.put(`tasks/${taskId}/out`, Buffer.from('x')))
      const tasks = await runner.submitMany(
        Array.from({ length: 30 }, () => ({
          type: 'page',
          handlerVersion: 1,
          payload: 1,
          retentionPolicy: DELETE_ALL,
        })),
      )
      await Promise.all(tasks.map(({ id }) => runner.waitFor(id)))
      const sweepers = [runner, other, runner].map((one) => sweeperOf(one, blobStore, telemetry))
      const results = await Promise.all(sweepers.map((sweeper) => sweeper.runOnce()))
      expect(results.reduce((sum, { deletedBlobCount }) => sum + deletedBlobCount, 0)).toBe(30)
      expect(new Set(blobStore.deleted).size).toBe(30)
      expect(blobStore.deleted).toHaveLength(30)
    })

    it('takes the policy of the handler, where whoever submitted did not know it', async () => {
      const { blobStore, runner, other, telemetry } = await setUp(2)
      const { id } = await submit(runner, { retentionPolicy: {} })
      work(other, ({ blobStore: blobs, taskId }) => blobs.put(`tasks/${taskId}/out`, Buffer.from('x')), {
        retentionPolicy: DELETE_ALL,
      })
      await runner.waitFor(id)
      expect(await sweeperOf(runner, blobStore, telemetry).runOnce()).toMatchObject({ deletedBlobCount: 1 })
    })

    it('deletes blobs by itself', async () => {
      const { blobStore, runner, troubles } = await setUp(2, { blobSweepIntervalMs: 50 })
      work(runner, ({ blobStore: blobs, taskId }) => blobs.put(`tasks/${taskId}/out`, Buffer.from('x')))
      const kept = await submit(runner, { retentionPolicy: { ...DELETE_ALL, onSuccess: 'keep' } })
      const { id } = await submit(runner)
      await Promise.all([runner.waitFor(id), runner.waitFor(kept.id)])
      await until(async () => (await runner.get(id))?.blobsSweptAt !== undefined)
      await until(async () => (await runner.get(kept.id))?.blobsSweptAt !== undefined)
      expect(blobStore.deleted).toEqual([`tasks/${id}/out`])
      expect((await runner.get(kept.id))?.producedBlobs).toHaveLength(1)
      expect(troubles).toEqual([])
    })

    it.each([
      [{ consumedBlobs: 'no' }, 'consumedBlobs'],
      [{ consumedBlobs: [{ key: 'a' }] }, 'consumedBlobs[0].storeName'],
      [{ consumedBlobs: [{ storeName: 's', key: '/a' }] }, 'consumedBlobs[0].key'],
      [{ consumedBlobs: Array.from({ length: 1_001 }, () => ({ storeName: 's', key: 'a' })) }, 'consumedBlobs'],
    ])('refuses what is no list of blobs', async (more, property) => {
      const { runner } = await setUp()
      await expect(submit(runner, more as never)).rejects.toMatchObject({ name: 'InvalidArgumentError', property })
    })
  })
}
