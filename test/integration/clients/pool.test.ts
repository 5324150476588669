import { createClientPool } from 'redis'
import { createClientPool as createClientPool5 } from 'redis-v5'
import { expect, it, onTestFinished } from 'vitest'

import { exercise, exercises } from '../../support/exercise.js'
import { defaultMajor, redisUrl, uniquePrefix } from '../../support/redis.js'
import { serviceOn } from '../../support/service.js'

const createPool = defaultMajor() === 5 ? (createClientPool5 as unknown as typeof createClientPool) : createClientPool

it('takes a pool, and keeps none of its clients', async () => {
  const pool = createPool({ url: redisUrl() }, { maximum: 1 })
  await pool.connect()
  onTestFinished(() => pool.close())
  const service = serviceOn(pool, uniquePrefix('pool'), { concurrencyLimits: { double: 1 } })
  service.work(exercises)
  await exercise(service)
  expect(pool).toMatchObject({ totalClients: 1, idleClients: 1, clientsInUse: 0, tasksQueueLength: 0 })
})
