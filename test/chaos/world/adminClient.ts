import { createClient } from 'redis'

import type { OnFinished } from '../../support/redisServer.js'

const create = (url: string) => createClient({ url })

/** A client for what is done to a server, and for looking at what lies in it. */
export type AdminClient = ReturnType<typeof create>

/** Connects to a server, past everything that disturbs; `atEnd` is told how to end it. */
export const adminClient = async (url: string, atEnd: OnFinished): Promise<AdminClient> => {
  const client = create(url)
  atEnd(() => client.destroy())
  // What it leads to is killed now and then, and an `error` that nobody hears would end the process.
  client.on('error', () => undefined)
  await client.connect()
  return client
}
