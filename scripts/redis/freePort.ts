import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the range the system takes for outgoing connections. A port from that range could be taken by some client
// while the server on it is down - even by a client that reconnects to this very port and so connects to itself.
const FIRST = 20_000
const LAST = 32_000

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })

/** A loopback port nobody listens on. Somebody may be faster, so whoever binds it has to be ready to ask again. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(FIRST, LAST)
    if (await isFree(port)) return port
  }
  throw new Error(`No free loopback port between ${FIRST} and ${LAST}`)
}
