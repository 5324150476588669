import { InMemoryBlobStore } from '@furystack/blob-store'
import { describe, expect, it } from 'vitest'

import {
  DEFAULT_RETENTION_POLICY,
  MemoryTaskStore,
  type SweeperRunResult,
  TaskBlobSweeper,
  TaskRunnerTelemetry,
  type TaskRetentionPolicy,
} from '../src/index.js'
import { virtualTime } from '../src/testing/index.js'

const DAY_MS = 86_400_000
const policy = (ttlAfterTerminalDays: number): TaskRetentionPolicy => ({
  ...DEFAULT_RETENTION_POLICY,
  onSuccess: 'delete-all',
  ttlAfterTerminalDays,
  keepRowDays: 60,
})
const NOTHING: SweeperRunResult = { scannedCount: 0, sweptCount: 0, deletedBlobCount: 0 }

const setUp = () => {
  let time = Date.UTC(2030, 0, 1)
  const store = new MemoryTaskStore({ now: () => time })
  const blobStore = new InMemoryBlobStore({ name: 'blobs' })
  const telemetry = new TaskRunnerTelemetry()
  const runs: number[] = []
  telemetry.addListener('onSweeperRun', ({ scannedCount }) => void runs.push(scannedCount))
  /** A task that has ended, with a blob. */
  const end = async (id: string, retentionPolicy: TaskRetentionPolicy): Promise<string> => {
    await store.create({ id, type: 'page', handlerVersion: 1, status: 'pending', tags: [], retentionPolicy })
    await store.beginAttempt({ taskId: id, workerId: 'w', visibilityTimeoutMs: 1_000, redelivered: false })
    const blob = await blobStore.put(`tasks/${id}/out`, Buffer.from('x'))
    await store.recordBlob({ taskId: id, attempt: 1, use: 'produced', blob })
    await store.finishAttempt({
      taskId: id,
      attempt: 1,
      workerId: 'w',
      startedAt: time,
      outcome: { kind: 'succeeded' },
    })
    return id
  }
  return { store, blobStore, telemetry, runs, end, pass: (ms: number) => void (time += ms) }
}

describe('TaskBlobSweeper', () => {
  it('T51 finds what is due behind 10000 tasks that are not', async () => {
    const { end, pass, runs, blobStore, ...deps } = setUp()
    for (let index = 0; index < 10_000; index++) await end(`later-${index}`, policy(30))
    pass(1_000)
    for (let index = 0; index < 250; index++) await end(`due-${index}`, policy(1))
    pass(DAY_MS)
    await using sweeper = new TaskBlobSweeper({ ...deps, blobStore }, { scanIntervalMs: Infinity })
    expect(await sweeper.runOnce()).toEqual({ scannedCount: 250, sweptCount: 250, deletedBlobCount: 250 })
    expect(await sweeper.runOnce()).toEqual(NOTHING)
    expect(runs).toEqual([250, 0])
    expect((await blobStore.list('tasks/due-', { limit: 1 })).items).toEqual([])
    pass(29 * DAY_MS)
    expect(await sweeper.runOnce()).toMatchObject({ deletedBlobCount: 10_000 })
  })

  it('does nothing once it is disposed', async () => {
    const { end, ...deps } = setUp()
    await end('a', policy(0))
    const sweeper = new TaskBlobSweeper(deps, { scanIntervalMs: Infinity })
    sweeper[Symbol.dispose]()
    expect(await sweeper.runOnce()).toEqual(NOTHING)
    expect(await deps.blobStore.head('tasks/a/out')).toBeDefined()
  })

  it('sweeps once an interval by itself, one of several', async () => {
    const virtual = virtualTime()
    const { clock } = virtual
    const { end, runs, ...deps } = setUp()
    const options = { scanIntervalMs: 60_000, clock }
    await using _first = new TaskBlobSweeper(deps, options)
    await using _second = new TaskBlobSweeper(deps, options)
    await end('a', policy(0))
    await virtual.advance(29_000)
    expect(runs).toEqual([])
    await virtual.advance(120_000)
    expect(runs.length).toBeGreaterThan(0)
    expect(await deps.blobStore.head('tasks/a/out')).toBeUndefined()
  })

  it('T52 goes on where a deletion never ends', async () => {
    const virtual = virtualTime()
    const { clock } = virtual
    const { end, pass, ...deps } = setUp()
    const remove = deps.blobStore.delete.bind(deps.blobStore)
    deps.blobStore.delete = (key) => (key.includes('stuck') ? new Promise(() => undefined) : remove(key))
    await end('stuck', policy(0))
    await end('free', policy(0))
    const sweeper = new TaskBlobSweeper(deps, { scanIntervalMs: Infinity, clock })
    const run = sweeper.runOnce()
    await virtual.advance(31_000)
    expect(await run).toEqual({ scannedCount: 2, sweptCount: 1, deletedBlobCount: 1 })
    deps.blobStore.delete = remove
    expect(await sweeper.runOnce()).toEqual(NOTHING)
    pass(600_000)
    expect(await sweeper.runOnce()).toEqual({ scannedCount: 1, sweptCount: 1, deletedBlobCount: 1 })
  })

  it.each([{ scanIntervalMs: 0 }, { scanIntervalMs: Number.NaN }, { batchSize: 0 }, { batchSize: 1_001 }])(
    'refuses the options %o',
    (options) => {
      expect(() => new TaskBlobSweeper(setUp(), options)).toThrow(
        expect.objectContaining({ name: 'InvalidArgumentError' }),
      )
    },
  )
})
