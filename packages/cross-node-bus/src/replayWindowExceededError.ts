/**
 * A replay cannot be complete: messages after `fromSeq` are no longer retained, or `fromSeq` was never issued, as
 * happens with a token kept from before a restart. The caller has to read the present state from its source and go on
 * from there.
 *
 * @example
 * ```ts
 * try {
 *   for await (const message of bus.replay('orders', '41')) console.log(message.payload)
 * } catch (error) {
 *   if (!(error instanceof ReplayWindowExceededError)) throw error
 *   console.warn('read everything anew', error.oldestRetainedSeq)
 * }
 * ```
 */
export class ReplayWindowExceededError extends Error {
  override readonly name = 'ReplayWindowExceededError'

  constructor(
    /** The topic that was to be replayed. */
    readonly topic: string,
    /** The token after which the replay was to begin. */
    readonly fromSeq: string,
    /** The oldest token that is still retained, `undefined` if there is none. */
    readonly oldestRetainedSeq: string | undefined,
  ) {
    super(
      `Cannot replay "${topic}" after ${fromSeq}: not every message since then is retained ` +
        `(oldest retained: ${oldestRetainedSeq ?? 'none'})`,
    )
  }
}
