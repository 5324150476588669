import { InvalidTopicError, ReplayWindowExceededError } from '@furystack/cross-node-bus'
import { hashSlot } from '@furystack/redis-connection'
import { expect, it } from 'vitest'

import { connectCluster } from '../../../../test/support/connectKinds.js'
import { startCluster } from '../../../../test/support/startCluster.js'
import { until } from '../../../../test/support/until.js'
import { startBus } from '../support/startBus.js'

it('B15: follows its slot while that moves, in order and without loss', { timeout: 60_000 }, async () => {
  const cluster = await startCluster()
  const client = await connectCluster(cluster)
  const topicPrefix = '{shop}/'
  const slot = hashSlot(topicPrefix)
  const from = cluster.ownerOf(slot)
  const to = cluster.primaries.find((node) => node !== from) ?? from
  const speaker = startBus({ client, topicPrefix })
  const listener = startBus({ client, topicPrefix })
  const topics = ['a', 'b', 'c', 'd']
  const ears = await Promise.all(topics.map((topic) => listener.listen(topic)))
  const sent: number[] = []
  const failures: unknown[] = []
  const speak = async (): Promise<void> => {
    const number = sent.push(sent.length)
    await Promise.all(topics.map((topic) => speaker.bus.publish(topic, number - 1))).catch((error: unknown) =>
      failures.push(error),
    )
  }
  await speak()
  await Promise.all(ears.map((ear) => ear.heard(0)))

  let isOver = false
  const speaking = (async () => {
    while (!isOver) await speak()
  })()
  await cluster.beginMove(slot, from, to)
  await until(async () => /errorstat_(?:ASK|TRYAGAIN)/.test(await from.client.info('errorstats')), {
    description: 'a command came while the slot was on its way',
  })
  // One begins in the midst of it.
  const late = listener.listen('new')
  const replayed: unknown[] = []
  const replaying = (async () => {
    for await (const { payload } of speaker.bus.replay('a', '0-0')) replayed.push(payload)
  })()
  await cluster.endMove(slot, from, to)
  await until(() => speaker.connections.filter((event) => event === 'publish ready').length >= 2)
  isOver = true
  await speaking
  await speak()
  const newcomer = await late
  await speaker.bus.publish('new', 'new')

  await Promise.all(ears.map((ear) => ear.heard(sent.length - 1)))
  for (const ear of ears) expect(ear.payloads).toEqual(sent.map((_, index) => index))
  await newcomer.heard('new')
  expect(newcomer.payloads).toEqual(['new'])
  await replaying
  expect(replayed).toEqual(replayed.map((_, index) => index))
  expect(replayed.length).toBeGreaterThan(0)
  expect(failures).toEqual([])
  expect(listener.errors.filter(({ error }) => error instanceof ReplayWindowExceededError)).toEqual([])
  expect(await from.client.sendCommand(['CLUSTER', 'COUNTKEYSINSLOT', String(slot)])).toBe(0)
})

it('follows when a replica takes over', { timeout: 60_000 }, async () => {
  const cluster = await startCluster({ withReplicas: true })
  const client = await connectCluster(cluster)
  const topicPrefix = '{shop}/'
  const owner = cluster.ownerOf(hashSlot(topicPrefix))
  const { bus, listen, connections } = startBus({ client, topicPrefix })
  const ear = await listen('t')
  await bus.publish('t', 1)
  await ear.heard(1)
  await until(async () => (await owner.client.info('replication')).includes('lag=0'))

  await owner.kill('SIGKILL')
  await until(() => connections.includes('publish lost'))
  await bus.publish('t', 2)

  await ear.heard(2)
  expect(ear.payloads).toEqual([1, 2])
})

it(
  'refuses a topic in another slot, and hears one of a prefix with the same hash tag',
  { timeout: 60_000 },
  async () => {
    const client = await connectCluster(await startCluster())
    const { bus } = startBus({ client, topicPrefix: '{shop}/' })
    const sibling = startBus({ client, topicPrefix: '{shop}orders/' })

    expect(() => bus.subscribeForeign('{stock}/', 't', () => undefined)).toThrow(InvalidTopicError)
    expect(() => bus.subscribeForeign('shop/', 't', () => undefined)).toThrow(/have to share their hash tag/)
    const heard: unknown[] = []
    bus.subscribeForeign('{shop}orders/', 't', ({ payload }) => heard.push(payload))
    await bus.whenReady('t', '{shop}orders/')
    await sibling.bus.publish('t', 1)
    await until(() => heard.length === 1)
  },
)
