import { expect, it } from 'vitest'

import { serverOfTest } from '../../support/redisServer.js'
import { type Service, startService } from '../../support/service.js'
import { budget } from './budget.js'
import { parkDueMails, promoteMails } from './dueMails.js'
import { mail, processMails, submitMails, submitManyMails } from './mails.js'

/*
 * What a task may cost, counted and not timed, so that the answer is the same on every machine. Whoever makes a task cost
 * more on purpose raises the budget in the same commit, and says why; see docs/performance.md.
 */

const TASKS = 1_000

/** What all keys take, each asked by itself: what the server uses besides depends on its version and on its past. */
const memoryOf = async (client: Service['client']): Promise<number> => {
  const sizes = await Promise.all((await client.keys('*')).map((key) => client.memoryUsage(key, { SAMPLES: 0 })))
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
}

const countersOf = async (client: Service['client']) => {
  const info = await client.info('stats')
  const read = (name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1])
  return {
    commands: read('total_commands_processed'),
    roundTrips: read('total_reads_processed'),
    bytesIn: read('total_net_input_bytes'),
    bytesOut: read('total_net_output_bytes'),
  }
}

/** Holds a step to what it may cost each of the tasks, and tells how many bytes of memory it took for each. */
const holdStep = async (service: Service, name: string, step: () => Promise<unknown>): Promise<number> => {
  const { client } = service
  const memoryBefore = await memoryOf(client)
  const before = await countersOf(client)
  await step()
  const after = await countersOf(client)
  const memory = (await memoryOf(client)) - memoryBefore
  const counters = Object.keys(before) as Array<keyof typeof before>
  budget.hold(
    name,
    Object.fromEntries(counters.map((counter) => [counter, (after[counter] - before[counter]) / TASKS])),
  )
  return memory / TASKS
}

it('stays within its budget of commands, round trips, bytes and memory a task', { timeout: 60_000 }, async () => {
  const server = await serverOfTest()
  const service = await startService({ url: server.url })
  // Scripts and keys that are made once.
  await service.runner.submit(mail(0))
  await service.runner.submitMany([mail(0)])

  const waitingBytes = await holdStep(service, 'submit', () => submitMails(service, TASKS))
  budget.hold('rows', { waitingBytes })
  await holdStep(service, 'process at 1 slot', () => processMails(service, TASKS, 1))
  const submitted = await holdStep(service, 'submitMany', () => submitManyMails(service, TASKS))
  const processed = await holdStep(service, 'process at 50 slots', () => processMails(service, TASKS, 50))
  budget.hold('rows', { keptBytes: submitted + processed })
  await parkDueMails(service, TASKS)
  await holdStep(service, 'promote', () => promoteMails(service, TASKS))
  expect(service.troubles).toEqual([])
})
