import { expect, it } from 'vitest'

import { connectSentinel } from '../../../../test/support/connectKinds.js'
import { connectClient } from '../../../../test/support/redis.js'
import { startSentinel } from '../../../../test/support/startSentinel.js'
import { until } from '../../../../test/support/until.js'
import { startBus } from '../support/startBus.js'

it(
  'follows the primary that a Sentinel names, and loses nothing that had reached the replica',
  { timeout: 60_000 },
  async () => {
    const setup = await startSentinel()
    const client = await connectSentinel(setup)
    const listeners = client.listenerCount('topology-change')
    const speaker = startBus({ client, topicPrefix: 'bus/' })
    const listener = startBus({ client, topicPrefix: 'bus/', serviceName: 'listener' })
    const ear = await listener.listen('t')
    for (let number = 1; number <= 20; number++) await speaker.bus.publish('t', number)
    await ear.heard(20)

    // The replica may have missed what was acknowledged last; a durable deployment waits for it with WAIT.
    const onReplica = await connectClient({ url: setup.replica.url })
    await until(async () => (await onReplica.xLen('bus/t')) === 20)
    await setup.primary.kill('SIGKILL')
    await until(() => speaker.connections.includes('publish lost'))
    const published = Array.from({ length: 20 }, (_, index) => speaker.bus.publish('t', 21 + index))
    await Promise.all(published)

    await ear.heard(40)
    expect(ear.payloads).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
    await until(
      async () => (await onReplica.sendCommand<string>(['CLIENT', 'LIST'])).split('name=listener:').length - 1 === 2,
    )

    await Promise.all([speaker.bus[Symbol.asyncDispose](), listener.bus[Symbol.asyncDispose]()])
    expect(client.listenerCount('topology-change')).toBe(listeners)
  },
)

it('leaves a primary that has been demoted, with what was on its way', { timeout: 60_000 }, async () => {
  const setup = await startSentinel()
  const speaker = startBus({ client: await connectSentinel(setup), topicPrefix: 'bus/' })
  const listener = startBus({ client: await connectSentinel(setup), topicPrefix: 'bus/' })
  const ear = await listener.listen('t')
  await speaker.bus.publish('t', 0)
  await ear.heard(0)

  const admin = await connectClient({ url: setup.sentinel.url })
  let sent = 0
  let isOver = false
  const failures: unknown[] = []
  const speaking = (async () => {
    while (!isOver) {
      const number = ++sent
      await speaker.bus.publish('t', number).catch((error: unknown) => failures.push(error))
    }
  })()
  await admin.sendCommand(['SENTINEL', 'FAILOVER', setup.name])
  await until(() => speaker.connections.filter((event) => event === 'publish ready').length >= 2, { timeoutMs: 30_000 })
  isOver = true
  await speaking
  await speaker.bus.publish('t', 'last')
  await ear.heard('last')

  // What was acknowledged in the last moment need not have reached the replica; all else is heard once, in order.
  const heard = ear.payloads.slice(0, -1) as number[]
  expect(heard).toEqual([...new Set(heard)].sort((a, b) => a - b))
  // A Sentinel has the demoted server close its connections, with commands that it may have carried out.
  for (const failure of failures) expect(failure).toMatchObject({ reason: 'outcome-unknown' })
})
