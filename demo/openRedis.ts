import { randomUUID } from 'node:crypto'
import { createClient } from 'redis'
import { ensureRedis } from '../scripts/ensureRedis.js'
import { startRedisServer } from '../scripts/startRedisServer.js'
import { DemoError, messageOf } from './errors.js'
import { within } from './within.js'

const connect = (url: string) =>
  createClient({
    url,
    // What is asked while Redis is away fails at once, rather than when it is back.
    disableOfflineQueue: true,
    socket: { connectTimeout: 5_000, reconnectStrategy: (retries) => (retries > 20 ? false : 250) },
  })

export type DemoClient = ReturnType<typeof connect>

/** A Redis to work in, and a place in it that belongs to this demo alone. */
export interface DemoRedis extends AsyncDisposable {
  readonly client: DemoClient
  readonly url: string
  /** In front of every key. */
  readonly prefix: string
  /** Where it runs, for people. */
  readonly description: string
  /** By how much its clock, by which times of tasks are, is ahead of ours. */
  readonly clockAheadMs: number
  /** Removes every key with the prefix, and tells how many are left. */
  removeKeys(): Promise<number>
}

/** Takes the Redis of `REDIS_URL`, or starts one that ends with the demo. */
export const openRedis = async (): Promise<DemoRedis> => {
  const given = process.env['REDIS_URL']
  const { url, stop } = given ? { url: given, stop: () => Promise.resolve() } : await start()
  const client = connect(url)
  const { hostname, port } = new URL(url)
  const where = `${hostname}:${port || '6379'}`
  client.on('error', () => undefined)
  try {
    await within(client.connect(), { ms: 10_000, what: 'Connecting' })
    const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? ''
    const [seconds, microseconds] = await client.sendCommand<[string, string]>(['TIME'])
    const prefix = `demo-${randomUUID().slice(0, 8)}/`
    return {
      client,
      url,
      prefix,
      description: `Redis ${version} at ${where}`,
      clockAheadMs: Number(seconds) * 1_000 + Number(microseconds) / 1_000 - Date.now(),
      removeKeys: () => within(removeKeys(client, prefix), { ms: 10_000, what: 'Removing the keys' }),
      [Symbol.asyncDispose]: async () => {
        // A server of one's own takes its keys along.
        if (given) await within(removeKeys(client, prefix), { ms: 10_000, what: 'Removing the keys' }).catch(() => 0)
        client.destroy()
        await stop()
      },
    }
  } catch (error) {
    if (client.isOpen) client.destroy()
    await stop()
    throw new DemoError(`Redis at ${where} cannot be used: ${messageOf(error)}`)
  }
}

const start = async (): Promise<{ url: string; stop: () => Promise<void> }> => {
  const source = await ensureRedis().catch((error: unknown) => {
    throw new DemoError(messageOf(error))
  })
  return source.kind === 'url' ? source : startRedisServer()
}

const removeKeys = async (client: DemoClient, prefix: string): Promise<number> => {
  for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 })) {
    if (keys.length > 0) await client.unlink(keys)
  }
  let left = 0
  for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 })) left += keys.length
  return left
}
