import { documentedRuleOf } from '../support/documentedRule.js'
import { connectPool } from '../support/connectKinds.js'
import { connectMinimalClient } from '../support/minimalUser.js'
import { connectClient } from '../support/redis.js'
import { busSuite } from './busSuite.js'
import { redisBusHarness } from './redisBusHarness.js'

const rule = documentedRuleOf('packages/redis-cross-node-bus/README.md')

busSuite(
  'RedisCrossNodeBus',
  redisBusHarness((_, ending) => connectClient(ending)),
)
busSuite(
  'RedisCrossNodeBus over a pool',
  redisBusHarness((_, ending) => connectPool(ending)),
)
busSuite(
  'RedisCrossNodeBus with no more rights than needed',
  redisBusHarness((space, ending) => connectMinimalClient(space, ending, rule)),
)
