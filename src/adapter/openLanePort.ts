import { keys } from '../keys/keys.js'
import type { LanePort } from '../port/lanePort.js'
import { redisLanePort } from '../redis/redisLanePort.js'
import { Turns } from '../redis/turns.js'
import { connector } from './connector.js'
import { checkUsable, type RedisQueueOptions, resolveQueueOptions } from './redisQueueOptions.js'

/**
 * The options of the queue that concern the port.
 *
 * @example
 * const options: OpenLanePortOptions = { client, topicPrefix: 'svc-a/', commandDeadlineMs: 2_000 }
 */
export type OpenLanePortOptions = Pick<
  RedisQueueOptions,
  'client' | 'topicPrefix' | 'consumerGroup' | 'idempotencyTtlSec' | 'commandDeadlineMs' | 'scheduler'
>

/**
 * Opens a port for pipelines of your own: one connection for commands and one for waiting. Give each pipeline that waits
 * a port of its own; disposing it closes both connections, not the client.
 *
 * @throws {InvalidOptionError} for an option out of its range, or a client that is not connected
 *
 * @example
 * await using port = openLanePort({ client, topicPrefix: 'svc-a/' })
 * const claims = readNew(port, { workerId: 'w', lanes: () => [{ lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }] })
 */
export const openLanePort = (options: OpenLanePortOptions): LanePort & AsyncDisposable => {
  const resolved = resolveQueueOptions({ ...options, serviceName: 'lane-port' })
  checkUsable(resolved.client)
  const connect = connector(resolved, () => undefined) // each operation rejects with what its connection met
  const commands = connect('', false)
  const reader = connect('', true)
  const setting = { keys: keys(resolved.topicPrefix), group: resolved.consumerGroup, isJoint: false }
  const port = redisLanePort({
    ...setting,
    commands,
    turns: new Turns(commands, setting.keys, setting),
    reader,
    idempotencyTtlSec: resolved.idempotencyTtlSec,
  })
  return {
    ...port,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([reader[Symbol.asyncDispose](), commands[Symbol.asyncDispose]()])
    },
  }
}
