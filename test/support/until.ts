import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

/** How long to wait for what. */
export interface UntilOptions {
  /** A busy machine may take long; what hangs is told of before the test is over. @default 15_000 */
  readonly timeoutMs?: number
  readonly intervalMs?: number
  /** Ends the sentence "Timed out waiting until …". */
  readonly description?: string
}

/**
 * Asks again and again until `predicate` gives something truthy, and gives that. It is for conditions of another
 * process that have no signal to wait for. A predicate that throws counts as "not yet": what it looks at may be down.
 */
export const until = async <T>(
  predicate: () => T | Promise<T>,
  { timeoutMs = 15_000, intervalMs = 20, description = predicate.toString() }: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined | 0 | ''>> => {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  // A predicate that never answers must not outlast the time either.
  const expired = new Promise<'expired'>((resolve) =>
    timeout.signal.addEventListener('abort', () => resolve('expired'), { once: true }),
  )
  let last: unknown
  let cause: unknown
  try {
    while (!timeout.signal.aborted) {
      const answer = await Promise.race([
        Promise.resolve()
          .then(predicate)
          .then(
            (value) => ({ value }),
            (error: unknown) => ({ error }),
          ),
        expired,
      ])
      if (answer === 'expired') break
      if ('error' in answer) cause = answer.error
      else if (answer.value) return answer.value as Exclude<T, false | null | undefined | 0 | ''>
      else [last, cause] = [answer.value, undefined]
      await Promise.race([delay(intervalMs), expired])
    }
  } finally {
    clearTimeout(timer)
  }
  const seen =
    cause === undefined
      ? `last seen: ${inspect(last)}`
      : `last error: ${cause instanceof Error ? cause.message : inspect(cause)}`
  throw new Error(`Timed out after ${timeoutMs} ms waiting until ${description} (${seen})`, { cause })
}
