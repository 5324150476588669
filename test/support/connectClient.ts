import { createClient as createClient6, type RedisClientOptions } from 'redis'
import { createClient as createClient5 } from 'redis-v5'
import { onTestFinished } from 'vitest'
import { redisUrl } from './redisUrl.js'

type Settings = Pick<
  RedisClientOptions,
  'url' | 'name' | 'socket' | 'disableOfflineQueue' | 'commandsQueueMaxLength' | 'pingInterval'
>

const create6 = (settings: Settings) => createClient6(settings)

/** The client the tests work with, seen by the types of the newer release; the older one has the same commands. */
export type TestClient = ReturnType<typeof create6>

/** Which client to connect, to which server, and when to close it. */
export interface ConnectClientOptions extends Settings {
  /** The major version of the `redis` package; by default that of `REDIS_CLIENT_MAJOR`, or 6. */
  readonly major?: 5 | 6
  /** Who closes the client: the end of the test by default. A concurrent test passes its context's `onTestFinished`. */
  readonly onFinished?: (close: () => void) => void
}

/** The major version that this run is about: that of `REDIS_CLIENT_MAJOR`, or 6. */
export const defaultMajor = (): 5 | 6 => {
  const major = process.env['REDIS_CLIENT_MAJOR'] || '6'
  if (major !== '5' && major !== '6') throw new Error(`REDIS_CLIENT_MAJOR has to be 5 or 6, not ${major}`)
  return major === '5' ? 5 : 6
}

/** A connected node-redis client, by default to the Redis of this run, that is closed when the test has finished. */
export const connectClient = async ({
  major = defaultMajor(),
  onFinished = onTestFinished,
  ...options
}: ConnectClientOptions = {}): Promise<TestClient> => {
  const settings: Settings = { ...options, url: options.url ?? redisUrl() }
  const client = major === 5 ? (createClient5(settings) as unknown as TestClient) : create6(settings)
  // Tests cut connections on purpose, and an `error` event nobody listens to would end the process.
  client.on('error', () => undefined)
  onFinished(() => {
    // Not `close()`: that waits for the answers to come, and a blocking read may never get one.
    if (client.isOpen) client.destroy()
  })
  await client.connect()
  return client
}
