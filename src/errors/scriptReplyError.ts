import { printable } from '@furystack/task-runner'

import { LaneError } from './laneError.js'

/**
 * A script answered with something that its caller cannot read: a server that is not quite Redis, or a bug.
 *
 * @example
 * new ScriptReplyError('finishAndRead', 42).message // 'finishAndRead: cannot read the reply 42'
 */
export class ScriptReplyError extends LaneError {
  readonly code = 'script-reply'
  readonly effect = 'unknown'

  constructor(
    /** The script that answered. */
    readonly operation: string,
    reply: unknown,
  ) {
    super(`${operation}: cannot read the reply ${printable(JSON.stringify(reply) ?? 'undefined')}`)
  }
}
