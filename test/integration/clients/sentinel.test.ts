import { expect, it } from 'vitest'

import { connectSentinel } from '../../support/connectKinds.js'
import { exercise, exercises, submitUntilTaken } from '../../support/exercise.js'
import { connectClient, uniquePrefix } from '../../support/redis.js'
import { serviceOn } from '../../support/service.js'
import { startSentinel } from '../../support/startSentinel.js'
import { until } from '../../support/until.js'

it('follows the primary that a Sentinel names', { timeout: 60_000 }, async () => {
  const setup = await startSentinel()
  const { primary, replica } = setup
  const client = await connectSentinel(setup)
  const listeners = client.listenerCount('topology-change')

  const service = serviceOn(client, uniquePrefix('sentinel'), { concurrencyLimits: { double: 2 } })
  service.work(exercises)
  await exercise(service)

  // The replica may have missed what was acknowledged last; a durable deployment waits for it with WAIT.
  const onReplica = await connectClient({ url: replica.url })
  const before = await service.runner.submit({ type: 'double', handlerVersion: 1, payload: 1 })
  await until(async () => (await onReplica.keys(`*row:${before.id}`)).length === 1)

  await primary.kill('SIGKILL')
  expect(await submitUntilTaken(service, 21)).toBe(42)
  await exercise(service)
  const connections = (await onReplica.sendCommand(['CLIENT', 'LIST'])) as unknown as string
  expect(connections.split('name=test:').length - 1).toBe(2)

  await service.dispose()
  expect(client.listenerCount('topology-change')).toBe(listeners)
})
