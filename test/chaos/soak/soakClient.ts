import { createClient } from 'redis'

const create = (url: string) => createClient({ url })

/** The client that all processes of a soak use. */
export type SoakClient = ReturnType<typeof create>

export const connectSoakClient = async (url: string): Promise<SoakClient> => {
  const client = create(url)
  // The server ends before the processes do.
  client.on('error', () => undefined)
  await client.connect()
  return client
}
