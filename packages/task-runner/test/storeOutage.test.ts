import { expect, it, onTestFinished } from 'vitest'

import { Link, overLink } from '../../../test/support/link.js'
import { InProcessQueueAdapter, MemoryTaskStore, type DefineTaskHandlerOptions, type TaskStore } from '../src/index.js'
import { virtualTime } from '../src/testing/index.js'
import { handle, setUpCore, type TestHandler } from './support/setUpCore.js'

const SECOND = 1_000
const OUTAGE_MS = 10 * SECOND
/** The jobs of a runner that ask its store, each once a second here. */
const JOBS = ['blobs:blobs', 'expire', 'orphans', 'reconcile', 'retention', 'sweep']
const startAt = new Date('2030-01-01T00:00:00Z')

/** What the process would end with. */
const watchUnhandled = (): unknown[] => {
  const seen: unknown[] = []
  const note = (error: unknown): void => void seen.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  return seen
}

/** A runner in virtual time, over a store that rejects every operation while it is away. */
const setUp = () => {
  const time = virtualTime({ startAt })
  const outage = { isOn: false }
  const refused = new Set<string>()
  const link = new Link({
    faultOf: ({ name }) => {
      if (!outage.isOn) return undefined
      refused.add(name)
      return { how: 'reject', when: 'before' }
    },
  })
  const { clock } = time
  const core = setUpCore({
    clock,
    store: overLink<TaskStore>(new MemoryTaskStore({ now: () => time.now }), link),
    queueAdapter: new InProcessQueueAdapter({ clock }),
    sweepIntervalMs: SECOND,
    reconcilerIntervalMs: SECOND,
    expiryIntervalMs: SECOND,
    maintenanceIntervalMs: SECOND,
    blobSweepIntervalMs: SECOND,
  })
  // Before the disposal of the set-up, which does not move time.
  onTestFinished(async () => time.until(core.core[Symbol.asyncDispose]()))
  const runs: Record<string, number> = {}
  const on = (type: string, handler: TestHandler, more: Partial<DefineTaskHandlerOptions<unknown, unknown>> = {}) =>
    handle(
      (ctx, payload) => {
        runs[type] = (runs[type] ?? 0) + 1
        return handler(ctx, payload)
      },
      { type, ...more },
    )
  return { ...core, time, outage, refused, runs, on }
}

it('a store that rejects everything for ten seconds ends no process and stops no timer; afterwards all goes on', async () => {
  const unhandled = watchUnhandled()
  const { core, register, submit, read, errors, time, outage, refused, runs, on } = setUp()
  const retryPolicy = { maxAttempts: 2, backoff: 'linear', baseDelayMs: 3 * SECOND } as const
  register([
    on('ends during it', (ctx) => ctx.sleep(4 * SECOND)),
    on('outlives it', (ctx) => ctx.sleep(15 * SECOND)),
    on('outlives its lease', (ctx) => ctx.sleep(4 * SECOND), { visibilityTimeoutMs: 6 * SECOND }),
    on('is due during it', () => 'late'),
    on('is to be retried', ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('once')) : attempt), {
      retryPolicy,
    }),
    on('waits', (ctx) => ctx.spawnChildAndAwait('child', 1)),
    on('spawns during it', async (ctx) => (await ctx.sleep(5 * SECOND), ctx.spawnChildAndAwait('child', 1)), {
      retryPolicy,
    }),
    on('child', (ctx) => ctx.sleep(6 * SECOND)),
    on('comes later', () => 'new'),
  ])
  const names = ['ends during it', 'outlives it', 'outlives its lease', 'is to be retried', 'waits', 'spawns during it']
  const tasks = await Promise.all(names.map((type) => submit({ type })))
  tasks.push(await submit({ type: 'is due during it', notBefore: new Date(time.now + 5 * SECOND) }))
  const expiring = await submit({ type: 'nobody', startBefore: new Date(time.now + 5 * SECOND) })
  const waited = core.waitFor(tasks[0]!.id)
  await time.advance(SECOND)

  outage.isOn = true
  errors.length = 0
  await expect(submit({ type: 'comes later' })).rejects.toThrow('was rejected')
  await expect(read(tasks[0]!.id)).rejects.toThrow('was rejected')
  await time.advance(OUTAGE_MS)
  for (const job of JOBS) expect(errors.filter(({ operation }) => operation === job).length, job).toBeGreaterThan(8)
  expect([...refused]).toEqual(
    expect.arrayContaining(['create', 'get', 'lead', 'findUnqueued', 'extendAttempt', 'spawnChild', 'finishAttempt']),
  )

  outage.isOn = false
  await time.advance(15 * SECOND)
  const ended = await Promise.all(tasks.map(({ id }) => read(id)))
  expect(ended.map(({ type, status }) => [type, status])).toEqual(ended.map(({ type }) => [type, 'succeeded']))
  // What was done during it is written afterwards, and not done again while its lease lasts.
  expect(runs).toEqual({
    'ends during it': 1,
    'outlives it': 1,
    'outlives its lease': 2,
    'is to be retried': 2,
    waits: 2,
    'spawns during it': 3,
    child: 2,
    'is due during it': 1,
  })
  expect(await time.until(waited)).toBeUndefined()
  expect(await read(expiring.id)).toMatchObject({ status: 'failed', error: { name: 'TaskExpiredError' } })
  const { id } = await submit({ type: 'comes later' })
  await time.advance(0)
  expect(await read(id)).toMatchObject({ status: 'succeeded', result: 'new' })
  expect(unhandled).toEqual([])
})
