import { setImmediate as nextTurn } from 'node:timers/promises'

import { CrossNodeBusTelemetryToken } from '@furystack/cross-node-bus'
import { hashSlot } from '@furystack/redis-connection'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { describe, expect, it } from 'vitest'

import { connectCluster } from '../../support/connectKinds.js'
import { connectTo } from '../../support/connectTo.js'
import { createMinimalUser } from '../../support/createMinimalUser.js'
import { documentedRuleOf } from '../../support/documentedRule.js'
import { exercise, exercises, submitUntilTaken } from '../../support/exercise.js'
import { uniquePrefix } from '../../support/redis.js'
import { refusedTo } from '../../support/refusedTo.js'
import { serviceOn } from '../../support/service.js'
import { startCluster } from '../../support/startCluster.js'
import { until } from '../../support/until.js'

describe('a cluster', () => {
  it('is used, also while the slot moves', { timeout: 60_000 }, async () => {
    const cluster = await startCluster()
    const prefix = `{${uniquePrefix('cluster')}}/`
    const slot = hashSlot(prefix)
    const from = cluster.ownerOf(slot)
    const to = cluster.primaries.find((node) => node !== from) ?? from
    for (const key of [
      prefix,
      `${prefix}x`,
      '',
      'a',
      '{}a',
      'a{b}c',
      'ä{é}',
      '{a}{b}',
      'a}{b',
      '{{a}}',
      'x'.repeat(99),
    ])
      expect(await from.client.sendCommand(['CLUSTER', 'KEYSLOT', key])).toBe(hashSlot(key))

    const service = serviceOn(await connectCluster(cluster), prefix, { concurrencyLimits: { double: 2 } })
    service.work(exercises)
    await exercise(service)

    await cluster.beginMove(slot, from, to)
    const submitting = Promise.all([1, 2, 3].map((n) => submitUntilTaken(service, n)))
    // A node sends away who asks for keys that are not there (ASK), and puts off who asks for some that are (TRYAGAIN).
    const met = async (): Promise<boolean> => {
      const stats = await Promise.all([from, to].map(({ client }) => client.info('errorstats')))
      return /errorstat_(ASK|TRYAGAIN):/.test(stats.join('\n'))
    }
    const moving = until(met, { description: 'a command came while the slot was on its way' }).then(() =>
      cluster.endMove(slot, from, to),
    )
    const [submitted] = await Promise.all([submitting, moving])
    expect(submitted).toEqual([2, 4, 6])
    await exercise(service)
    expect(await from.client.sendCommand(['CLUSTER', 'COUNTKEYSINSLOT', String(slot)])).toBe(0)
    expect(service.troubles).toEqual([])
  })

  it('leaves no outcome unknown while the slot moves, whatever is on its way', { timeout: 60_000 }, async () => {
    const cluster = await startCluster()
    const prefix = `{${uniquePrefix('cluster')}}/`
    const slot = hashSlot(prefix)
    const from = cluster.ownerOf(slot)
    const to = cluster.primaries.find((node) => node !== from) ?? from
    await using connection = connectTo(await connectCluster(cluster), { key: prefix, deadlineMs: 20_000 })
    await connection.send('ping', ['PING'])
    // More than fits into one reply, so that some are answered when others have been refused.
    const value = 'x'.repeat(2_000)
    const sent: Array<Promise<unknown>> = []
    await cluster.beginMove(slot, from, to)
    const moving = cluster.endMove(slot, from, to)
    for (let round = 0; round < 100; round++) {
      for (let n = 0; n < 50; n++) sent.push(connection.send('set', ['SET', `${prefix}${round}-${n}`, value]))
      await nextTurn()
    }
    const [outcomes] = await Promise.all([Promise.allSettled(sent), moving])
    expect(outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([])
    expect(await to.client.sendCommand(['CLUSTER', 'COUNTKEYSINSLOT', String(slot)])).toBe(sent.length)
  })

  it(
    'refuses nothing to a user with the documented rights, also while the slot moves',
    { timeout: 60_000 },
    async () => {
      const cluster = await startCluster()
      const admins = cluster.primaries.map(({ client }) => client)
      const prefix = `{${uniquePrefix('rights')}}/`
      const slot = hashSlot(prefix)
      const from = cluster.ownerOf(slot)
      const to = cluster.primaries.find((node) => node !== from) ?? from
      const rule = documentedRuleOf('docs/operations.md', 'the bus', 'a cluster')
      const credentials = await createMinimalUser(admins, prefix, rule)
      const client = await connectCluster(cluster, { credentials })
      const bus = defineRedisCrossNodeBusAdapter({ client, serviceName: 'test', topicPrefix: prefix })
      const service = serviceOn(client, prefix, {}, { bus })
      // That the bus cannot publish for a while is told here, instead of on the console.
      service.injector.get(CrossNodeBusTelemetryToken).subscribe('onCrossNodeError', () => undefined)
      service.work(exercises)
      await exercise(service)

      await cluster.beginMove(slot, from, to)
      const submitting = submitUntilTaken(service, 1)
      await cluster.endMove(slot, from, to)
      expect(await submitting).toBe(2)
      await exercise(service)
      await service.dispose()
      expect(await refusedTo(credentials.username, admins)).toEqual([])
    },
  )

  it(
    'does not tell its nodes to a user without the right that is documented for that',
    { timeout: 60_000 },
    async () => {
      const cluster = await startCluster()
      const admins = cluster.primaries.map(({ client }) => client)
      const credentials = await createMinimalUser(admins, '{svc}/', documentedRuleOf('docs/operations.md', 'the bus'))
      await expect(connectCluster(cluster, { credentials })).rejects.toThrow()
      expect(new Set(await refusedTo(credentials.username, admins))).toEqual(new Set(['cluster|slots']))
    },
  )

  it('is followed when a replica takes over', { timeout: 60_000 }, async () => {
    const cluster = await startCluster({ withReplicas: true })
    const prefix = `{${uniquePrefix('cluster')}}/`
    const owner = cluster.ownerOf(hashSlot(prefix))
    const service = serviceOn(await connectCluster(cluster), prefix)
    service.work(exercises)
    await exercise(service)
    await owner.kill('SIGKILL')
    expect(await submitUntilTaken(service, 21)).toBe(42)
    await exercise(service)
  })
})
