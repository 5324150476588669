import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { encodeJson } from '../json/encodeJson.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import type { HeartbeatTimer } from './heartbeatTimer.js'
import type { Run } from './run.js'

/** A store in trouble is asked again after this, at the earliest. */
const TROUBLE_PAUSE_MS = 250

interface Report {
  readonly percent: number
  readonly metaJson: string | undefined
}

/**
 * Stores and publishes the progress of one run: the first report at once, then the latest one per throttle interval, one
 * write after the other, and the last one in any case before the run ends.
 */
export class ProgressReporter {
  /** What the last report said. */
  public percent = 0
  #latest: Report | undefined
  #writing: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  /** When the next write may be; by the monotonic clock. */
  #nextWriteAt = -Infinity
  #isClosed = false

  constructor(
    private readonly parts: RunnerParts,
    private readonly heartbeats: HeartbeatTimer,
    private readonly run: Run,
  ) {}

  /** Never throws: what cannot be stored is reported to telemetry. */
  report(progress: { percent: number; meta?: unknown }): void {
    if (this.#isClosed) return
    try {
      const { percent, meta } = progress
      if (!Number.isFinite(percent)) throw new InvalidArgumentError('percent', percent, 'a finite number')
      // Adding 0 makes 0 of -0.
      this.#latest = { percent: percent + 0, metaJson: encodeJson(meta, this.parts.settings.maxPayloadBytes) }
      this.percent = percent
    } catch (error) {
      return this.parts.report('progress', error)
    }
    this.#schedule()
  }

  /** Writes what is left; afterwards nothing more is written. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer?.()
    await this.#writing
    if (this.run.stop?.kind !== 'lost') await this.#writeLatest()
  }

  #schedule(): void {
    if (this.#writing !== undefined || this.#cancelTimer !== undefined || this.#isClosed) return
    const waitMs = this.#nextWriteAt - this.parts.clock.elapsed()
    if (waitMs > 0) this.#cancelTimer = this.parts.clock.setTimer(this.#write, waitMs)
    else this.#write()
  }

  readonly #write = (): void => {
    this.#cancelTimer = undefined
    this.#writing = this.#writeLatest().then(() => {
      this.#writing = undefined
      if (this.#latest !== undefined) this.#schedule()
    })
  }

  async #writeLatest(): Promise<void> {
    const latest = this.#latest
    if (latest === undefined) return
    this.#latest = undefined
    this.#rest(this.run.handler.progressThrottleMs)
    const { percent, metaJson } = latest
    const result = await this.heartbeats.extend(this.run, {
      percent,
      ...(metaJson !== undefined && { metaJson }),
    })
    if (result === undefined) {
      // Not stored, as has been reported: it waits for the next turn, unless there is a later one.
      this.#latest ??= latest
      this.#rest(Math.max(this.run.handler.progressThrottleMs, TROUBLE_PAUSE_MS))
    } else if (result.kind === 'extended') this.#announce(percent, metaJson, result.at)
  }

  #rest(ms: number): void {
    this.#nextWriteAt = this.parts.clock.elapsed() + ms
  }

  /** Tells what has been stored, which whoever reported it may have changed since. */
  #announce(percent: number, metaJson: string | undefined, at: number): void {
    const { taskId, type } = this.run
    const meta: unknown = metaJson === undefined ? undefined : JSON.parse(metaJson)
    this.parts.updates.progress(type, taskId, percent, meta, at)
    if (!this.parts.telemetry.hasListeners('onTaskProgress')) return
    this.parts.telemetry.emit('onTaskProgress', { taskId, percent, ...(meta !== undefined && { meta }) })
  }
}
