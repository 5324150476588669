import { printable } from '../argument/printable.js'

/**
 * A task was named that the store does not know.
 *
 * @example
 * await runner.getTree('no-such-task') // rejects with an UnknownTaskError
 */
export class UnknownTaskError extends Error {
  public override readonly name = 'UnknownTaskError'

  constructor(
    /** The id that no task has. */
    public readonly taskId: string,
    /** What it was needed for, for the message. */
    role = 'task',
  ) {
    super(`There is no ${printable(role)} ${printable(taskId)}`)
  }
}
