import { setTimeout as delay } from 'node:timers/promises'

import { lastValueFrom } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import { type Connection, openConnection } from '../../src/connection/connection.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { redisLanePort } from '../../src/port/redisLanePort.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { fill, type HarnessOptions, type LanePortHarness, mail, read, taskIds } from './lanePort/harness.js'
import { lanePortSuite } from './lanePortSuite.js'

interface RedisHarness extends LanePortHarness {
  readonly command: (...args: string[]) => Promise<unknown>
  readonly root: string
}

const group = 'runner'

const makeHarness = async ({ idempotencyTtlSec = 60 }: HarnessOptions = {}): Promise<RedisHarness> => {
  const client = await connectClient()
  const keys = keysOf(uniquePrefix('lane-port'))
  const open = (isBlocking: boolean): Connection => {
    const connection = openConnection({ template: client, deadlineMs: 5_000, isBlocking })
    onTestFinished(() => connection[Symbol.asyncDispose]())
    return connection
  }
  const commands = open(false)
  const anotherPort = (): LanePortHarness['port'] =>
    redisLanePort({ commands, reader: open(true), keys, group, isJoint: false, idempotencyTtlSec })
  const command = (...args: string[]): Promise<unknown> => client.sendCommand(args)

  return {
    port: anotherPort(),
    root: keys.root,
    command,
    another: () => Promise.resolve(anotherPort()),
    now: async () => {
      const [seconds, micros] = (await command('TIME')) as [string, string]
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
    },
    // Timers may fire a millisecond early.
    advance: (ms) => delay(ms + 1),
    until: (promise) => promise,
    // eslint-disable-next-line rxjs-x/no-ignored-default-value -- an operation that answers nothing fails the test
    ask: (reply$) => lastValueFrom(reply$),
    pending: async (of) => {
      const rows = (await command('XPENDING', keys.queue(of), group, '-', '+', '10000')) as [
        string,
        string,
        number,
        number,
      ][]
      return rows.map(([entryId, consumer, , deliveryCount]) => ({ entryId, consumer, deliveryCount }))
    },
    length: async (of) => Number(await command('XLEN', keys.queue(of))),
    parked: async () => Number(await command('ZCARD', keys.scheduler)),
    consumers: async (of) => {
      const consumers = await client.xInfoConsumers(keys.queue(of), group)
      return consumers.map(({ name }) => name)
    },
    pause: async (of) => {
      await command('SADD', `${keys.root}paused`, of?.name ?? '*')
    },
    resume: async (of) => {
      await command('SREM', `${keys.root}paused`, of?.name ?? '*')
    },
    destroyGroup: async (of) => {
      await command('XGROUP', 'DESTROY', keys.queue(of), group)
    },
    deleteEntry: async (of, entryId) => {
      await command('XDEL', keys.queue(of), entryId)
    },
  }
}

lanePortSuite('redisLanePort', makeHarness)

describe('redisLanePort on what only a server can hold', () => {
  it('sets members of the schedule aside that it cannot read, and moves those behind them', async () => {
    const harness = await makeHarness()
    const { port, ask, root, command } = harness
    const unreadable = ['no JSON', '42', '{}', '{"taskId":"x"}', '{"taskId":"x","type":"mail"}']
    for (const member of unreadable) await command('ZADD', `${root}scheduler`, '1', member)
    await ask(port.enqueue({ taskId: 'a', lane: mail, notBefore: (await harness.now()) + 300 }))
    await harness.advance(310)

    await ask(port.promote({ promoterId: 'w', roleMs: 100, limit: 100 }))

    expect(await harness.parked()).toBe(0)
    expect(taskIds(await read(harness, { slots: 2 }))).toEqual(['a'])
    expect(await command('XLEN', `${root}dead`)).toBe(unreadable.length)
  })

  it('sets entries aside that name no task, and reads those behind them', async () => {
    const harness = await makeHarness()
    const { root, command } = harness
    await fill(harness, mail, 'a')
    await command('XADD', `${root}queue:mail:v1`, '*', 'colour', 'red')
    await fill(harness, mail, 'b')

    expect(taskIds(await read(harness, { slots: 3 }))).toEqual(['a', 'b'])
    expect(await harness.length(mail)).toBe(2)
    expect(await command('XLEN', `${root}dead`)).toBe(1)
  })

  it('passes over names in the registry that are not lanes', async () => {
    const harness = await makeHarness()
    await fill(harness, mail, 'a')
    await harness.command('SADD', `${harness.root}lanes`, 'nonsense', 'mail:v1:tags=%')

    expect(await harness.ask(harness.port.knownLanes())).toEqual([mail])
  })
})
