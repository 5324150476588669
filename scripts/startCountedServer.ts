import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ensureValgrind } from './ensureValgrind.js'
import { type RedisServer, startRedisServer } from './startRedisServer.js'

const OUT_FILE = 'callgrind.out'

const CALLGRIND = [
  // Neither VALGRIND_OPTS nor a .valgrindrc has a say in what is counted.
  '--command-line-only=yes',
  '--tool=callgrind',
  // Nobody else's callgrind_control, which may mean all processes, has a say either.
  '--vgdb=no',
  `--callgrind-out-file=${OUT_FILE}`,
  '--dump-before=echoCommand',
  // On entry and exit of these: what a command takes, from reading to answering, and nothing that goes by the clock.
  '--toggle-collect=readQueryFromClient',
  '--toggle-collect=writeToClient',
]

/** Whatever sends an `ECHO` and waits for the reply, such as a client. */
export interface Echoing {
  echo(message: string): Promise<unknown>
}

/** A Redis server whose instructions are counted; it runs at about a fiftieth of its speed. */
export interface CountedServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Ends the server and removes its directory. */
  readonly stop: () => Promise<void>
  /**
   * How many instructions the server took, whoever asked for them, while a step went on. The client marks where the step
   * begins and ends: for each `ECHO` callgrind writes down what it has counted since the last one.
   */
  readonly instructionsOf: (client: Echoing, step: () => Promise<unknown>) => Promise<number>
}

/**
 * Starts a Redis server that callgrind runs. Counts depend on the version of the server and the kind of processor, and
 * next to nothing else: neither on how fast the machine is, nor on what else it does.
 */
export const startCountedServer = async (): Promise<CountedServer> => {
  const server = await startRedisServer({ runBy: [await ensureValgrind(), ...CALLGRIND] })
  const { host, port, url, stop } = server
  let dumps = 0
  const countSinceLast = async (client: Echoing): Promise<number> => {
    await client.echo('')
    return totalOf(await readDump(server, ++dumps))
  }
  return {
    host,
    port,
    url,
    stop,
    instructionsOf: async (client, step) => {
      await countSinceLast(client)
      await step()
      const count = await countSinceLast(client)
      if (count === 0) throw new Error('This server does not tell callgrind the names of its functions.')
      return count
    },
    [Symbol.asyncDispose]: stop,
  }
}

const readDump = ({ directory }: RedisServer, number: number): Promise<string> =>
  readFile(join(directory, `${OUT_FILE}.${number}`), 'utf8')

const totalOf = (dump: string): number => Number(/^totals: (\d+)$/m.exec(dump)?.[1] ?? NaN)
