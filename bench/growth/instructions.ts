/**
 * `npm run build && npx tsx bench/growth/instructions.ts [--tasks 3000] [--only lanes,slots,due]`: what `redis-server`
 * executes for each task, counted by callgrind, so `valgrind` has to be installed. Unlike times, counts hardly depend on what
 * else a machine does: only on how many tasks happen to share a call.
 */
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'

import { createClient } from 'redis'

import { Party } from '../compare/party.js'
import { startCountedServer, type CountedServer } from './startCountedServer.js'

const { values } = parseArgs({
  options: { tasks: { type: 'string', default: '3000' }, only: { type: 'string', default: 'lanes,slots,due' } },
})
const tasks = Number(values.tasks)
const QUEUE = '{counted}'

interface Work {
  readonly lanes: number
  readonly slots: number
}

const GROWTHS: ReadonlyArray<{ readonly name: string; readonly what: string; readonly drains: readonly [Work, Work] }> =
  [
    ...[1, 10, 50].map((slots) => ({
      name: 'lanes',
      what: `1 to 50 lanes, ${String(slots)} slots`,
      drains: [
        { lanes: 1, slots },
        { lanes: 50, slots },
      ] as const,
    })),
    {
      name: 'manyLanes',
      what: '1 to 1,000 lanes, 50 slots',
      drains: [
        { lanes: 1, slots: 50 },
        { lanes: 1_000, slots: 50 },
      ],
    },
    {
      name: 'slots',
      what: '1 to 100 slots',
      drains: [
        { lanes: 1, slots: 1 },
        { lanes: 1, slots: 100 },
      ],
    },
  ]

const partiesOf = (server: CountedServer, lanes: number) => {
  const common = {
    module: new URL('../peer/redis-task-runner.mjs', import.meta.url).href,
    redis: { host: server.host, port: server.port },
    queue: QUEUE,
    // A server that counts is fifty times as slow.
    options: { lanes, commandDeadlineMs: 60_000 },
  }
  return {
    producer: () => new Party({ ...common, role: 'producer' }),
    worker: (concurrency: number) =>
      new Party({ ...common, role: 'worker', concurrency, warmup: Math.floor(tasks / 4), tasks }),
  }
}

const drained = async ({ lanes, slots }: Work): Promise<number> => {
  await using server = await startCountedServer()
  const parties = partiesOf(server, lanes)
  const producer = parties.producer()
  await producer.ask('bulk', { count: 2 * tasks, chunk: 500 })
  await producer.close()
  const worker = parties.worker(slots)
  await worker.hears('warm')
  server.count()
  await worker.hears('done')
  const counted = server.counted()
  await worker.close()
  return counted / tasks
}

const promoted = async (): Promise<number> => {
  await using server = await startCountedServer()
  const client = createClient({ socket: { host: server.host, port: server.port } })
  client.on('error', () => undefined) // whatever waits for it rejects
  await client.connect()
  const parties = partiesOf(server, 1)
  const producer = parties.producer()
  const dueAt = Date.now() + 10_000
  await producer.ask('bulk', { count: tasks, chunk: 500, notBefore: dueAt })
  await producer.close()
  // The worker promotes, and does nothing else.
  await client.sAdd(`{${QUEUE}}/tasks:paused`, '*')
  await delay(dueAt - Date.now())
  server.count()
  const worker = parties.worker(1)
  while ((await client.zCard(`{${QUEUE}}/tasks:scheduler`)) > 0) await delay(50)
  const counted = server.counted()
  await worker.close()
  await client.close()
  return counted / tasks
}

const wanted = new Set(values.only.split(','))
const thousands = (count: number): string => Math.round(count).toLocaleString('en')
console.log('| instructions of redis-server a task | little | much | ratio |')
console.log('| --- | --- | --- | --- |')
for (const { what, drains } of GROWTHS.filter(({ name }) => wanted.has(name))) {
  const [little, much] = [await drained(drains[0]), await drained(drains[1])]
  console.log(`| ${[what, thousands(little), thousands(much), (much / little).toFixed(2)].join(' | ')} |`)
}
if (wanted.has('due')) console.log(`\npromote a due task: ${thousands(await promoted())}`)
