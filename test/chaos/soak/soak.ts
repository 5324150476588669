import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { CrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { TaskRunner } from '@furystack/task-runner'

import { defineRedisTaskRunner } from '../../../src/index.js'
import { startRedisServer } from '../../support/redisServer.js'
import { until } from '../../support/until.js'
import { type ProcessReadings, readProcess, readRedis, type RedisReadings } from './readings.js'
import { connectSoakClient } from './soakClient.js'
import { SOAK_SERVICE } from './soakService.js'
import { type SoakWorker, startSoakWorker } from './soakWorker.js'

/** How long, and how rough. */
export interface SoakOptions {
  /** Tasks submitted after the base was taken; children come on top. */
  readonly tasks: number
  /** After how many tasks a worker process is replaced, and a worker within the process that stays. */
  readonly replaceEvery: number
  /** How processes that are replaced end, in turn. */
  readonly ends: ReadonlyArray<'SIGTERM' | 'SIGKILL'>
  readonly say?: (line: string) => void
}

/** What everybody held at one time. */
export interface SoakReadings {
  readonly redis: RedisReadings
  readonly submitter: ProcessReadings
  /** The worker process that was there all the time. */
  readonly worker: ProcessReadings
}

export interface SoakReport {
  readonly base: SoakReadings
  readonly end: SoakReadings
  readonly replaced: number
  readonly seconds: number
}

const BATCH = 500
/** Keys more than in the base, at most, while tasks are submitted: a bound for what waits. */
const AHEAD = 6_000
/** A consumer counts as gone after a minute; a sweep notices. */
const REST_MS = 120_000
/** One of these each, in turn. */
const MIX = [
  ...Array.from({ length: 40 }, () => 'plain'),
  ...Array.from({ length: 4 }, () => 'replayed'),
  ...Array.from({ length: 2 }, () => 'capped'),
  'retried',
  'failing',
  'delayed',
  'family',
]
const NOTHING = { keepRowDays: 0, keepFailedRowDays: 0 }

/**
 * Runs many tasks of many kinds that keep nothing, while workers come and go, on a Redis of its own; and tells what all
 * parties held before and after, when everything is at rest.
 *
 * @example
 * const { base, end } = await soak({ tasks: 1_000_000, replaceEvery: 20_000, ends: ['SIGTERM', 'SIGKILL'] })
 */
export const soak = async ({ tasks, replaceEvery, ends, say }: SoakOptions): Promise<SoakReport> => {
  const { topicPrefix, options, bus } = SOAK_SERVICE
  await using server = await startRedisServer()
  const client = await connectSoakClient(server.url)
  const injector = createInjector()
  injector.bind(BlobStore, () => new InMemoryBlobStore())
  injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: 'soak', topicPrefix, ...bus }))
  injector.bind(
    TaskRunner,
    defineRedisTaskRunner({ client, serviceName: 'soak', topicPrefix, capabilityCheck: 'off', ...options }),
  )
  const runner = injector.get(TaskRunner)
  const workers: SoakWorker[] = []
  const startWorkers = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) workers.push(await startSoakWorker(server.url))
  }
  let submitted = 0
  const submitBatch = async (): Promise<void> => {
    const now = Date.now()
    await runner.submitMany(
      Array.from({ length: BATCH }, () => {
        const type = MIX[submitted % MIX.length] ?? 'plain'
        const keyed = submitted % 10 === 0 && { idempotencyKey: `key-${String(submitted)}` }
        const payload = submitted++
        const common = { handlerVersion: 1, payload, retentionPolicy: NOTHING, ...keyed }
        return type === 'delayed' ? { ...common, type: 'plain', notBefore: new Date(now + 500) } : { ...common, type }
      }),
    )
  }
  const submitAll = async (count: number, baseKeys: number, onBatch: () => Promise<void>): Promise<void> => {
    const goal = submitted + count
    while (submitted < goal) {
      await until(async () => (await client.dbSize()) < baseKeys + AHEAD, { timeoutMs: 60_000, intervalMs: 5 })
      await submitBatch()
      await onBatch()
    }
  }
  const read = async (): Promise<SoakReadings> => {
    const [first] = workers
    if (first === undefined) throw new Error('no worker')
    return { submitter: readProcess(client), worker: await first.read(), redis: await readRedis(client, topicPrefix) }
  }
  const atRest = async (isAtRest: (now: RedisReadings) => boolean): Promise<void> => {
    await until(async () => isAtRest(await readRedis(client, topicPrefix)), { timeoutMs: REST_MS, intervalMs: 500 })
  }

  try {
    await startWorkers(3)
    // Everything that is made once: scripts, lanes, code that is compiled as it gets hot, tables that have grown.
    await submitAll(Math.max(5_000, Math.min(20_000, tasks / 10)), 100, () => Promise.resolve())
    let least = Infinity
    let since = Date.now()
    await atRest(({ keys }) => {
      if (keys < least) [least, since] = [keys, Date.now()]
      return Date.now() - since > 3_000
    })
    const base = await read()
    say?.(`base: ${JSON.stringify(base)}`)

    const startedAt = Date.now()
    let replaced = 0
    let next = submitted + replaceEvery
    await submitAll(tasks, base.redis.keys, async () => {
      if (submitted < next) return
      next += replaceEvery
      const end = ends[replaced % ends.length] ?? 'SIGTERM'
      const [stays, goes] = workers
      await Promise.all([stays?.replace(), goes?.end(end), startWorkers(1)])
      workers.splice(1, 1)
      replaced++
      if (replaced % 5 === 0) say?.(`${submitted} submitted, ${replaced} replaced, ${await client.dbSize()} keys`)
    })
    const seconds = Math.round((Date.now() - startedAt) / 1_000)
    await atRest(({ keys, consumers }) => keys <= base.redis.keys && consumers <= base.redis.consumers).catch(
      () => undefined,
    )
    const end = await read()
    say?.(`end: ${JSON.stringify(end)}`)
    return { base, end, replaced, seconds }
  } finally {
    await Promise.all(workers.map((worker) => worker.end('SIGKILL')))
    await injector[Symbol.asyncDispose]()
    client.destroy()
  }
}
