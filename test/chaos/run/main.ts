/**
 * `npm run chaos -- --seed S --minutes M [--world single] [--workers 3] [--only text] [--keep file]`: random tasks on several processes,
 * while one fault after the other is let loose on them; then every guarantee is checked. See docs/testing.md.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { reportOf } from './report.js'
import { runChaos } from './runChaos.js'
import { WORLDS, type WorldName } from './worlds.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '1' },
    world: { type: 'string', default: 'single' },
    workers: { type: 'string' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
  },
})
const minutes = Number(values.minutes)
if (!(minutes >= 0)) throw new RangeError(`--minutes takes a number, not ${values.minutes}`)
if (!(values.world in WORLDS))
  throw new RangeError(`--world takes ${Object.keys(WORLDS).join(', ')}, not ${values.world}`)

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

console.log(`seed ${values.seed}, ${values.world}, ${values.minutes} minutes`)
const startedAt = performance.now()
const outcome = await runChaos({
  seed: values.seed,
  backend: WORLDS[values.world as WorldName],
  minutes,
  ...(values.workers !== undefined && { workers: Number(values.workers) }),
  picks: ({ name }) => name.includes(values.only),
  signal: stop.signal,
})
const { violations, lines, state } = outcome
if (values.keep !== undefined) writeFileSync(values.keep, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

const countOf = (kind: (typeof lines)[number]['kind']): number => lines.filter((line) => line.kind === kind).length
console.log(
  `${countOf('submitted')} submissions taken, ${countOf('rejected')} rejected; ${countOf('run')} runs, ${countOf('fault') / 2} ` +
    `faults; ${state.rows.length} rows in the end; ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`,
)
if (violations.length > 0) {
  const options = Object.entries(values).filter(([name, value]) => name !== 'keep' && value !== '')
  const command = `npm run chaos -- ${options.map(([name, value]) => `--${name} '${String(value)}'`).join(' ')}`
  console.error(reportOf(values.seed, command, outcome))
  process.exitCode = 1
} else {
  console.log('All guarantees have been kept.')
}
