import { connectSentinel } from '../support/connectKinds.js'
import { ofFile } from '../support/ofFile.js'
import { startSentinel } from '../support/startSentinel.js'
import { busSuite } from './busSuite.js'
import { redisBusHarness } from './redisBusHarness.js'

const setup = ofFile(startSentinel)

busSuite(
  'RedisCrossNodeBus over a Sentinel',
  redisBusHarness((_, ending) => connectSentinel(setup(), ending)),
)
