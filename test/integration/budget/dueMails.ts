import { keys as keysOf } from '../../../src/keys/keys.js'
import { promoteDue } from '../../../src/scripts/promoteDue.js'
import { connectTo } from '../../support/connectTo.js'
import type { Service } from '../../support/service.js'
import { submitManyMails } from './mails.js'

/** As many as a worker promotes in one call. */
const AT_ONCE = 250
const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

/** Parks so many and makes them due, all together. */
export const parkDueMails = async (service: Service, count: number): Promise<void> => {
  const { client, prefix } = service
  const { scheduler } = keysOf(prefix)
  await submitManyMails(service, count, { notBefore: new Date(Date.now() + DAY_MS) })
  const parked = await client.zRange(scheduler, 0, -1)
  await client.zAdd(
    scheduler,
    parked.map((value, score) => ({ value, score })),
  )
}

/** Moves so many of them to their lane. */
export const promoteMails = async ({ client, prefix }: Service, count: number): Promise<void> => {
  await using connection = connectTo(client, { deadlineMs: MINUTE_MS })
  const request = { promoterId: 'test', roleMs: MINUTE_MS, limit: AT_ONCE }
  for (let moved = 0; moved < count; moved += AT_ONCE) {
    const reply = await promoteDue(connection, keysOf(prefix), 'runner', request)
    if (reply.moved !== AT_ONCE) throw new Error(`${reply.moved} were promoted instead of ${AT_ONCE}`)
  }
}
