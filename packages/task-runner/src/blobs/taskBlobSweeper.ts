import type { BlobStore } from '@furystack/blob-store'

import { checkNumber } from '../argument/checkNumber.js'
import { Maintenance } from '../runner/maintenance.js'
import type { TaskStore } from '../store/taskStore.js'
import { createErrorReporter } from '../telemetry/createErrorReporter.js'
import type { TaskRunnerTelemetry } from '../telemetry/taskRunnerTelemetry.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/systemClock.js'
import { BlobSweep } from './blobSweep.js'
import { sweepBlobs, type SweepBlobsParts } from './sweepBlobs.js'
import type { SweeperRunResult } from './sweeperRunResult.js'

/**
 * What a {@link TaskBlobSweeper} works with.
 *
 * @example
 * const deps: TaskBlobSweeperDeps = { store, blobStore, telemetry }
 * using sweeper = new TaskBlobSweeper(deps)
 */
export interface TaskBlobSweeperDeps {
  /** Where the records of the tasks are. */
  readonly store: TaskStore
  /** Whose blobs it deals with; those of other stores are left to others. */
  readonly blobStore: BlobStore
  /** Told of what was deleted, and of what could not be. */
  readonly telemetry: TaskRunnerTelemetry
}

/**
 * How a {@link TaskBlobSweeper} differs from the default.
 *
 * @example
 * const options: TaskBlobSweeperOptions = { scanIntervalMs: 60_000, batchSize: 20 }
 */
export interface TaskBlobSweeperOptions {
  /**
   * Milliseconds between two sweeps, of which one process at a time does one for all that share the store; Infinity: only
   * `runOnce` does. @default 3_600_000
   */
  scanIntervalMs?: number
  /** How many tasks are taken from the store at once; a sweep goes on until nothing is due. @default 100 */
  batchSize?: number
  /** Where time comes from, other than that of the store. @default the system's */
  clock?: Clock
}

/**
 * Deletes blobs of tasks that have been over for as long as their policies say. A runner does this by itself once a
 * minute; one of these is for a process without workers, or to sweep at a time of your choosing.
 *
 * @throws {InvalidArgumentError} for an option out of its range
 *
 * @example
 * using sweeper = new TaskBlobSweeper({ store, blobStore, telemetry }, { scanIntervalMs: Infinity })
 * const { deletedBlobCount } = await sweeper.runOnce()
 */
export class TaskBlobSweeper implements Disposable, AsyncDisposable {
  readonly #parts: SweepBlobsParts
  readonly #batchSize: number
  readonly #maintenance: Maintenance
  #isDisposed = false

  constructor({ store, blobStore, telemetry }: TaskBlobSweeperDeps, options: TaskBlobSweeperOptions = {}) {
    const { scanIntervalMs = 3_600_000, batchSize = 100, clock = systemClock } = options
    checkNumber('scanIntervalMs', scanIntervalMs, { min: 1, infinity: 'only runOnce' })
    this.#batchSize = checkNumber('batchSize', batchSize, { min: 1, max: 1_000 })
    const report = createErrorReporter(telemetry)
    this.#parts = { store, blobStore, telemetry, report, clock }
    this.#maintenance = new Maintenance({ store, report, clock })
    this.#maintenance.add(new BlobSweep(this.#parts, scanIntervalMs, this.#batchSize))
  }

  /**
   * Sweeps now, until nothing is due any more. Several may do so at once: each task is dealt with by one of them. Rejects
   * if the task store cannot be asked; trouble with single blobs is reported to telemetry. Zeros after the disposal.
   */
  async runOnce(): Promise<SweeperRunResult> {
    if (this.#isDisposed) return { scannedCount: 0, sweptCount: 0, deletedBlobCount: 0 }
    return sweepBlobs(this.#parts, { batchSize: this.#batchSize, keep: () => Promise.resolve(!this.#isDisposed) })
  }

  /** Ends the sweeps; one that is under way stops after the task it is at. */
  [Symbol.dispose](): void {
    void this[Symbol.asyncDispose]()
  }

  /** Waits for the sweep that is under way, five seconds at most. Never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await this.#maintenance[Symbol.asyncDispose]()
  }
}
