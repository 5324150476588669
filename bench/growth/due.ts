/**
 * `npm run build && npx tsx bench/growth/due.ts [--tasks 100000]`: tasks that are due in one instant. How late the first one
 * starts, how fast they are moved to their lane, how long the scripts take, and what `PING` notices of it. Times are those
 * of a clock on the wall, so that a busy machine shows in them; what `PING` takes before is a measure of that.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { createClient } from 'redis'

import { startRedisServer } from '../../scripts/startRedisServer.js'
import { Party } from '../compare/party.js'

const { values } = parseArgs({ options: { tasks: { type: 'string', default: '100000' } } })
const tasks = Number(values.tasks)
const QUEUE = '{due}'
const SLOW_MICROSECONDS = 1_000
/** Long enough for a busy machine to park them all. */
const AHEAD_MS = 10_000 + tasks / 3

await using server = await startRedisServer()
const redis = { host: server.host, port: server.port }
const client = createClient({ socket: redis })
client.on('error', () => undefined) // whatever waits for it rejects
await client.connect()
await client.sendCommand(['CONFIG', 'SET', 'slowlog-log-slower-than', String(SLOW_MICROSECONDS)])
await client.sendCommand(['CONFIG', 'SET', 'slowlog-max-len', '10000'])

const common = { module: new URL('../peer/redis-task-runner.mjs', import.meta.url).href, redis, queue: QUEUE }
const [producer, worker] = [
  new Party({ ...common, role: 'producer' }),
  new Party({ ...common, role: 'worker', concurrency: 10, warmup: 0, tasks }),
]
await Promise.all([producer.hears('ready'), worker.hears('ready')])
const dueAt = Date.now() + AHEAD_MS
await producer.ask('bulk', { count: tasks, chunk: 500, notBefore: dueAt })
const schedule = `{${QUEUE}}/tasks:scheduler`
/** Milliseconds of a `PING` after the other, while it is so. */
const pingWhile = async (isSo: () => boolean | Promise<boolean>): Promise<number[]> => {
  const pings: number[] = []
  do {
    const from = performance.now()
    await client.ping()
    pings.push(performance.now() - from)
    await delay(1)
  } while (await isSo())
  return pings.sort((a, b) => a - b)
}
await delay(dueAt - Date.now() - 2_200)
if ((await client.zCard(schedule)) < tasks) throw new Error('They were due before all of them had been parked.')
const before = await pingWhile(() => Date.now() < dueAt - 200)
await client.sendCommand(['SLOWLOG', 'RESET'])
await delay(dueAt - Date.now() - 50)
let movedAt = NaN
const meanwhile = await pingWhile(async () => {
  const isLeft = (await client.zCard(schedule)) > 0
  movedAt = Date.now()
  return isLeft
})
const firstAt = await worker.ask<number | undefined>('firstAt')
const log = (await client.sendCommand(['SLOWLOG', 'GET', '-1'])) as unknown as Array<[number, number, number, string[]]>
const scripts = log.filter(([, , , [command = '']]) => command.startsWith('EVAL')).map(([, , took]) => took)
const longer = (ms: number): number => scripts.filter((took) => took > ms * 1_000).length
const p99 = (pings: readonly number[]): string =>
  `${(pings[Math.floor(pings.length * 0.99)] ?? NaN).toFixed(1)} ms, of ${pings.length}`
console.log(`${tasks} tasks due in one instant:`)
console.log(`first start ${((firstAt ?? NaN) - dueAt).toFixed(1)} ms late`)
console.log(`promoted at ${((tasks / Math.max(1, movedAt - dueAt)) * 1_000).toFixed(0)} tasks a second`)
console.log(`longest script ${(Math.max(0, ...scripts) / 1_000).toFixed(1)} ms`)
console.log(`longer than 1, 2 and 5 ms: ${[1, 2, 5].map(longer).join(', ')} scripts`)
console.log(`PING p99 ${p99(meanwhile)}; before ${p99(before)}`)
await Promise.all([producer.close(), worker.close()])
await client.close()
