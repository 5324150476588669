import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CrossNodeBusTelemetry } from '@furystack/cross-node-bus'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { connectClient, type TestClient } from '../../../test/support/redis.js'
import { startRedisServer } from '../../../test/support/redisServer.js'
import { startTcpProxy } from '../../../test/support/tcpProxy.js'
import { until } from '../../../test/support/until.js'
import { type RedisClient, RedisCrossNodeBus } from '../src/index.js'
import { ownRedis, sharedRedis } from './support/ownRedis.js'
import { startBus, startListening, templateClient } from './support/startBus.js'
import { steppedTime } from './support/steppedTime.js'

const redis = sharedRedis()

const connectionsOf = async (admin: TestClient, name: string): Promise<string[]> =>
  String(await admin.sendCommand<string>(['CLIENT', 'LIST']))
    .split('\n')
    .filter((line) => line.includes(` name=${name}`))

describe('the connections of a bus', () => {
  it('are two of its own, named after the service; the client is left alone', async () => {
    const { admin, server } = await redis()
    const client = await connectClient({ url: server.url, name: 'template' })
    const { bus, listen } = startBus({ client, serviceName: 'my service' })
    await bus.publish('t', 1)
    expect(await connectionsOf(admin, 'my-service')).toHaveLength(1)
    await listen('t')
    await listen('u')
    await until(async () => (await connectionsOf(admin, 'my-service')).length === 2)

    await bus[Symbol.asyncDispose]()

    await until(async () => (await connectionsOf(admin, 'my-service')).length === 0)
    const [template = ''] = await connectionsOf(admin, 'template')
    expect(template).not.toMatch(/cmd=x/)
    expect(await client.ping()).toBe('PONG')
  })

  it('B3: may be cut at any time; reading and publishing go on, and each incident is told once', async () => {
    const { proxy } = await redis()
    const { bus, errors, connections, listen } = startBus({ url: proxy.url })
    const ear = await listen('t')
    await bus.publish('t', 0)
    await ear.heard(0)

    for (let round = 1; round <= 5; round++) {
      connections.length = 0
      errors.length = 0
      proxy.cut()
      await until(() => connections.includes('publish ready') && connections.includes('subscribe ready'))
      await bus.publish('t', round)
      await ear.heard(round)
      expect([...connections].sort()).toEqual(['publish lost', 'publish ready', 'subscribe lost', 'subscribe ready'])
      expect(errors.map(({ topic, phase }) => `${topic} ${phase}`).sort()).toEqual([
        '<publishing> publish',
        '<read-loop> subscribe',
      ])
    }
    expect(ear.payloads).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('are told of by one line an outage where nobody listens, and by no stack', async () => {
    const { proxy } = await redis()
    const lines = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => lines.mockRestore())
    const telemetry = new CrossNodeBusTelemetry()
    const bus = new RedisCrossNodeBus({ client: templateClient(proxy.url), serviceName: 'test', telemetry })
    onTestFinished(() => bus[Symbol.asyncDispose]())
    const states: string[] = []
    telemetry.addListener('onCrossNodeConnection', ({ purpose, state }) => states.push(`${purpose} ${state}`))
    const ear = startListening(bus, 'quiet')
    await until(() => states.includes('subscribe ready') && states.includes('publish ready'))

    for (let outage = 1; outage <= 2; outage++) {
      states.length = 0
      proxy.cut()
      await until(() => states.includes('subscribe ready') && states.includes('publish ready'))
      await bus.publish('quiet', outage)
      await ear.heard(outage)
      expect(lines.mock.calls).toHaveLength(outage)
    }
    for (const words of lines.mock.calls) {
      expect(words).toHaveLength(1)
      expect(words[0]).toMatch(
        /^The bus cannot (publish|subscribe), which is told once until it can again: \w*Error: .+$/,
      )
    }
  })

  it('B3: may be killed at the server', async () => {
    const { admin, server } = await redis()
    const { bus, connections, listen } = startBus({ url: server.url })
    const ear = await listen('t')
    await until(() => connections.includes('subscribe ready'))

    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
    await until(() => connections.filter((event) => event.endsWith('ready')).length === 4)
    await bus.publish('t', 'after')

    await ear.heard('after')
  })

  it('B4: come about when Redis does, however often that fails at first', async () => {
    const server = await startRedisServer()
    onTestFinished(() => server.stop())
    await server.kill()
    let attempts = 0
    const template = templateClient(server.url)
    const client: RedisClient = Object.assign(Object.create(template) as RedisClient, {
      duplicate: (overrides?: object) => {
        attempts++
        return template.duplicate(overrides)
      },
    })
    const { bus, errors } = startBus({ client })
    const ear = startListening(bus, 't')
    const published = bus.publish('t', 'first')
    await until(() => attempts >= 8)
    expect(errors).toHaveLength(2)

    await server.restart()
    await published

    await ear.heard('first')
  })

  it('B4: come about when the password is right, without a restart', async () => {
    const { admin, server } = await ownRedis()
    await admin.configSet('requirepass', 'secret')
    const { bus, errors } = startBus({ client: templateClient(server.url, { password: 'secret' }) })
    await bus.publish('t', 1)
    await admin.configSet('requirepass', 'changed')
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
    await until(() => errors.length > 0)

    await admin.configSet('requirepass', 'secret')

    await bus.publish('t', 2)
  })

  it('are replaced when nothing comes through any more, and nothing that was read is lost', async () => {
    const { proxy, server } = await redis()
    const speaker = startBus({ url: server.url, topicPrefix: '' })
    const { bus, connections, listen } = startBus({
      url: proxy.url,
      topicPrefix: '',
      commandDeadlineMs: 200,
      blockTimeoutMs: 200,
    })
    const ear = await listen('t')
    await until(() => connections.includes('subscribe ready'))
    connections.length = 0

    proxy.stall()
    await speaker.bus.publish('t', 'unheard')
    const stuck = bus.publish('t', 'stuck')
    const outcome = expect(stuck).rejects.toMatchObject({ name: 'PublishError', reason: 'outcome-unknown' })
    // New connections are swallowed too, in the middle of their handshake, and given up in turn.
    await until(() => connections.includes('publish lost') && connections.includes('subscribe lost'))
    await outcome
    proxy.cut()
    proxy.resume()
    await speaker.bus.publish('t', 'heard')

    await ear.heard('heard')
    expect(ear.payloads).toEqual(['unheard', 'heard'])
  })

  it('are given up in the midst of a handshake that gets no answer', async () => {
    const { server } = await redis()
    const proxy = await startTcpProxy({ targetPort: server.port })
    onTestFinished(() => proxy.stop())
    proxy.stall()
    const { bus, connections } = startBus({ url: proxy.url, commandDeadlineMs: 100 })
    const ear = startListening(bus, 't')
    await until(() => connections.includes('publish lost') && connections.includes('subscribe lost'))

    // What was swallowed stays swallowed: only other connections get through.
    proxy.cut()
    proxy.resume()

    await bus.whenReady('t')
    await bus.publish('t', 1)
    await ear.heard(1)
  })

  it('survive a Redis that stands still for longer than the deadline', async () => {
    const { server } = await ownRedis()
    const { bus, connections, listen } = startBus({ url: server.url, commandDeadlineMs: 200, blockTimeoutMs: 100 })
    const ear = await listen('t')
    await bus.publish('t', 1)
    await ear.heard(1)

    await server.kill('SIGSTOP')
    await until(() => connections.includes('subscribe lost'))
    await server.kill('SIGCONT')

    await bus.publish('t', 2)
    await ear.heard(2)
    expect(ear.payloads).toEqual([1, 2])
  })

  it('leave none behind, however early the bus ends', async () => {
    const { admin, server } = await redis()
    for (let turns = 0; turns < 12; turns++) {
      const bus = new RedisCrossNodeBus({ client: templateClient(server.url), serviceName: 'brief' })
      bus.subscribe('t', () => undefined)
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
      bus[Symbol.dispose]()
    }
    await until(async () => (await connectionsOf(admin, 'brief')).length === 0)
    // Whoever was on its way then has come up by now, and has gone again.
    await admin.ping()
    expect(await connectionsOf(admin, 'brief')).toEqual([])
  })

  it('give no sign of their own while they are quiet', async () => {
    const { admin, server } = await redis()
    const { bus, listen } = startBus({ url: server.url, blockTimeoutMs: 100 })
    const ear = await listen('t')
    await bus.publish('t', 1)
    await ear.heard(1)

    const reads = async (): Promise<number> => {
      const stats = String(await admin.info('commandstats'))
      return Number(/cmdstat_xread:calls=(\d+)/.exec(stats)?.[1] ?? 0)
    }
    const before = await reads()
    await admin.configResetStat()
    await until(async () => (await reads()) >= 3)

    const stats = String(await admin.info('commandstats'))
    const names = [...stats.matchAll(/cmdstat_([a-z|_]+):/g)].map(([, name]) => name)
    expect(before).toBeGreaterThan(0)
    expect(names.filter((name) => name !== 'info' && name !== 'xread' && name !== 'config|resetstat')).toEqual([])
  })

  it('tell the console of a loss if there is no telemetry', async () => {
    const { proxy } = await redis()
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => write.mockRestore())
    const { bus } = startBus({ url: proxy.url, telemetry: undefined })
    await bus.publish('t', 1)

    proxy.cut()

    await until(() => write.mock.calls.length > 0)
    expect(write.mock.calls[0]?.[0]).toMatch(/^The bus cannot publish/)
  })
})

