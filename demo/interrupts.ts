import { constants } from 'node:os'
import type { WriteStream } from 'node:tty'
import { Interrupted } from './errors.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A terminal sends its interrupt to all, and some pass it on: what comes that soon is the same one. */
const SAME_MS = 1_000

/**
 * Aborts when the process is told to end, or when nobody reads its output any more; the reason is an `Interrupted`. Whoever
 * insists a second later gets an end at once; workers and a Redis of one's own notice that they are alone, and end too.
 */
export const listenForInterrupts = (stdout: WriteStream): AbortSignal => {
  const controller = new AbortController()
  let firstAt = Infinity
  for (const name of SIGNALS) {
    const exitCode = 128 + constants.signals[name]
    process.on(name, () => {
      if (performance.now() - firstAt > SAME_MS) process.exit(exitCode)
      firstAt = Math.min(firstAt, performance.now())
      controller.abort(new Interrupted(name, exitCode))
    })
  }
  stdout.on('error', () => controller.abort(new Interrupted('a closed output', 128 + constants.signals.SIGPIPE)))
  return controller.signal
}
