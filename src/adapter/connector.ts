import { locateServer, type RedisClient, serverCheck } from '@furystack/redis-connection'

import { type Connection, openConnection } from '../connection/connection.js'
import { evictionPolicy } from '../connection/evictionPolicy.js'
import { InvalidOptionError } from '../errors/invalidOptionError.js'
import type { Report } from '../events/laneEvent.js'
import { keys } from '../keys/keys.js'
import type { ResolvedQueueOptions } from './redisQueueOptions.js'

/** Opens a connection of an adapter. */
export type Connect = (name: string, isBlocking: boolean) => Connection

/**
 * Makes what opens the connections of one adapter: they look for the server together, and look at it once.
 *
 * A server that is none to be used is told by every command. A process that only works sends none of its own, so it is
 * told by a warning of the process, too.
 *
 * @param onUsable called when the server can be used again after trouble: a connection is back, or a command was answered
 * after one that was not
 *
 * @example
 * const connect = connector(resolveQueueOptions({ client, serviceName: 'svc-a' }), report)
 * const commands = connect('commands', false)
 */
export const connector = (options: ResolvedQueueOptions, report: Report, onUsable?: () => void): Connect => {
  const { client, commandDeadlineMs: deadlineMs, scheduler, serviceName, topicPrefix } = options
  const server = locateServer(client, keys(topicPrefix).root)
  const fits = serverCheck(client.kind)
  let isLookedAt = false
  let hasWarned = false
  const check = async (found: RedisClient): Promise<void> => {
    const objection = await fits(found)
    if (objection) throw new InvalidOptionError('client', objection.value, objection.allowed)
    if (isLookedAt) return
    isLookedAt = true
    const policy = await evictionPolicy(found)
    if (policy !== undefined) report({ kind: 'evictionPossible', policy })
  }
  return (name, isBlocking) =>
    openConnection({
      server,
      check,
      name: name === '' ? serviceName : `${serviceName}:${name}`,
      deadlineMs,
      isBlocking,
      ...(scheduler && { scheduler }),
      onNotice: (notice) => {
        if (notice.kind === 'ready' || notice.kind === 'answered') onUsable?.()
        if (notice.kind === 'answered') return
        if (notice.kind === 'ready') {
          report({ kind: 'recovered', connection: name })
          return
        }
        report({ kind: 'connectionLost', connection: name, error: notice.error })
        if (notice.kind === 'lost' || hasWarned) return
        hasWarned = true
        process.emitWarning(notice.error.message, 'RedisTaskRunnerWarning')
      },
    })
}
