import { ReplayWindowExceededError } from '@furystack/cross-node-bus'
import { expect, it } from 'vitest'

import { until } from '../../../test/support/until.js'
import { sharedRedis } from './support/ownRedis.js'
import { startBus, startListening } from './support/startBus.js'
import { steppedTime } from './support/steppedTime.js'
import { watchedClient } from './support/watchedClient.js'

const redis = sharedRedis()

const STEP_MS = 100
/** From the sixth failure in a row on the rests between attempts are at least half, and at most, as long. */
const LONGEST_REST_MS = 2_000

it('an outage of more than a minute is survived: attempts go on, and what was missed is delivered, or told', async () => {
  const { proxy, server } = await redis()
  const time = steppedTime()
  const now = (): number => time.scheduler.now()
  const pass = async (ms: number): Promise<void> => {
    for (const endsAt = now() + ms; now() < endsAt; await settled()) time.pass(STEP_MS)
  }
  const { client, attempts, settled } = watchedClient(proxy.url, now)
  const shared = { topicPrefix: '', replayWindow: 100 }
  const speaker = startBus({ ...shared, url: server.url })
  const { bus, connections, errors } = startBus({ ...shared, client, scheduler: time.scheduler })
  const calm = startListening(bus, 'calm')
  const busy = startListening(bus, 'busy')
  await Promise.all([bus.whenReady('calm'), bus.whenReady('busy')])
  await Promise.all([speaker.bus.publish('calm', 'before'), speaker.bus.publish('busy', 0)])
  await Promise.all([calm.heard('before'), busy.heard(0)])

  connections.length = 0
  proxy.refuse()
  proxy.cut()
  await until(() => connections.includes('publish lost') && connections.includes('subscribe lost'))
  const early = expect(bus.publish('calm', 'early')).rejects.toMatchObject({ reason: 'expired' })
  for (let number = 1; number <= 700; number++) void speaker.bus.publish('busy', number)
  await Promise.all([speaker.bus.publish('busy', 701), speaker.bus.publish('calm', 'meanwhile')])
  await pass(50_000)
  await early
  const late = bus.publish('calm', 'late')
  await pass(20_000)

  for (const name of ['test:bus', 'test:bus-reader']) {
    const times = [...attempts(name), now()]
    const rests = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    expect(Math.max(...rests)).toBeLessThanOrEqual(LONGEST_REST_MS + STEP_MS)
    expect(rests.filter((rest) => rest < LONGEST_REST_MS / 2 - STEP_MS).length).toBeLessThanOrEqual(8)
  }
  expect(errors.map(({ topic }) => topic).sort()).toEqual(['<publishing>', '<read-loop>', 'calm'])
  expect([...connections].sort()).toEqual(['publish lost', 'subscribe lost'])

  await proxy.accept()
  // After that time stands still: nothing of what is left to do takes any.
  time.pass(LONGEST_REST_MS)
  await late
  await Promise.all([calm.heard('late'), busy.heard(701)])

  expect(calm.payloads).toEqual(['before', 'meanwhile', 'late'])
  const [, ...rest] = busy.payloads
  expect(rest.length).toBeGreaterThanOrEqual(100)
  expect(rest).toEqual(Array.from({ length: rest.length }, (_, index) => 702 - rest.length + index))
  expect(errors.slice(3)).toMatchObject([{ topic: 'busy', phase: 'subscribe' }])
  expect(errors[3]?.error).toBeInstanceOf(ReplayWindowExceededError)
})
