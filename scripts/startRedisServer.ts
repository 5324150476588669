import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureRedis } from './ensureRedis.js'
import { freePort } from './redis/freePort.js'
import { watchdog } from './redis/watchdog.js'

const HOST = '127.0.0.1'
const READY = /Ready to accept connections|Sentinel ID is/
const IN_USE = 'Address already in use'
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000
const PORT_ATTEMPTS = 10

/** How to start a Redis server. */
export interface RedisServerOptions {
  /** More arguments for the server, e.g. `['--maxmemory', '10mb']`. */
  readonly args?: readonly string[]
  /** Makes it a Sentinel with these lines of configuration, e.g. `['sentinel monitor main 127.0.0.1 6379 1']`. */
  readonly sentinel?: readonly string[]
  /** Keep the data over `restart()` and `kill()`: every write is on disk before it is answered. */
  readonly persistent?: boolean
  /** A certain port; by default a free one. */
  readonly port?: number
  /** What runs the server: a command and its arguments, such as `['/usr/bin/valgrind', '--tool=callgrind']`. */
  readonly runBy?: readonly string[]
}

/** A Redis server of one's own; it is gone, with its data, after `stop()` or with the process that started it. */
export interface RedisServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Where it runs and writes. */
  readonly directory: string
  /** The process that runs now, or ran last. */
  readonly pid: number
  /** Ends the server and removes its directory. */
  readonly stop: () => Promise<void>
  /** Sends a signal, SIGKILL by default; waits for the end, except for SIGSTOP and SIGCONT, which only hold it. */
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>
  /** Ends the server if it still runs and starts it again on the same port. */
  readonly restart: () => Promise<void>
}

class PortTakenError extends Error {}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const ended = async (child: ChildProcess): Promise<void> => {
  if (!hasEnded(child)) await once(child, 'exit')
}

const terminate = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child)) return
  child.kill('SIGTERM')
  // A server held by SIGSTOP gets its other signals only after this.
  child.kill('SIGCONT')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await ended(child)
  clearTimeout(timer)
}

/** Resolves when the server accepts connections: it says so in its log, which also is the proof that it is ours. */
const whenReady = (child: ChildProcess, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let log = ''
    const timer = setTimeout(() => fail(`is not ready after ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS)
    const onExit = (code: number | null, signal: string | null): void => fail(`ended with ${code ?? signal}`)
    const onError = (error: Error): void => fail(`cannot be started: ${error.message}`)
    const onLog = (text: string): void => {
      log += text
      if (READY.test(log)) settle(resolve)
    }
    const settle = (then: () => void): void => {
      clearTimeout(timer)
      child.off('close', onExit).off('error', onError)
      child.stdout?.off('data', onLog).resume()
      then()
    }
    const fail = (what: string): void =>
      settle(() =>
        reject(
          log.includes(IN_USE)
            ? new PortTakenError(`Port ${port} is taken`)
            : new Error(`The Redis server on port ${port} ${what}\n${log}`),
        ),
      )
    // `close` rather than `exit`: the last words of a server that failed come before it.
    child.once('close', onExit).once('error', onError)
    child.stdout?.setEncoding('utf8').on('data', onLog)
  })

/**
 * Starts a Redis server on a loopback port, in a fresh temporary directory, and waits until it accepts connections.
 * Nothing of it survives this process: `stop()` is the regular end, a watchdog sees to it if the process dies first.
 */
export const startRedisServer = async (options: RedisServerOptions = {}): Promise<RedisServer> => {
  const source = await ensureRedis()
  if (source.kind === 'url') {
    await source.stop()
    throw new Error('A Redis server of one’s own needs redis-server or valkey-server on PATH.')
  }
  const directory = await mkdtemp(join(tmpdir(), 'redis-own-'))

  // A Sentinel writes its state into its configuration.
  const mode = options.sentinel ? [join(directory, 'sentinel.conf'), '--sentinel'] : []
  if (mode[0] !== undefined) await writeFile(mode[0], `${options.sentinel?.join('\n') ?? ''}\n`)

  const launch = async (port: number): Promise<ChildProcess> => {
    const persistence = options.persistent ? ['yes', '--appendfsync', 'always'] : ['no']
    const [command = source.path, ...args] = [...(options.runBy ?? []), source.path]
    const child = spawn(
      command,
      [
        ...args,
        ...mode,
        ...['--save', '', '--appendonly', ...persistence],
        ...(options.args ?? []),
        // Last, because the last one counts: this is what finding, watching and removing the server rest on.
        ...['--bind', HOST, '--port', String(port), '--dir', directory],
        ...['--daemonize', 'no', '--logfile', '', '--loglevel', 'notice'],
      ],
      // Its own process group: the interrupt of a terminal is for those who use the server, and they need it until they
      // have ended.
      { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'], detached: true },
    )
    if (child.pid !== undefined) child.once('exit', watchdog(child.pid, directory))
    try {
      await whenReady(child, port)
      return child
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  const launchSomewhere = async (): Promise<{ port: number; child: ChildProcess }> => {
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freePort())
      try {
        return { port, child: await launch(port) }
      } catch (error) {
        // A port that was asked for by number will not become another one by asking again.
        if (!(error instanceof PortTakenError) || options.port !== undefined || attempt === PORT_ATTEMPTS) throw error
      }
    }
  }

  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true })
  const first = await launchSomewhere().catch(async (error: unknown) => {
    await remove()
    throw error
  })
  const { port } = first
  let { child } = first

  const stop = async (): Promise<void> => {
    await terminate(child)
    await remove()
  }

  return {
    host: HOST,
    port,
    url: `redis://${HOST}:${port}`,
    directory,
    get pid() {
      return child.pid ?? -1
    },
    stop,
    kill: async (signal = 'SIGKILL') => {
      if (hasEnded(child)) return
      child.kill(signal)
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await ended(child)
    },
    restart: async () => {
      await terminate(child)
      child = await launch(port)
    },
    [Symbol.asyncDispose]: stop,
  }
}
