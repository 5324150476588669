import { printable } from '../argument/printable.js'

/**
 * A payload that JSON would drop or give back as something else: a function, a BigInt, NaN, a Date, an instance of a
 * class, a cycle; or one that is larger than `maxPayloadBytes`. Thrown before anything is written; the message names the
 * place. A recorded `fetch` rejects with it for a body that is too large.
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
