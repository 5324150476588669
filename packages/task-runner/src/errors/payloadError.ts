import { printable } from '../argument/printable.js'

/**
 * A payload that JSON text cannot carry: a cycle, a BigInt, a function or a symbol in the first place. Thrown before
 * anything is written; `cause` is what the encoder said, if it said anything.
 *
 * @example
 * await runner.submit({ type: 'mail', payload: 10n, handlerVersion: 1 }) // rejects with a PayloadError
 */
export class PayloadError extends Error {
  public override readonly name = 'PayloadError'

  constructor(
    /** What it was meant for. */
    public readonly subject: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`The payload of ${subject} cannot be stored: ${printable(why, 1_000)}`, options)
  }
}
