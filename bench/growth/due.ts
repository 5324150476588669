/**
 * `npm run build && npx tsx bench/growth/due.ts [--tasks 100000]`: tasks that are due in one instant. How late the first one
 * starts, how fast they are moved to their lane, how long the longest script takes, and what `PING` notices of it.
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
const dueAt = Date.now() + 5_000 + tasks / 10
await producer.ask('bulk', { count: tasks, chunk: 500, notBefore: dueAt })
await client.sendCommand(['SLOWLOG', 'RESET'])
await delay(dueAt - Date.now() - 200)

const schedule = `{${QUEUE}}/tasks:scheduler`
const pings: number[] = []
let movedAt: number | undefined
while (movedAt === undefined) {
  const from = performance.now()
  await client.ping()
  pings.push(performance.now() - from)
  if ((await client.zCard(schedule)) === 0) movedAt = Date.now()
  await delay(1)
}
const firstAt = await worker.ask<number | undefined>('firstAt')
const log = (await client.sendCommand(['SLOWLOG', 'GET', '-1'])) as unknown as Array<[number, number, number, string[]]>
const scripts = log.filter(([, , , [command = '']]) => command.startsWith('EVAL')).map(([, , took]) => took)
pings.sort((a, b) => a - b)
console.log(`${tasks} tasks due in one instant:`)
console.log(`first start ${((firstAt ?? NaN) - dueAt).toFixed(1)} ms late`)
console.log(`promoted at ${((tasks / Math.max(1, movedAt - dueAt)) * 1_000).toFixed(0)} tasks a second`)
console.log(
  `longest script ${(Math.max(0, ...scripts) / 1_000).toFixed(1)} ms; ${scripts.length} took more than ${SLOW_MICROSECONDS / 1_000} ms`,
)
console.log(`PING p99 ${(pings[Math.floor(pings.length * 0.99)] ?? NaN).toFixed(1)} ms, of ${pings.length}`)
await Promise.all([producer.close(), worker.close()])
await client.close()
