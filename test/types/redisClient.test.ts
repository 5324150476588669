import type { createClient } from 'redis'
import type { createClient as createClient5 } from 'redis-v5'
import { describe, expectTypeOf, it } from 'vitest'

import type { RedisClient } from '../../src/index.js'

describe('RedisClient', () => {
  it('is what createClient of either major version returns', () => {
    expectTypeOf<ReturnType<typeof createClient>>().toExtend<RedisClient>()
    expectTypeOf<ReturnType<typeof createClient5>>().toExtend<RedisClient>()
  })
})
