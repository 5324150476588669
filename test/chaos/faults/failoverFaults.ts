import type { RedisServer } from '../../support/redisServer.js'
import { until } from '../../support/until.js'
import type { AdminClient } from '../world/adminClient.js'
import { type Fault, nothing } from './fault.js'

/** Two servers, of which one is the primary, and somebody who decides which. */
export interface FailoverScene {
  readonly present: () => Promise<RedisServer>
  readonly clientOf: (server: RedisServer) => AdminClient
  /** Asks for a fail-over without need. */
  readonly failOver: () => Promise<unknown>
  /** Makes the former primary the replica of the latter. */
  readonly join: (former: RedisServer, latter: RedisServer) => Promise<void>
}

/** Faults that make another server the primary, which may not have heard of what was written last. */
export const failoverFaults = ({ present, clientOf, failOver, join }: FailoverScene): readonly Fault[] => {
  const replaced = async (former: RedisServer): Promise<void> => {
    await until(async () => (await present()) !== former, {
      timeoutMs: 30_000,
      description: 'another one is the primary',
    })
  }
  const fault = (name: string, begin: (former: RedisServer) => Promise<unknown>): Fault => ({
    name,
    scope: 'server',
    prepare: () => {
      let former: RedisServer | undefined
      return {
        targets: 'all',
        begin: async () => {
          former = await present()
          await begin(former)
          await replaced(former)
        },
        holdMs: 0,
        end: async () => {
          if (!former) return
          await former.restart()
          await join(former, await present())
        },
        loses: 'newest',
      }
    },
  })
  return [
    fault('the primary is killed, and a Sentinel names another', (former) => former.kill('SIGKILL')),
    fault('a Sentinel is told to fail over', failOver),
    {
      name: 'SCRIPT FLUSH on the primary',
      scope: 'server',
      isHarmless: true,
      prepare: () => ({
        targets: 'all',
        begin: async () => clientOf(await present()).sendCommand(['SCRIPT', 'FLUSH']),
        holdMs: 0,
        end: nothing,
      }),
    },
  ]
}
