import { isTerminalStatus, type StoredTask } from '@furystack/task-runner'

import { keys } from '../../../src/keys/keys.js'
import { redisTaskStore } from '../../../src/redis/redisTaskStore.js'
import { commandNames } from '../../support/commandNames.js'
import type { Link } from '../../support/link.js'
import { gatedClient } from '../../support/gatedClient.js'
import { uniquePrefix } from '../../support/redis.js'
import { redisLeftovers } from './redisLeftovers.js'
import type { RedisOfWorlds } from './redisOfWorlds.js'
import { redisStage, type RedisStack } from './redisStage.js'
import type { Log, LogLine, Scenario } from './scenario.js'
import type { World } from './world.js'

const nameOf = commandNames()

/** A {@link World} in Redis, below a prefix of its own. */
export interface RedisWorld extends World, AsyncDisposable {
  readonly prefix: string
  /** Where handlers send requests to: one address for all processes, since a request is known by it. */
  readonly address: string
  /** Who writes requests down from now on. */
  onCalled: Log
}

/** Rows in Redis, and processes that reach them over links. */
export const redisWorld = (
  { client, connection, origin }: RedisOfWorlds,
  stack: RedisStack,
  scenario: Pick<Scenario, 'handlers'>,
): RedisWorld => {
  const prefix = uniquePrefix('crash')
  const log: LogLine[] = []
  const store = redisTaskStore({ connection, keys: keys(prefix) })
  const root = `${keys(prefix).root}row:`

  const rows = async (): Promise<StoredTask[]> => {
    const names = (await client.keys(`${root}*`)).map((key) => key.slice(root.length))
    const ids = names.filter((name) => !name.includes(':'))
    return (await store.getMany(ids)).flatMap((row) => (row === undefined ? [] : [row]))
  }

  let firstLink: Link | undefined
  const world: RedisWorld = {
    log,
    prefix,
    address: origin.of(({ taskId, process }) => {
      // What a dead process sent before it died may be on its way still; a real one would not have sent it.
      if (process !== 'first' || firstLink?.isDead !== true) world.onCalled({ kind: 'did', taskId, what: 'called' })
    }),
    onCalled: (line) => log.push(line),
    start: (link, isFirst = false) => {
      if (isFirst) firstLink = link
      const write = (line: LogLine): void => {
        if (!link.isDead) log.push(line)
      }
      const gated = gatedClient(client, link, nameOf)
      return redisStage({ client: gated, prefix, stack, scenario, log: write, isFirst, origin: world.address })
    },
    rows,
    isOver: async () => (await rows()).every(({ task }) => isTerminalStatus(task.status)),
    outcome: async () => ({ rows: await rows(), log }),
    leftovers: async () => redisLeftovers(client, prefix, await rows()),
    [Symbol.asyncDispose]: async () => {
      const left = await client.keys(`${prefix}*`)
      if (left.length > 0) await client.unlink(left)
    },
  }
  return world
}
