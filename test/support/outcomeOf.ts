import { deferred } from './deferred.js'

/**
 * A command waits for a connection for the deadline at most, and for its reply one and a half times as long; no call that is
 * looked at takes more than a few commands one after another. The rest is for a busy machine: what hangs would hang for
 * ever.
 */
const LIMIT_MS = 12_000

/** How a call ended. */
export type Outcome =
  { readonly kind: 'fulfilled' } | { readonly kind: 'rejected'; readonly error: unknown } | { readonly kind: 'hangs' }

/** Waits for the end of a call, however it ends; never rejects. */
export const outcomeOf = async (call: () => unknown): Promise<Outcome> => {
  const late = deferred<Outcome>()
  const timer = setTimeout(() => late.resolve({ kind: 'hangs' }), LIMIT_MS)
  const ended = (async (): Promise<Outcome> => {
    try {
      await call()
      return { kind: 'fulfilled' }
    } catch (error) {
      return { kind: 'rejected', error }
    }
  })()
  const outcome = await Promise.race([ended, late.promise])
  clearTimeout(timer)
  return outcome
}
