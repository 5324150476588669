import { expect, it } from 'vitest'

import { connectClient } from '../../../test/support/redis.js'
import { until } from '../../../test/support/until.js'
import { startBus, startListening } from './support/startBus.js'

it('a key that holds something else keeps nobody else waiting', async () => {
  const admin = await connectClient()
  const { bus, prefix, errors, listen } = startBus({ blockTimeoutMs: 100 })
  const broken = await listen('broken')
  const fine = await listen('fine')
  await bus.publish('fine', 1)
  await fine.heard(1)

  await admin.set(`${prefix}broken`, 'not a stream')
  await until(() => errors.some(({ topic }) => topic === 'broken'))
  await bus.publish('fine', 2)
  await fine.heard(2)
  await expect(bus.publish('broken', 1)).rejects.toMatchObject({ reason: 'refused' })
  await admin.del(`${prefix}broken`)
  await bus.publish('broken', 2)

  await broken.heard(2)
  const reports = errors.filter(({ topic, phase }) => topic === 'broken' && phase === 'subscribe')
  expect(reports).toHaveLength(1)
  startListening(bus, 'fine')[Symbol.dispose]()
})
