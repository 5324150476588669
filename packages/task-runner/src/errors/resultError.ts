import { printable, quoted } from '../argument/printable.js'

/**
 * A handler returned something that JSON would drop or give back as something else (see `PayloadError`). The attempt has failed with this error; as another run would
 * most likely return the same, the retry policy applies as for any other error.
 *
 * @example
 * const task = await runner.get(taskId)
 * if (task?.error?.name === 'ResultError') console.log(task.error.message)
 */
export class ResultError extends Error {
  public override readonly name = 'ResultError'

  constructor(
    /** The type of the task. */
    public readonly type: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`The result of the handler for type ${quoted(type)} cannot be stored: ${printable(why, 1_000)}`, options)
  }
}
