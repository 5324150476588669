import { printable } from '@furystack/task-runner'

import { LaneError } from './laneError.js'

/** What the server's error replies start with, as far as they are told apart. */
const TRANSIENT =
  /^(LOADING|MASTERDOWN|MOVED|ASK|TRYAGAIN|BUSY|READONLY|UNBLOCKED|CLUSTERDOWN|NOREPLICAS|OOM|MISCONF)\b/

/** An error that a command within a script raised: the commands before it have taken effect. */
const IN_SCRIPT = /\bscript: |@user_script/
/** These refuse the first write already. */
const BEFORE_ANY_WRITE = /^(OOM|READONLY|MISCONF|NOREPLICAS|MASTERDOWN)\b/

/**
 * Redis answered with an error: memory is full (`OOM`), the server is a replica (`READONLY`) or still loading
 * (`LOADING`), the user lacks a right (`NOPERM`), and so on. Nearly always the command had no effect then; `effect` is
 * `unknown` where a script was refused in its midst.
 *
 * @example
 * const isFull = (error: unknown): boolean => error instanceof RedisRefusedError && error.reply === 'OOM'
 */
export class RedisRefusedError extends LaneError {
  readonly code = 'redis-refused'
  readonly effect: 'excluded' | 'unknown'
  /** The first word of the server's reply, `OOM` for example. */
  readonly reply: string
  /** Whether the same command may well succeed later. */
  readonly isTransient: boolean

  constructor(
    /** What was asked for. */
    readonly operation: string,
    serverMessage: string,
    options?: ErrorOptions,
  ) {
    super(`${operation}: Redis refused it: ${printable(serverMessage, 500)}`, options)
    this.reply = serverMessage.split(' ', 1)[0] ?? ''
    this.isTransient = TRANSIENT.test(serverMessage)
    this.effect = IN_SCRIPT.test(serverMessage) && !BEFORE_ANY_WRITE.test(serverMessage) ? 'unknown' : 'excluded'
  }
}
