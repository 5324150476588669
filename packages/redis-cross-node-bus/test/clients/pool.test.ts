import { expect, it } from 'vitest'

import { connectPool } from '../../../../test/support/connectKinds.js'
import { startBus } from '../support/startBus.js'

it('takes a pool, and keeps none of its clients', async () => {
  const pool = await connectPool()
  const { bus, listen } = startBus({ client: pool })
  const ear = await listen('t')
  await bus.publish('t', 1)
  await ear.heard(1)
  expect(pool).toMatchObject({ totalClients: 1, idleClients: 1, clientsInUse: 0, tasksQueueLength: 0 })
})
