import { parseArgs } from 'node:util'

import { soak, type SoakReadings } from './soak.js'

/**
 * A soak with a table of what was held before and after.
 *
 *     npm run soak -- --tasks 1000000
 */
const { values } = parseArgs({
  options: { tasks: { type: 'string', default: '1000000' }, 'replace-every': { type: 'string', default: '20000' } },
})
const { base, end, replaced, seconds } = await soak({
  tasks: Number(values.tasks),
  replaceEvery: Number(values['replace-every']),
  ends: ['SIGTERM', 'SIGKILL'],
  say: (line) => console.error(line),
})

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`
const rows: Array<[string, (readings: SoakReadings) => string | number]> = [
  ['Redis memory', ({ redis }) => mebibytes(redis.memory)],
  ['Redis keys', ({ redis }) => redis.keys],
  ['Consumers', ({ redis }) => redis.consumers],
  ['Connections', ({ redis }) => redis.connections],
  ['Heap of the submitter', ({ submitter }) => mebibytes(submitter.heap)],
  ['Heap of the worker that stayed', ({ worker }) => mebibytes(worker.heap)],
  ['Listeners, submitter and worker', ({ submitter, worker }) => submitter.listeners + worker.listeners],
  ['Timers, sockets and the like', ({ submitter, worker }) => submitter.resources + worker.resources],
]
console.log(`${values.tasks} tasks in ${seconds} s, ${replaced} worker processes replaced\n`)
console.log('| What | Before | After |\n| --- | --- | --- |')
for (const [name, of] of rows) console.log(`| ${name} | ${of(base)} | ${of(end)} |`)
