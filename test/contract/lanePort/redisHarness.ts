import { setTimeout as delay } from 'node:timers/promises'

import { lastValueFrom } from 'rxjs'
import { onTestFinished } from 'vitest'

import type { Connection } from '../../../src/connection/connection.js'
import { keys as keysOf } from '../../../src/keys/keys.js'
import { redisLanePort } from '../../../src/redis/redisLanePort.js'
import { Turns } from '../../../src/redis/turns.js'
import { connectTo } from '../../support/connectTo.js'
import { connectClient, uniquePrefix } from '../../support/redis.js'
import type { HarnessOptions, LanePortHarness } from './harness.js'

/** Lanes on the Redis of this run, with access to it. */
export interface RedisHarness extends LanePortHarness {
  readonly command: (...args: string[]) => Promise<unknown>
  readonly root: string
}

const group = 'runner'

/** Opens a port over lanes with a prefix of their own; the end of the test closes it. */
export const redisHarness = async ({ idempotencyTtlSec = 60 }: HarnessOptions = {}): Promise<RedisHarness> => {
  const client = await connectClient()
  const keys = keysOf(uniquePrefix('lane-port'))
  const open = (isBlocking: boolean): Connection => {
    const connection = connectTo(client, { isBlocking })
    onTestFinished(() => connection[Symbol.asyncDispose]())
    return connection
  }
  const commands = open(false)
  const anotherPort = (): LanePortHarness['port'] =>
    redisLanePort({
      commands,
      turns: new Turns(commands, keys, { group, isJoint: false }),
      reader: open(true),
      keys,
      group,
      isJoint: false,
      idempotencyTtlSec,
    })
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
