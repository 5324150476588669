import { appendFileSync } from 'node:fs'

import { createClient } from 'redis'

import { commandNames } from '../../support/commandNames.js'
import { gatedClient } from '../../support/gatedClient.js'
import { Link } from '../../support/link.js'
import { faultAt } from './moments.js'
import type { ProcessTask } from './processTask.js'
import { redisStage } from './redisStage.js'
import { SCENARIOS } from './scenarios.js'

/** A process that plays a scenario and kills itself; see playedByProcess. */
const task = JSON.parse(process.argv[2] ?? '{}') as ProcessTask
const { url, scenario: name, logFile, namesFile, moment, when = 'after' } = task
const scenario = SCENARIOS.find((each) => each.name === name)
if (scenario === undefined) throw new Error(`There is no scenario ${name}`)

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}
const link = new Link({ ...(moment && { faultOf: faultAt(moment, { how: 'crash', when }) }), onDeath: die })

const client = createClient({ url })
client.on('error', () => undefined)
await client.connect()
const stage = redisStage({
  ...task,
  scenario,
  client: gatedClient(client, link, commandNames()),
  // Not a stream: what has been written has to be there when the process is not.
  log: (line) => {
    appendFileSync(logFile, `${JSON.stringify(line)}\n`)
  },
  isFirst: true,
})
await scenario.play(stage)
if (namesFile !== undefined) appendFileSync(namesFile, JSON.stringify(link.names))
die()
