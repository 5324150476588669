import type { RunnerParts } from '../../runner/runnerParts.js'
import { pause } from '../../time/pause.js'
import type { Run } from '../run.js'

const FIRST_PAUSE_MS = 50
/** A handler does not wait longer for a store in trouble; its attempt fails then. */
const LIMIT_MS = 2_000

/** The store did not take, or did not give, what a run cannot go on without. */
export class StepTroubleError extends Error {
  public override readonly name = 'StepTroubleError'
}

/** Asks the store, again and again for a moment. Throws a `StepTroubleError` with the trouble as its cause. */
export const persist = async <T>(
  { report, clock }: RunnerParts,
  run: Run,
  operation: string,
  ask: () => Promise<T>,
): Promise<T> => {
  const limit = Math.min(clock.elapsed() + LIMIT_MS, run.leaseEndsAt)
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      return await ask()
    } catch (cause) {
      report(operation, cause)
      if (clock.elapsed() + pauseMs >= limit) throw new StepTroubleError(`the step "${operation}" failed`, { cause })
    }
    await pause(clock, pauseMs)
  }
}
