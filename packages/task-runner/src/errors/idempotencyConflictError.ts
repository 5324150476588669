import { printable, quoted } from '../argument/printable.js'

/**
 * An idempotency key was used again, with another payload than that of the task which holds it.
 *
 * @example
 * try {
 *   await runner.submit({ type: 'bill', payload: { month: 2 }, handlerVersion: 1, idempotencyKey: 'january' })
 * } catch (error) {
 *   if (error instanceof IdempotencyConflictError) console.log('the key belongs to', error.taskId)
 * }
 */
export class IdempotencyConflictError extends Error {
  public override readonly name = 'IdempotencyConflictError'

  constructor(
    /** The type of the task. */
    public readonly type: string,
    /** The key that belongs to another payload. */
    public readonly idempotencyKey: string,
    /** The task that holds the key. */
    public readonly taskId: string,
  ) {
    super(
      `The idempotency key ${quoted(idempotencyKey)} of type ${quoted(type)} belongs to task ${printable(taskId)}, ` +
        'which has another payload: use another key, or submit the same payload',
    )
  }
}
