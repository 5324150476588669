import type { RedisClient, ServerLocator } from '@furystack/redis-connection'
import type { SchedulerLike } from 'rxjs'

import type { InvalidOptionError } from '../errors/invalidOptionError.js'
import { LocatedConnection } from './locatedConnection.js'

/**
 * What happened to a connection, told once an incident. `answered`: a command was, after others that were not, or that were
 * refused for what passes. `unfit`: the server is none that can be used; every command is refused with the error from now on.
 */
export type ConnectionNotice =
  | { kind: 'lost'; error: unknown }
  | { kind: 'ready' }
  | { kind: 'answered' }
  | { kind: 'unfit'; error: InvalidOptionError }

/** How a {@link Connection} behaves. Times are milliseconds. */
export interface ConnectionOptions {
  /** Where the server is; what it finds is duplicated and otherwise left alone. */
  server: ServerLocator
  /** What `CLIENT LIST` calls it; characters that Redis does not take in a name become `-`. */
  name?: string
  /**
   * How long a command may wait for a connection, and how long a written one may go without any reply arriving before
   * the connection counts as dead and is replaced.
   */
  deadlineMs: number
  /** Whether it blocks on the server: then disposal does not wait for what is under way. @default false */
  isBlocking?: boolean
  scheduler?: SchedulerLike
  onNotice?: (notice: ConnectionNotice) => void
  /** Looks at the server before anything else is sent. An {@link InvalidOptionError} is final. */
  check?: (client: RedisClient) => Promise<void>
}

/**
 * One connection of the library's own: it reconnects for ever, to whichever server has the keys then, hides no queue
 * while Redis is away, and holds each command to a deadline with one timer for all of them.
 */
export interface Connection extends AsyncDisposable {
  readonly isReady: boolean
  /** Whether something was sent that has not been answered yet. */
  readonly isAwaiting: boolean
  /**
   * Sends a command; those of one turn of the event loop share one write. What a cluster refuses because the slot has
   * moved, or is on its way, is sent again within the deadline.
   *
   * @param graceMs how much longer than usual the reply may take, for commands that block
   * @throws {RedisUnavailableError} no connection within the deadline; nothing was sent
   * @throws {OutcomeUnknownError} the connection was lost, or replaced by the watchdog, after the write
   * @throws {RedisRefusedError} the server answered with an error
   * @throws {InvalidOptionError} the server is none that can be used
   * @throws {AdapterDisposedError} after disposal
   */
  send(operation: string, args: readonly string[], graceMs?: number): Promise<unknown>
  /** Drops the socket, so that whatever is blocked on it ends at once; a new one is opened. */
  replace(): void
}

/**
 * Opens a connection like the client that the locator finds, in the background.
 *
 * The client's own per-command timer is switched off: it costs more than the command, and covers only the time until
 * the command is written, so a half-open socket would never be noticed by it. Its own reconnecting is switched off too:
 * after a fail-over the way back leads elsewhere.
 *
 * @example
 * await using connection = openConnection({ server: locateServer({ kind: 'single', client }, 'svc-a/'), deadlineMs: 5000 })
 * await connection.send('ping', ['PING']) // 'PONG'
 */
export const openConnection = (options: ConnectionOptions): Connection => new LocatedConnection(options)
