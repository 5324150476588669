import type { TestClient } from './connectClient.js'
import type { RedisServer } from './redisServer.js'
import type { TcpProxy } from './tcpProxy.js'

/** What a fault has at hand. */
export interface FaultScene {
  readonly server: RedisServer
  readonly proxy: TcpProxy
  /** Talks to the server past the proxy. */
  readonly admin: () => Promise<TestClient>
}

/** Something that happens to a server, and how it passes. */
export interface ServerFault {
  readonly begin: (scene: FaultScene) => Promise<unknown>
  readonly end: (scene: FaultScene) => Promise<unknown>
  /** Whether it is there before the runner is. */
  readonly isFirst?: boolean
}

const command =
  (...args: string[]) =>
  async ({ admin }: FaultScene): Promise<unknown> =>
    (await admin()).sendCommand(args)
const kill = ({ server }: FaultScene): Promise<void> => server.kill('SIGKILL')
const restart = ({ server }: FaultScene): Promise<void> => server.restart()

/** Each completes the sentence "while Redis …". */
export const SERVER_FAULTS: Record<string, ServerFault> = {
  'is down before the runner is made': { begin: kill, end: restart, isFirst: true },
  'is killed in the midst of the calls': { begin: kill, end: restart },
  'stands still behind open connections': {
    begin: ({ proxy }) => Promise.resolve(proxy.stall()),
    end: ({ proxy }) => Promise.resolve(proxy.resume()),
  },
  'pauses its clients': {
    begin: command('CLIENT', 'PAUSE', '3000', 'ALL'),
    // The pause ends by itself; whoever is waited for then is served.
    end: () => Promise.resolve(),
  },
  'has its memory full': {
    begin: command('CONFIG', 'SET', 'maxmemory', '1'),
    end: command('CONFIG', 'SET', 'maxmemory', '0'),
  },
  'is a replica now': { begin: command('REPLICAOF', '127.0.0.1', '1'), end: command('REPLICAOF', 'NO', 'ONE') },
  'refuses connections and cuts those it had': {
    begin: ({ proxy }) => {
      proxy.refuse()
      proxy.cut()
      return Promise.resolve()
    },
    end: ({ proxy }) => proxy.accept(),
  },
}
