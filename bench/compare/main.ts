/**
 * `npm run bench [-- --rounds 5] [--svg docs/bench.svg] [--json]`: this library against BullMQ and against bare Redis
 * Streams, which are the floor: a table of medians, and a chart if a file for it is named. The peers take turns within
 * each round, on a Redis server of their own without persistence.
 */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'

import { createClient } from 'redis'

import { startRedisServer } from '../../scripts/startRedisServer.js'
import { chartOf } from './chart.js'
import { type Amounts, type Figures, measure, type Peer } from './measure.js'
import { mediansOf, tableOf } from './table.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    svg: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
const AMOUNTS: Amounts = {
  submits: 6_000,
  process: { '1': 5_000, '10': 12_000, '50': 16_000 },
  // The first thousands are run by code that is still being compiled; at ten slots a turn is ten of them.
  warmup: 8_000,
  latencies: 240,
}

const peerAt = (name: string, file: string): Peer => ({
  name,
  module: new URL(`../peer/${file}`, import.meta.url).href,
})
const PEERS = [
  peerAt('this library', 'redis-task-runner.mjs'),
  peerAt('BullMQ', 'bullmq.mjs'),
  peerAt('bare Streams', 'raw.mjs'),
] as const

await using server = await startRedisServer()
const client = createClient({ url: server.url })
await client.connect()
const redisVersion = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? '?'
await client.close()

const runs = new Map<string, Figures[]>(PEERS.map(({ name }) => [name, []]))
const versions: Record<string, string> = {}
for (let round = 1; round <= rounds; round++) {
  for (const peer of PEERS) {
    process.stderr.write(`round ${round} of ${rounds}: ${peer.name}${' '.repeat(20)}\r`)
    runs.get(peer.name)?.push(await measure(peer, server, AMOUNTS, (found) => Object.assign(versions, found)))
  }
}

const medians = mediansOf(runs)
const [cpu] = cpus()
const software = Object.entries({ ...versions, Redis: redisVersion, Node: process.versions.node })
const about = [
  `Medians of ${rounds} alternating rounds on ${new Date().toISOString().slice(0, 10)}`,
  `${cpus().length} cores (${(cpu?.model ?? 'unknown').trim()})`,
  software.map(([name, version]) => `${name} ${version}`).join(', '),
]
if (values.json) console.log(JSON.stringify({ about, runs: Object.fromEntries(runs) }))
else console.log(`${about.join('; ')}.\n\n${tableOf(medians, PEERS[0].name, PEERS[1].name)}`)
if (values.svg !== undefined)
  writeFileSync(values.svg, chartOf(medians, `${about[0] ?? ''}, ${cpus().length} cores, npm run bench`))
