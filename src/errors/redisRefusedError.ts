import { LaneError } from './laneError.js'

/** What the server's error replies start with, as far as they are told apart. */
const TRANSIENT = /^(LOADING|MASTERDOWN|TRYAGAIN|BUSY|READONLY|UNBLOCKED|CLUSTERDOWN|NOREPLICAS|OOM|MISCONF)\b/

/**
 * Redis answered with an error, so the command had no effect: memory is full (`OOM`), the server is a replica
 * (`READONLY`) or still loading (`LOADING`), the user lacks a right (`NOPERM`), and so on.
 *
 * @example
 * if (error instanceof RedisRefusedError && error.reply === 'OOM') shedLoad()
 */
export class RedisRefusedError extends LaneError {
  readonly code = 'redis-refused'
  readonly effect = 'excluded'
  /** The first word of the server's reply, `OOM` for example. */
  readonly reply: string
  /** Whether the same command may well succeed later. */
  readonly isTransient: boolean

  constructor(
    readonly operation: string,
    serverMessage: string,
    options?: ErrorOptions,
  ) {
    super(`${operation}: Redis refused it: ${serverMessage}`, options)
    this.reply = serverMessage.split(' ', 1)[0] ?? ''
    this.isTransient = TRANSIENT.test(serverMessage)
  }
}
