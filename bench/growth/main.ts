/**
 * `npm run build && npx tsx bench/growth/main.ts [--rounds 3] [--waiting 1000000] [--kept 100000] [--only lanes,slots]`:
 * whether a task costs more where there is more of something. Little and much take turns; the ratios are those of medians.
 */
import { parseArgs } from 'node:util'

import { startRedisServer } from '../../scripts/startRedisServer.js'
import { median } from '../compare/table.js'
import { type Drain, drain, type Drained } from './drain.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    waiting: { type: 'string', default: '1000000' },
    kept: { type: 'string', default: '100000' },
    only: { type: 'string', default: 'waiting,lanes,slots,kept,workers' },
  },
})
const waiting = Number(values.waiting)
const kept = Number(values.kept)

interface Growth {
  readonly name: string
  readonly what: string
  readonly little: Drain
  readonly much: Drain
}

const GROWTHS: readonly Growth[] = [
  {
    name: 'waiting',
    what: `50,000 to ${waiting} waiting tasks, 50 slots`,
    little: { waiting: 50_000, slots: 50, tasks: 30_000 },
    much: { waiting, slots: 50, tasks: 30_000 },
  },
  {
    name: 'lanes',
    what: '1 to 50 lanes, 1 slot',
    little: { waiting: 20_000, slots: 1, tasks: 12_000 },
    much: { waiting: 20_000, lanes: 50, slots: 1, tasks: 12_000 },
  },
  {
    name: 'lanes',
    what: '1 to 50 lanes, 50 slots',
    little: { waiting: 50_000, slots: 50, tasks: 30_000 },
    much: { waiting: 50_000, lanes: 50, slots: 50, tasks: 30_000 },
  },
  {
    name: 'slots',
    what: '1 to 100 slots',
    little: { waiting: 20_000, slots: 1, tasks: 12_000 },
    much: { waiting: 50_000, slots: 100, tasks: 30_000 },
  },
  {
    name: 'kept',
    what: `0 to ${kept} kept rows, 50 slots`,
    little: { waiting: 50_000, slots: 50, tasks: 30_000 },
    much: { waiting: 50_000, slots: 50, tasks: 30_000, kept },
  },
  {
    name: 'workers',
    what: '1 to 2 worker processes, 50 slots each',
    little: { waiting: 50_000, slots: 50, tasks: 30_000 },
    much: { waiting: 150_000, slots: 50, workers: 2, tasks: 30_000 },
  },
  {
    name: 'workers',
    what: '1 to 4 worker processes, 50 slots each',
    little: { waiting: 50_000, slots: 50, tasks: 30_000 },
    much: { waiting: 250_000, slots: 50, workers: 4, tasks: 30_000 },
  },
]

await using server = await startRedisServer()
console.log('| from little to much | tasks a second | × | Redis CPU, µs a task | × | worker CPU, µs a task | × |')
console.log('| --- | --- | --- | --- | --- | --- | --- |')
const wanted = new Set(values.only.split(','))
for (const { what, little, much } of GROWTHS.filter(({ name }) => wanted.has(name))) {
  const runs: Array<[Drained, Drained]> = []
  for (let round = 0; round < Number(values.rounds); round++) {
    runs.push([await drain(server, little), await drain(server, much)])
  }
  const cells = (['rate', 'redis', 'workers'] as const).flatMap((figure) => {
    const [one, other] = [0, 1].map((side) => median(runs.map((run) => run[side as 0 | 1][figure]))) as [number, number]
    const digits = figure === 'rate' ? 0 : 1
    return [`${one.toFixed(digits)} → ${other.toFixed(digits)}`, (other / one).toFixed(2)]
  })
  console.log(`| ${[what, ...cells].join(' | ')} |`)
}
