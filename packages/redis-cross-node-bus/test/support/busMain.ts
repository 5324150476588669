import { createClient } from 'redis'

import { RedisCrossNodeBus } from '../../src/index.js'

/**
 * A process with two buses, for tests of their end: `busMain.ts <url>`. Each has a subscription and a message to send.
 * When the process is told to, it disposes one of them gently and one at once, and does nothing more, so that it ends by
 * itself. The deadline is one that no test waits for.
 */
const [, , url = ''] = process.argv
const tell = (what: string): void => {
  if (process.connected) process.send?.(what)
}
const buses = ['gentle', 'sudden'].map((name) => {
  const bus = new RedisCrossNodeBus({ client: createClient({ url }), serviceName: name, commandDeadlineMs: 600_000 })
  bus.subscribe('t', () => undefined)
  bus.publish('t', 1).then(
    () => tell(`${name} published`),
    (error: unknown) => tell(`${name} rejected: ${String(error)}`),
  )
  return bus
})
process.once('message', () => {
  process.disconnect()
  void buses[0]?.[Symbol.asyncDispose]()
  buses[1]?.[Symbol.dispose]()
})
tell('started')
