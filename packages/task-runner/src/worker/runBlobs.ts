import type { BlobRef } from '@furystack/blob-store'

import { AttemptEndedError } from '../errors/attemptEndedError.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import type { BlobUse, UsedBlob } from '../store/recordBlob.js'
import { pause } from '../time/pause.js'
import type { Run, RunEnd } from './run.js'
import { persist, StepTroubleError } from './steps/persist.js'

/** How long a blob that is just being deleted is left alone before it is asked for again, at most. */
const BUSY_PAUSE_MS = 1_000

/**
 * Puts the blobs of one run on the record of its task. A blob is on the record before anybody can write it, so that one
 * without a record cannot come about, wherever a process dies; a record without a blob costs the sweeper a call.
 */
export class RunBlobs {
  /** What has been recorded, or is on its way, by use and key; with the text that it is recorded as. */
  readonly #recorded = new Map<string, { readonly text: string; readonly written: Promise<void> }>()
  /** Why a blob that was allocated is not on the record, by use and key. */
  readonly #troubles = new Map<string, unknown>()

  constructor(
    private readonly parts: RunnerParts,
    private readonly run: Run,
  ) {}

  /** Whether a key of the bound store lies where this task's own blobs do. */
  isOwn(key: unknown): boolean {
    return typeof key === 'string' && key.startsWith(`tasks/${this.run.taskId}/`)
  }

  /** Records a blob in the background; the run does not end before it stands. */
  allocate(blob: BlobRef): void {
    this.#assertUsable()
    // What is there already says more than a reference to something that is to come.
    if (this.#recorded.has(nameOf('produced', blob))) return
    this.#write({ use: 'produced', blob }).catch((error: unknown) => {
      this.#troubles.set(nameOf('produced', blob), error)
    })
  }

  /** Resolves when a blob stands on the record. It may be written, or read, from then on. */
  record(use: BlobUse, blob: BlobRef): Promise<void> {
    return this.#stand(() => this.#write({ use, blob }))
  }

  /** The same, for a blob that stands already: what is new about it. Never rejects. */
  async complete(blob: BlobRef): Promise<void> {
    if (this.run.hasEnded) return
    try {
      await this.#write({ use: 'produced', blob })
    } catch (error) {
      this.parts.report('recordBlob', error)
    }
  }

  /** Before a blob of this task is written: it stands under at least its name. */
  reserve(blob: BlobRef): Promise<void> {
    return this.#stand(
      () => this.#recorded.get(nameOf('produced', blob))?.written ?? this.#write({ use: 'produced', blob }),
    )
  }

  /** What the end of the handler comes to, once all of its blobs stand. */
  async close(end: RunEnd): Promise<RunEnd> {
    await Promise.allSettled([...this.#recorded.values()].map(({ written }) => written))
    const [trouble] = this.#troubles
    return end.kind !== 'returned' || trouble === undefined ? end : { kind: 'threw', error: trouble[1] }
  }

  /** Whatever comes of it, a run that was cut off is not told: its handler must not take a wait for an end. */
  async #stand(write: () => Promise<void>): Promise<void> {
    if (!this.run.isCutOff) {
      this.#assertUsable()
      try {
        await write()
        if (!this.run.isCutOff) return this.#assertUsable()
      } catch (error) {
        if (!this.run.isCutOff) throw error
      }
    }
    return new Promise<void>(() => undefined)
  }

  #write(used: UsedBlob): Promise<void> {
    const name = nameOf(used.use, used.blob)
    const text = JSON.stringify(used.blob)
    const present = this.#recorded.get(name)
    if (present?.text === text) return present.written
    const written = this.#ask(used, present?.written)
    this.#recorded.set(name, { text, written })
    // Whoever asks again tries again.
    written.catch(() => {
      if (this.#recorded.get(name)?.written === written) this.#recorded.delete(name)
    })
    return written
  }

  async #ask(used: UsedBlob, before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => undefined)
    const { parts, run } = this
    const { taskId, attempt } = run
    try {
      for (;;) {
        const result = await persist(parts, run, 'recordBlob', () =>
          parts.store.recordBlob({ taskId, attempt, ...used }),
        )
        if (result.kind === 'recorded') return void this.#troubles.delete(nameOf(used.use, used.blob))
        if (result.kind === 'lost') run.lose('taken')
        if (run.stop !== undefined) throw run.stop.error
        const isOver = result.kind === 'lost' || parts.clock.elapsed() >= run.leaseEndsAt
        if (isOver) throw new AttemptEndedError(taskId, attempt)
        await pause(parts.clock, Math.min(result.retryAfterMs, BUSY_PAUSE_MS))
      }
    } catch (error) {
      throw error instanceof StepTroubleError ? error.cause : error
    }
  }

  #assertUsable(): void {
    const { stop, hasEnded, taskId, attempt } = this.run
    if (stop?.kind === 'lost') throw stop.error
    if (hasEnded) throw new AttemptEndedError(taskId, attempt)
  }
}

const nameOf = (use: BlobUse, { storeName, key }: BlobRef): string => JSON.stringify([use, storeName, key])
