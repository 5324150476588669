import { connectCluster } from '../support/connectKinds.js'
import { ofFile } from '../support/ofFile.js'
import { startCluster } from '../support/startCluster.js'
import { busSuite } from './busSuite.js'
import { redisBusHarness } from './redisBusHarness.js'

const cluster = ofFile((onFinished) => startCluster({ onFinished }))

busSuite(
  'RedisCrossNodeBus on a cluster',
  redisBusHarness((_, ending) => connectCluster(cluster(), ending)),
)
