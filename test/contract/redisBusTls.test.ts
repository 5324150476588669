import { ofFile } from '../support/ofFile.js'
import { connectClient } from '../support/redis.js'
import { startTlsServer } from '../support/startTlsServer.js'
import { busSuite } from './busSuite.js'
import { redisBusHarness } from './redisBusHarness.js'

const tls = ofFile(startTlsServer)

busSuite(
  'RedisCrossNodeBus over TLS',
  redisBusHarness((_, ending) => {
    const { url, ca } = tls()
    return connectClient({ url, socket: { tls: true, ca }, ...ending })
  }),
)
