import { expect, it, type TestContext } from 'vitest'

import { ensureValgrind } from '../../../scripts/ensureValgrind.js'
import { startCountedServer } from '../../../scripts/startCountedServer.js'
import { connectClient } from '../../support/connectClient.js'
import { serverOfTest } from '../../support/redisServer.js'
import { startService } from '../../support/service.js'
import { budget } from './budget.js'
import { parkDueMails, promoteMails } from './dueMails.js'
import { mail, processMails, submitMails, submitManyMails } from './mails.js'

/*
 * How many instructions of the server a task may cost: what its scripts do, which no count of commands tells. The same on
 * every machine, but of one version of the server only, since another does the same with other instructions.
 */

// Whole nodes of a stream, of 100 entries each: an entry costs more the further in its node it lies.
const TASKS = 500
// Calls enough for the collector of garbage, whose work falls into some of them, to have done its share.
const DUE = 3_000
const WARM = 500
const MINUTE_MS = 60_000

/** What comes by time would fall into one step or another. */
const RARELY = {
  schedulerIntervalMs: MINUTE_MS,
  expiryIntervalMs: MINUTE_MS,
  maintenanceIntervalMs: MINUTE_MS,
  blobSweepIntervalMs: MINUTE_MS,
}

const nameOfServer = async (): Promise<string> => {
  const { url } = await serverOfTest()
  const info = await (await connectClient({ url })).info('server')
  const read = (name: string): string | undefined => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]
  const [valkey, redis] = [read('valkey_version'), read('redis_version')]
  return `${valkey === undefined ? `Redis ${String(redis)}` : `Valkey ${valkey}`}, ${process.arch}`
}

/** Ends the test as skipped where nothing can be counted, which must not happen unseen where changes are judged. */
const skipWhereNotCounted = async ({ skip }: TestContext): Promise<void> => {
  const server = await nameOfServer()
  if (budget.isBeingSet) budget.setInstructionsOf(server)
  if (server !== budget.instructionsOf) {
    skip(`The budget tells instructions of ${budget.instructionsOf}, and this is ${server}.`)
  }
  await ensureValgrind().catch((error: Error) => {
    if (process.env['CI'] || budget.isBeingSet) throw error
    console.error(`Instructions are not counted: ${error.message}`)
    skip(error.message)
  })
}

it('stays within its budget of instructions of the server a task', { timeout: 300_000 }, async (context) => {
  await skipWhereNotCounted(context)
  await using server = await startCountedServer()
  const service = await startService({ url: server.url, commandDeadlineMs: MINUTE_MS, ...RARELY })
  const { client, runner } = service
  const hold = async (name: string, step: () => Promise<unknown>, tasks = TASKS): Promise<void> =>
    budget.hold(name, { instructions: (await server.instructionsOf(client, step)) / tasks })

  // Scripts and keys that are made once.
  await runner.submit(mail(0))
  await runner.submitMany([mail(0)])

  await hold('submit', () => submitMails(service, TASKS))
  await hold('process at 1 slot', () => processMails(service, TASKS, 1))
  await hold('submitMany', () => submitManyMails(service, TASKS))
  await hold('process at 10 slots', () => processMails(service, TASKS, 10))
  await submitManyMails(service, TASKS)
  await hold('process at 50 slots', () => processMails(service, TASKS, 50))

  await parkDueMails(service, WARM + DUE)
  await promoteMails(service, WARM)
  await hold('promote', () => promoteMails(service, DUE), DUE)
  expect(service.troubles).toEqual([])
})
