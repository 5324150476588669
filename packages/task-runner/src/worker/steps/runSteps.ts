import { AttemptEndedError } from '../../errors/attemptEndedError.js'
import type { NextStep, ReplayLog } from '../../replay/replayLog.js'
import type { StepIdentity } from '../../replay/stepIdentity.js'
import type { RunnerParts } from '../../runner/runnerParts.js'
import { MAX_DELAY_MS } from '../../time/maxDelayMs.js'
import type { Run, RunEnd } from '../run.js'
import { StepTroubleError } from './persist.js'
import { StepWriter } from './stepWriter.js'

/** What a step came to; `undefined`: the handler stands still there, and the run ends when all of its branches do. */
export type StepValue<T> = { readonly value: T } | undefined

/**
 * The steps that the handler of one run takes. A run that can only wait is ended over its handler's head: the promises
 * that the handler waits for are never settled, so that no `catch` or `finally` of its own can take a wait for an end.
 */
export class RunSteps {
  readonly writer: StepWriter
  /** Steps under way. */
  #busy = 0
  readonly #awaited = new Set<string>()
  /** Epoch milliseconds by the store's clock. */
  #wakeAt = Infinity
  #isChecking = false

  constructor(
    readonly parts: RunnerParts,
    readonly run: Run,
    private readonly log: ReplayLog,
  ) {
    this.writer = new StepWriter(parts, run)
  }

  /** The present time by the store's clock, in epoch milliseconds. */
  get storeNow(): number {
    return this.run.startedAt + (this.parts.clock.elapsed() - this.run.beganAt)
  }

  /** Takes a step. It is asked for at once, so that steps keep the order of their calls. */
  async take<T>(identity: StepIdentity, step: (next: NextStep) => Promise<StepValue<T>>): Promise<T> {
    if (this.run.isCutOff) return never()
    this.#assertUsable()
    const next = this.#next(identity)
    if (next === undefined) return never()
    const result = await this.#settle(step, next)
    if (result === undefined || this.run.isCutOff) return never()
    return result.value
  }

  /** A value that is there at once, and is recorded in the background. */
  instant<T>(identity: StepIdentity, make: () => T): T {
    const { run, log, writer } = this
    if (run.hasEnded || run.isCutOff) throw new AttemptEndedError(run.taskId, run.attempt)
    // Whatever a handler does to clean up is not done again.
    if (run.stop !== undefined) return make()
    let next: NextStep
    try {
      next = log.next(identity, this.#isParallel)
    } catch (error) {
      run.cutOff({ kind: 'threw', error })
      throw error
    }
    if (next.kind === 'replay') return next.entry.output as T
    const output = make()
    writer.recordInBackground(next.key, { ...next.entry, output })
    return output
  }

  /** The handler goes on when these have ended. */
  suspendFor(taskIds: readonly string[]): void {
    for (const taskId of taskIds) this.#awaited.add(taskId)
  }

  /** The handler goes on at that time of the store's clock. */
  parkUntil(at: number): void {
    this.#wakeAt = Math.min(this.#wakeAt, at)
  }

  /** What the end of the handler comes to, once all of its steps stand. */
  async close(end: RunEnd): Promise<RunEnd> {
    if (end.kind !== 'returned') return end
    try {
      await this.writer.flush()
      this.log.assertDone()
      return end
    } catch (error) {
      return { kind: 'threw', error: causeOf(error) }
    }
  }

  get #isParallel(): boolean {
    return this.#busy > 0 || this.#isWaiting
  }

  get #isWaiting(): boolean {
    return this.#awaited.size > 0 || this.#wakeAt !== Infinity
  }

  #next(identity: StepIdentity): NextStep | undefined {
    try {
      return this.log.next(identity, this.#isParallel)
    } catch (error) {
      this.run.cutOff({ kind: 'threw', error })
      return undefined
    }
  }

  async #settle<T>(step: (next: NextStep) => Promise<StepValue<T>>, next: NextStep): Promise<StepValue<T>> {
    this.#busy++
    try {
      // A step may be about a value of the background, which has to stand before the step does.
      if (next.kind === 'live' && this.writer.isBehind) await this.writer.flush()
      const result = await step(next)
      if (result !== undefined && !this.run.isCutOff) this.#assertAlive()
      return result
    } catch (error) {
      if (this.run.isCutOff) return undefined
      if (!(error instanceof StepTroubleError)) throw error
      this.run.cutOff({ kind: 'threw', error: causeOf(error) })
      return undefined
    } finally {
      this.#busy--
      this.#endWhenStill()
    }
  }

  /** Ends the run when no branch of the handler has taken another step by the time that all of them had their turn. */
  #endWhenStill(): void {
    if (this.#busy > 0 || !this.#isWaiting || this.#isChecking) return
    this.#isChecking = true
    this.parts.clock.nextTurn(() => void this.#endIfStill())
  }

  async #endIfStill(): Promise<void> {
    try {
      if (this.#busy === 0) await this.writer.flush()
      this.#isChecking = false
      if (this.#busy > 0) return
      // A longer sleep than a date can tell goes on when the handler is run again.
      // A sleep that is over goes before: whoever races it against children wants to know.
      if (this.#wakeAt === Infinity) this.run.cutOff({ kind: 'suspended', awaiting: [...this.#awaited] })
      else
        this.run.cutOff({ kind: 'parked', delayMs: Math.min(MAX_DELAY_MS, Math.max(0, this.#wakeAt - this.storeNow)) })
    } catch (error) {
      this.run.cutOff({ kind: 'threw', error: causeOf(error) })
    }
  }

  /** Nothing is begun that would be recorded once the run has been told to stop. */
  #assertUsable(): void {
    if (this.run.stop !== undefined) throw this.run.stop.error
    this.#assertAlive()
  }

  #assertAlive(): void {
    const { stop, hasEnded, taskId, attempt } = this.run
    if (stop?.kind === 'lost') throw stop.error
    if (hasEnded) throw new AttemptEndedError(taskId, attempt)
  }
}

const causeOf = (error: unknown): unknown => (error instanceof StepTroubleError ? error.cause : error)

/** One of its own each time, as a shared one would keep everything that was ever chained to it. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined)
