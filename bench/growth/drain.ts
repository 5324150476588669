import { setTimeout as delay } from 'node:timers/promises'

import { createClient } from 'redis'

import { costSoFar } from '../compare/cost.js'
import { Party } from '../compare/party.js'

/** What one drain is like. */
export interface Drain {
  /** How many tasks lie there at the beginning. */
  readonly waiting: number
  readonly lanes?: number
  readonly slots: number
  /** Worker processes. */
  readonly workers?: number
  /** Ended tasks whose rows are kept at the beginning. */
  readonly kept?: number
  /** How many of them the workers are measured by, on average, once each has done half as many. */
  readonly tasks: number
}

/** Tasks a second, and microseconds of CPU a task. */
export interface Drained {
  readonly rate: number
  readonly redis: number
  readonly workers: number
}

const MODULE = new URL('../peer/redis-task-runner.mjs', import.meta.url).href
const CHUNK = 1_000

/** Fills a server and measures how fast it is emptied. */
export const drain = async (
  server: { readonly host: string; readonly port: number },
  { waiting, lanes = 1, slots, workers = 1, kept = 0, tasks }: Drain,
): Promise<Drained> => {
  const redis = { host: server.host, port: server.port }
  const client = createClient({ socket: redis })
  client.on('error', () => undefined) // whatever waits for it rejects
  await client.connect()
  await client.flushAll()
  const common = { module: MODULE, redis, queue: '{growth}', options: { lanes } }
  const work = (warmup: number, count: number, concurrency: number): Party =>
    new Party({ ...common, role: 'worker', concurrency, warmup, tasks: count })

  const producer = new Party({ ...common, role: 'producer' })
  if (kept > 0) {
    await producer.ask('bulk', { count: kept, chunk: CHUNK })
    const before = work(1, kept - 1, 100)
    await before.hears('done')
    await before.close()
  }
  await producer.ask('bulk', { count: waiting, chunk: CHUNK })
  await producer.close()

  const parties = Array.from({ length: workers }, () => work(Math.floor(tasks / 2), tasks, slots))
  await Promise.all(parties.map((party) => party.hears('warm')))
  const progress = async (): Promise<Progress> => {
    const all = await Promise.all(parties.map((party) => party.ask<Progress>('progress')))
    return all.reduce((sum, { completed, cpu }) => ({ completed: sum.completed + completed, cpu: sum.cpu + cpu }))
  }
  const before = await costSoFar(client)
  const from = performance.now()
  const first = await progress()
  let last = first
  // Not until each of them is done: one that is late may find too little left.
  while (last.completed - first.completed < tasks * workers) {
    await delay(20)
    const next = await progress()
    if (next.completed === last.completed) throw new Error('There were too few tasks to measure by.')
    last = next
  }
  const seconds = (performance.now() - from) / 1_000
  const after = await costSoFar(client)
  await Promise.all(parties.map((party) => party.close()))
  await client.close()
  const all = last.completed - first.completed
  return {
    rate: all / seconds,
    redis: ((after.cpu - before.cpu) / all) * 1e6,
    workers: ((last.cpu - first.cpu) / all) * 1e6,
  }
}

/** What workers have done so far, and seconds of CPU. */
interface Progress {
  readonly completed: number
  readonly cpu: number
}