describe('the end of a bus', () => {
  /** Many times what it takes on a busy machine, and a fraction of whatever the end could wait for. */
  const SOON_MS = 5_000

  const startProcess = async (url: string): Promise<{ said: unknown[]; endSoon: () => Promise<unknown[]> }> => {
    const child = fork(fileURLToPath(new URL('./support/busMain.ts', import.meta.url)), [url], {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const said: unknown[] = []
    child.on('message', (message) => said.push(message))
    await until(() => said.includes('started'))
    return {
      said,
      endSoon: () => {
        const exited = once(child, 'exit', { signal: AbortSignal.timeout(SOON_MS) })
        child.send('end')
        return exited
      },
    }
  }

  /** Begins to end the bus gently; tells whether it has ended, as soon as all is done that takes no time. */
  const endGently = (bus: RedisCrossNodeBus): (() => Promise<boolean>) => {
    let hasEnded = false
    void bus[Symbol.asyncDispose]().then(() => {
      hasEnded = true
    })
    return async () => {
      await new Promise(setImmediate)
      return hasEnded
    }
  }

  it('B5: comes while Redis refuses, and the process ends soon, however late the deadline', async () => {
    const { proxy } = await redis()
    proxy.refuse()
    const { endSoon } = await startProcess(proxy.url)
    expect(await endSoon()).toEqual([0, null])
  })

  it('B5: comes while Redis says nothing, and the process ends soon, however late the deadline', async () => {
    const { proxy } = await redis()
    const { said, endSoon } = await startProcess(proxy.url)
    await until(() => said.includes('gentle published') && said.includes('sudden published'))
    proxy.stall()
    expect(await endSoon()).toEqual([0, null])
  })

  it('B5: rejects what could not be sent, and takes as long as the deadline and no longer', async () => {
    const { proxy } = await redis()
    const { scheduler, pass } = steppedTime()
    const options = { commandDeadlineMs: 300, blockTimeoutMs: 60_000, scheduler }
    const { bus, listen } = startBus({ url: proxy.url, ...options })
    await listen('t')
    proxy.stall()
    const first = bus.publish('t', 1)
    const outcomes = [
      expect(first).rejects.toMatchObject({ reason: 'outcome-unknown' }),
      expect(bus.publish('u', 2)).rejects.toMatchObject({ name: expect.stringMatching(/Error/) as unknown }),
    ]

    const hasEnded = endGently(bus)

    expect(await hasEnded()).toBe(false)
    pass(299)
    expect(await hasEnded()).toBe(false)
    pass(1)
    expect(await hasEnded()).toBe(true)
    await Promise.all(outcomes)
  })

  it('B5: rejects what could not be sent, and takes no time, while Redis is away', async () => {
    const { proxy } = await redis()
    const { bus, connections, listen } = startBus({ url: proxy.url, scheduler: steppedTime().scheduler })
    await listen('t')
    proxy.refuse()
    proxy.cut()
    await until(() => connections.includes('publish lost') && connections.includes('subscribe lost'))
    const unsent = expect(bus.publish('t', 1)).rejects.toThrow('disposed')

    const hasEnded = endGently(bus)

    expect(await hasEnded()).toBe(true)
    await unsent
  })

  it('cuts what is on its way, and stops an iteration', async () => {
    const { bus } = startBus()
    for (let number = 1; number <= 300; number++) void bus.publish('t', number)
    await bus.publish('t', 'last')
    const iterator = bus.replay('t', '0-0')[Symbol.asyncIterator]()
    await iterator.next()
    const unsent = bus.publish('t', 'unsent')

    bus[Symbol.dispose]()

    await expect(unsent).rejects.toThrow('disposed')
    const rest = async (): Promise<void> => {
      while ((await iterator.next()).done !== true);
    }
    await expect(rest()).rejects.toThrow('disposed')
  })

  it('leaves the client as it was', async () => {
    const client: RedisClient = await connectClient()
    const { bus, listen } = startBus({ client })
    await listen('t')
    await bus[Symbol.asyncDispose]()
    await bus[Symbol.asyncDispose]()
    bus[Symbol.dispose]()

    expect(client.isReady).toBe(true)
    expect(await client.sendCommand(['PING'])).toBe('PONG')
  })
})
