import { expect, it } from 'vitest'

import { connectPool } from '../../support/connectKinds.js'
import { exercise, exercises } from '../../support/exercise.js'
import { uniquePrefix } from '../../support/redis.js'
import { serviceOn } from '../../support/service.js'

it('takes a pool, and keeps none of its clients', async () => {
  const pool = await connectPool()
  const service = serviceOn(pool, uniquePrefix('pool'), { concurrencyLimits: { double: 1 } })
  service.work(exercises)
  await exercise(service)
  expect(pool).toMatchObject({ totalClients: 1, idleClients: 1, clientsInUse: 0, tasksQueueLength: 0 })
})
