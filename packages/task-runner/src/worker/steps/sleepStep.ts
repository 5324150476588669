import { stepIdentity } from '../../replay/stepIdentity.js'
import type { Clock } from '../../time/clock.js'
import { onAbort } from '../../time/onAbort.js'
import type { RunSteps } from './runSteps.js'

/**
 * Sleeps until a time that is recorded first, so that a run which is cut off in between does not begin again. A long
 * sleep gives the slot back.
 */
export const sleepStep = (steps: RunSteps, ms: number): Promise<void> =>
  steps.take(stepIdentity.sleep(ms), async (next) => {
    const { parts, run, writer } = steps
    const { clock } = parts
    if (ms === Infinity) return { value: await sleep(clock, ms, run.signal) }
    const leftMs = next.kind === 'live' ? ms : next.entry.at + ms - steps.storeNow
    const { settings, adapter } = parts
    if (leftMs > settings.parkSleepsAfterMs && adapter.capabilities.delayedDispatch) {
      const at = next.kind === 'live' ? await writer.record(next.key, next.entry) : next.entry.at
      steps.parkUntil(at + ms)
      return undefined
    }
    const recording = next.kind === 'live' ? writer.record(next.key, next.entry) : writer.flush()
    // A sleep of a moment is not longer because its end is written down.
    await Promise.all([recording, sleep(clock, Math.max(0, leftMs), run.signal)])
    return { value: undefined }
  })

const sleep = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    // The reason is one of the runner's own errors.
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    const leave = onAbort(signal, () => {
      cancel()
      abort()
    })
    const cancel = clock.setTimer(
      () => {
        leave()
        resolve()
      },
      ms,
      { keepAlive: true },
    )
  })
