import { rm } from 'node:fs/promises'

import type { RedisServer } from '../../support/redisServer.js'
import type { AdminClient } from '../world/adminClient.js'
import { type Fault, nothing, type Strike } from './fault.js'

/** The server, and a client for it that no proxy stands in front of. */
export interface ServerScene {
  readonly server: RedisServer
  readonly admin: () => Promise<AdminClient>
  readonly prefix: string
}

/** Faults of the server, from a short pause to the loss of everything. */
export const serverFaults = ({ server, admin, prefix }: ServerScene): readonly Fault[] => {
  const send = async (...args: string[]): Promise<unknown> => (await admin()).sendCommand(args)
  const fault = (
    name: string,
    strike: Omit<Strike, 'targets' | 'holdMs'>,
    [min, max]: readonly [number, number],
    isHarmless = false,
  ): Fault => ({
    name,
    scope: 'server',
    isHarmless,
    prepare: (_scene, random) => ({ targets: 'all', ...strike, holdMs: random.int(min, max) }),
  })
  const atOnce = [0, 0] as const

  return [
    fault(
      'the server is killed, and started again with its data',
      { begin: () => server.kill('SIGKILL'), end: () => server.restart() },
      [0, 3_000],
    ),
    fault(
      'the server is killed, and started again without its data',
      {
        begin: async () => {
          const { dir: directory } = await (await admin()).configGet('dir')
          await server.kill('SIGKILL')
          await rm(`${directory}/appendonlydir`, { recursive: true, force: true })
          await rm(`${directory}/appendonly.aof`, { force: true })
        },
        end: () => server.restart(),
        loses: 'everything',
      },
      [0, 1_500],
    ),
    fault('FLUSHALL', { begin: () => send('FLUSHALL'), end: nothing, loses: 'everything' }, atOnce),
    fault('SCRIPT FLUSH', { begin: () => send('SCRIPT', 'FLUSH'), end: nothing }, atOnce, true),
    fault(
      'XGROUP DESTROY of every lane',
      {
        begin: async () => {
          const lanes = (await send('SMEMBERS', `${prefix}tasks:lanes`)) as string[]
          for (const lane of lanes)
            // Without a stream there is no group.
            await send('XGROUP', 'DESTROY', `${prefix}tasks:queue:${lane}`, 'runner').catch(() => undefined)
        },
        end: nothing,
      },
      atOnce,
      true,
    ),
    fault('CLIENT KILL of everybody', { begin: () => send('CLIENT', 'KILL', 'TYPE', 'normal'), end: nothing }, atOnce),
    fault(
      'CLIENT PAUSE',
      // Ends by itself; sent by a client that is paused with all others, as soon as it has its answer.
      { begin: () => send('CLIENT', 'PAUSE', '2500', 'ALL'), end: () => send('PING') },
      [2_500, 2_500],
    ),
    fault(
      'REPLICAOF somebody who is not there, and back',
      { begin: () => send('REPLICAOF', '127.0.0.1', '1'), end: () => send('REPLICAOF', 'NO', 'ONE') },
      [500, 3_500],
    ),
    fault(
      'full memory, with noeviction',
      { begin: () => send('CONFIG', 'SET', 'maxmemory', '1'), end: () => send('CONFIG', 'SET', 'maxmemory', '0') },
      [500, 3_500],
    ),
    fault('a slow command', { begin: () => send('EVAL', SLOW, '0'), end: nothing }, atOnce),
    fault(
      'a server that stands still',
      { begin: () => server.kill('SIGSTOP'), end: () => server.kill('SIGCONT') },
      [500, 3_500],
    ),
  ]
}

/** Some tens of millions of steps: about a second. It is no time by the clock, because that stands still in a script. */
const SLOW = 'local n = 0 for i = 1, 60000000 do n = n + i end return n'
