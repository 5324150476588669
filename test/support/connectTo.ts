import { kindOf, locateServer } from '@furystack/redis-connection'

import { type Connection, type ConnectionOptions, openConnection } from '../../src/connection/connection.js'

/** A connection of the library's own like this client, as an adapter opens them. */
export const connectTo = (client: object, options: Partial<ConnectionOptions> & { key?: string } = {}): Connection => {
  const known = kindOf(client)
  if (!known) throw new Error('This is no client')
  const { key = 'test/', ...rest } = options
  return openConnection({ server: locateServer(known, key), deadlineMs: 5_000, ...rest })
}
