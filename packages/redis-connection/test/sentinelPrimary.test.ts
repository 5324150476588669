import { createServer, type Socket } from 'node:net'

import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis-v5'
import { describe, expect, it, onTestFinished } from 'vitest'

import { connectClient } from '../../../test/support/redis.js'
import { startSentinel } from '../../../test/support/startSentinel.js'
import { until } from '../../../test/support/until.js'
import { locateServer, type RedisClient } from '../src/index.js'
import { askSentinels } from '../src/askSentinels.js'
import { sentinelSettings } from '../src/sentinelSettings.js'

const portOf = (template: RedisClient): number | undefined =>
  (template as { options?: { socket?: { port?: number } } }).options?.socket?.port

/** A server that takes connections and never says a word. */
const mute = async (): Promise<{ port: number; open: ReadonlySet<Socket> }> => {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket
      .on('close', () => open.delete(socket))
      .on('error', () => undefined)
      .resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port: (server.address() as { port: number }).port, open }
}

describe('sentinelPrimary', () => {
  it(
    'has the new primary as soon as a Sentinel names it, when the client does not yet',
    { timeout: 60_000 },
    async () => {
      const { name, primary, replica, sentinel } = await startSentinel()
      const client = createSentinel({ name, sentinelRootNodes: [{ host: sentinel.host, port: sentinel.port }] })
      client.on('error', () => undefined)
      await client.connect()
      onTestFinished(() => client.destroy())
      let moves = 0
      const server = locateServer({ kind: 'sentinel', client }, 'svc/')
      onTestFinished(server.onMoved(() => moves++))
      const former = await server.template()
      expect(portOf(former)).toBe(primary.port)
      expect(await server.template()).toBe(former)

      const admin = await connectClient({ url: sentinel.url })
      await admin.sendCommand(['SENTINEL', 'FAILOVER', name])
      const named = async (): Promise<number> =>
        Number((await admin.sendCommand<string[]>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]))[1])
      await until(async () => (await named()) === replica.port, { timeoutMs: 30_000, intervalMs: 5 })
      expect(client.getMasterNode()?.port).not.toBe(replica.port)
      server.doubt(former)
      const [one, other] = await Promise.all([server.template(), server.template()])
      expect(portOf(one)).toBe(replica.port)
      expect(other).toBe(one)

      // What it hears later is no news, so connections that are right are left alone.
      await until(() => client.getMasterNode()?.port === replica.port, { timeoutMs: 30_000 })
      expect(moves).toBe(0)
      expect(await server.template()).toBe(one)
    },
  )

  it('is held up by no Sentinel that is silent', { timeout: 60_000 }, async () => {
    const { name, primary, sentinel } = await startSentinel()
    const silent = await mute()
    const sentinelRootNodes = [silent, sentinel].map(({ port }) => ({ host: '127.0.0.1', port }))
    const like = await connectClient({ url: primary.url })
    const found = await askSentinels({ name, sentinelRootNodes }, like)
    expect(found).toEqual({ host: '127.0.0.1', port: primary.port })
    await until(() => silent.open.size === 0)
    await expect(askSentinels({ name: 'another', sentinelRootNodes: [sentinel] }, like)).rejects.toThrow()
  })
})

describe('sentinelSettings', () => {
  const sentinelRootNodes = [{ host: 'sentinel-1', port: 26379 }]
  const sentinelClientOptions = { password: 'of the Sentinels' }

  it('has what a client of redis 6 was made with, and lets the client be', () => {
    const client = createSentinel({ name: 'main', sentinelRootNodes, sentinelClientOptions })
    expect(sentinelSettings(client)).toMatchObject({ name: 'main', sentinelRootNodes, sentinelClientOptions })
    expect(client.isOpen).toBe(false)
    expect(client.duplicate()).toBeInstanceOf(client.constructor)
  })

  it('does without where the client has no way to tell', () => {
    expect(sentinelSettings(createSentinel5({ name: 'main', sentinelRootNodes }))).toBeUndefined()
    const another = Object.assign(createSentinel({ name: 'main', sentinelRootNodes }), {
      duplicate: () => {
        throw new Error('not this way')
      },
    })
    expect(sentinelSettings(another)).toBeUndefined()
  })
})

describe('askSentinels', () => {
  it('signs in as the settings for Sentinels say, not as at the server, and minds the map of addresses', async () => {
    const asked: object[] = []
    const like = {
      duplicate: (overrides: object) => {
        asked.push(overrides)
        return {
          on: () => undefined,
          connect: () => Promise.resolve(),
          sendCommand: () => Promise.resolve(['10.0.0.7', '6379']),
          destroy: () => undefined,
        }
      },
    } as unknown as RedisClient
    const settings = {
      name: 'main',
      sentinelRootNodes: [{ host: '10.0.0.8', port: 26379 }],
      sentinelClientOptions: { username: 'watcher', socket: { tls: true } },
      nodeAddressMap: {
        '10.0.0.7:6379': { host: 'outside', port: 1 },
        '10.0.0.8:26379': { host: 'outside', port: 2 },
      },
    }
    expect(await askSentinels(settings, like)).toEqual({ host: 'outside', port: 1 })
    expect(asked).toMatchObject([
      { username: 'watcher', password: undefined, socket: { host: 'outside', port: 2, tls: true } },
    ])
  })
})
