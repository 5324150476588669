import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { freePort } from './freePort.js'
import { proxyGate } from './proxyGate.js'
import { pump } from './pump.js'

const HOST = '127.0.0.1'
const PORT_ATTEMPTS = 10

/** Where the proxy leads to, and where it listens. */
export interface TcpProxyOptions {
  readonly targetPort: number
  /** A certain port; by default a free one. */
  readonly port?: number
}

/** A stretch of network between a client and a server that a test can disturb. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** How many clients are connected right now. */
  readonly connections: number
  /** Destroys all connections, as if the network had broken. New ones are taken. */
  readonly cut: () => void
  /** Stops forwarding, both ways and for new connections too, but keeps the connections open: a black hole. */
  readonly stall: () => void
  /** Goes on forwarding; what came meanwhile is delivered in order. */
  readonly resume: () => void
  /** Refuses new connections; those that are open stay. */
  readonly refuse: () => void
  /** Takes new connections again. */
  readonly accept: () => Promise<void>
  /** Delivers everything that comes from now on this much later, each way. */
  readonly delayMs: (milliseconds: number) => void
  /**
   * Takes the next thing that the server says on each connection that is open now, and all after it; what the client says
   * goes on. The connection is cut with that (`cut`), or stays as it is for whoever waits (`silence`).
   */
  readonly swallow: (then: 'cut' | 'silence') => void
  /** Cuts all connections and stops listening. */
  readonly stop: () => Promise<void>
}

/** Starts a proxy on a loopback port in front of a server on another one. */
export const startTcpProxy = async ({ targetPort, port: wanted }: TcpProxyOptions): Promise<TcpProxy> => {
  const gate = proxyGate()
  const pairs = new Map<Socket, Socket>()
  const swallowing = new Map<Socket, 'cut' | 'silence'>()

  const onClient = (client: Socket): void => {
    const target = connect({ host: HOST, port: targetPort, noDelay: true, allowHalfOpen: true })
    pairs.set(client, target)
    client.once('close', () => {
      pairs.delete(client)
      swallowing.delete(client)
    })
    const isSwallowed = (): boolean => {
      const then = swallowing.get(client)
      if (then === 'cut') {
        client.destroy()
        target.destroy()
      }
      return then !== undefined
    }
    pump(client, target, gate)
    pump(target, client, gate, isSwallowed)
  }

  const listen = async (port: number): Promise<Server> => {
    // Each end of the line decides when it closes, as it would without a proxy in between.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, onClient)
    server.listen({ port, host: HOST, exclusive: true })
    await once(server, 'listening')
    return server
  }

  const listenSomewhere = async (): Promise<{ port: number; server: Server }> => {
    for (let attempt = 1; ; attempt++) {
      const port = wanted ?? (await freePort())
      try {
        return { port, server: await listen(port) }
      } catch (error) {
        if (wanted !== undefined || attempt === PORT_ATTEMPTS) throw error
      }
    }
  }

  const first = await listenSomewhere()
  const { port } = first
  let server: Server | undefined = first.server

  const cut = (): void => {
    for (const [client, target] of pairs) {
      client.destroy()
      target.destroy()
    }
  }
  const refuse = (): void => {
    // Closes the listening socket at once; the connections it has taken are not touched.
    server?.close()
    server = undefined
  }
  const stop = async (): Promise<void> => {
    const open = [...pairs].flat().filter((socket) => !socket.closed)
    const closed = open.map((socket) => once(socket, 'close'))
    refuse()
    cut()
    await Promise.all(closed)
  }

  return {
    port,
    url: `redis://${HOST}:${port}`,
    get connections() {
      return pairs.size
    },
    cut,
    stall: gate.close,
    resume: gate.open,
    refuse,
    accept: async () => {
      server ??= await listen(port)
    },
    delayMs: gate.delay,
    swallow: (then) => {
      for (const client of pairs.keys()) swallowing.set(client, then)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** A proxy that ends with its test, after whatever was started later and is ended by the test. */
export const proxyOfTest = async (targetPort: number): Promise<TcpProxy> => {
  const proxy = await startTcpProxy({ targetPort })
  onTestFinished(proxy.stop)
  return proxy
}
