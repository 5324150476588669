/**
 * How long it takes after each fault until a task runs again, median and worst of 20. Prints the table of
 * docs/guarantees.md.
 *
 *     npm run bench:healing -- [--times 20] [--quick] [--world single] [--only text]
 *
 * All of it takes an hour or so, `--quick` (twice each) less than ten minutes.
 */
import { parseArgs } from 'node:util'

import { type WorldName, WORLDS } from '../../test/chaos/run/worlds.js'
import { measureHealing } from './measureHealing.js'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '20' },
    quick: { type: 'boolean', default: false },
    world: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})
const worlds = values.world === undefined ? (Object.keys(WORLDS) as WorldName[]) : [values.world as WorldName]

const seconds = (ms: number | undefined): string => ((ms ?? NaN) / 1_000).toFixed(2)

console.log('| Fault | From | Median, s | Worst, s |\n| --- | --- | ---: | ---: |')
for (const world of worlds) {
  await measureHealing({
    world,
    times: values.quick ? 2 : Number(values.times),
    only: values.only,
    onMeasured: ({ name, from, samples }) => {
      const sorted = [...samples].sort((a, b) => a - b)
      const median = sorted[Math.floor((sorted.length - 1) / 2)]
      console.log(`| ${name} | ${from} | ${seconds(median)} | ${seconds(sorted.at(-1))} |`)
    },
  })
}
