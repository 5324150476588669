import { validateBlobKey, type BlobRef, type BlobStore } from '@furystack/blob-store'
import type { Injector } from '@furystack/inject'

import { checkBlobRef } from '../argument/checkBlobRef.js'
import { checkNumber } from '../argument/checkNumber.js'
import { AttemptEndedError } from '../errors/attemptEndedError.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { LeaseLostError } from '../errors/leaseLostError.js'
import { NotNowError } from '../errors/notNowError.js'
import type { TaskContext } from '../handler/taskContext.js'
import { stepIdentity } from '../replay/stepIdentity.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import type { SpawnOptions } from '../tree/spawnOptions.js'
import type { HeartbeatTimer } from './heartbeatTimer.js'
import { ProgressReporter } from './progressReporter.js'
import type { Run } from './run.js'
import { RunBlobs } from './runBlobs.js'
import { TaskBlobStore } from './taskBlobStore.js'
import { awaitSettledStep, awaitStep } from './steps/awaitStep.js'
import { fetchStep } from './steps/fetchStep.js'
import { freshSteps } from './steps/openSteps.js'
import type { RunSteps } from './steps/runSteps.js'
import { sleepStep } from './steps/sleepStep.js'
import { spawnStep } from './steps/spawnStep.js'

/**
 * The context of one run. Its functions are made when they are asked for, so that they may be taken out of it without
 * costing anything where they are not used.
 */
export class RunContext<P> implements TaskContext<P> {
  public readonly taskId: string
  public readonly attempt: number
  readonly #parts: RunnerParts
  readonly #heartbeats: HeartbeatTimer
  readonly #run: Run
  #blobStore: BlobStore | undefined

  constructor(
    parts: RunnerParts,
    heartbeats: HeartbeatTimer,
    run: Run,
    public readonly payload: P,
  ) {
    this.#parts = parts
    this.#heartbeats = heartbeats
    this.#run = run
    this.taskId = run.taskId
    this.attempt = run.attempt
  }

  get injector(): Injector {
    return this.#parts.injector
  }

  get blobStore(): BlobStore {
    this.#blobStore ??= new TaskBlobStore(this.#parts, this.#blobs)
    return this.#blobStore
  }

  get cancellationSignal(): AbortSignal {
    return this.#run.signal
  }

  get remainingMs(): number {
    // Timers fire up to a millisecond early, and whoever has been told that the time is over is not to be told of more.
    if (this.#run.stop?.kind === 'timeout') return 0
    return Math.max(0, this.#run.timeoutAt - this.#parts.clock.elapsed())
  }

  get heartbeat(): TaskContext<P>['heartbeat'] {
    return async () => {
      if (!this.#run.isCutOff) {
        this.#assertUsable()
        await this.#heartbeats.extend(this.#run)
        if (!this.#run.isCutOff) return this.#assertUsable()
      }
      return new Promise<void>(() => undefined)
    }
  }

  get reportProgress(): TaskContext<P>['reportProgress'] {
    return (progress) => {
      const run = this.#run
      if (run.hasEnded || run.stop?.kind === 'lost') return
      run.progress ??= new ProgressReporter(this.#parts, this.#heartbeats, run)
      run.progress.report(progress)
    }
  }

  get allocateBlob(): TaskContext<P>['allocateBlob'] {
    return (suffix, { contentType } = {}) => {
      const key = blobKey(this.taskId, suffix)
      const { storeName } = this.#parts.blobStore
      const ref: BlobRef = contentType === undefined ? { storeName, key } : { storeName, key, contentType }
      this.#blobs.allocate(ref)
      return ref
    }
  }

  get consumeBlob(): TaskContext<P>['consumeBlob'] {
    // Asynchronous, so that a refused argument rejects.
    return async (blob) => this.#blobs.record('consumed', checkBlobRef('blob', blob))
  }

  get spawnChild(): TaskContext<P>['spawnChild'] {
    return (type, payload, options) => spawnStep(this.#steps, type, payload, options)
  }

  get awaitChildren(): TaskContext<P>['awaitChildren'] {
    return (handles) => awaitStep(this.#steps, handles) as never
  }

  get awaitChildrenSettled(): TaskContext<P>['awaitChildrenSettled'] {
    return (handles) => awaitSettledStep(this.#steps, handles) as never
  }

  get spawnChildAndAwait(): TaskContext<P>['spawnChildAndAwait'] {
    return async <I, O>(type: string, payload: I, options?: SpawnOptions) => {
      const handle = await spawnStep<O>(this.#steps, type, payload, options)
      const [result] = await awaitStep(this.#steps, [handle])
      return result as O
    }
  }

  get notNow(): TaskContext<P>['notNow'] {
    return (delayMs) => {
      throw new NotNowError(delayMs)
    }
  }

  get now(): TaskContext<P>['now'] {
    return () =>
      new Date(this.#steps.instant(stepIdentity.now(), () => new Date(this.#parts.clock.now()).toISOString()))
  }

  get random(): TaskContext<P>['random'] {
    return () => this.#steps.instant(stepIdentity.random(), () => this.#parts.clock.random())
  }

  get sleep(): TaskContext<P>['sleep'] {
    // Asynchronous, so that a refused argument rejects.
    return async (ms) => sleepStep(this.#steps, checkNumber('ms', ms, { min: 0, infinity: 'until the signal fires' }))
  }

  get fetch(): TaskContext<P>['fetch'] {
    return (url, init) => fetchStep(this.#steps, url, init)
  }

  /** Made when it is first needed, unless earlier runs have left something. */
  get #steps(): RunSteps {
    this.#run.steps ??= freshSteps(this.#parts, this.#run)
    return this.#run.steps
  }

  /** Made when it is first needed. */
  get #blobs(): RunBlobs {
    this.#run.blobs ??= new RunBlobs(this.#parts, this.#run)
    return this.#run.blobs
  }

  #assertUsable(): void {
    const { stop, hasEnded } = this.#run
    if (stop?.error instanceof LeaseLostError) throw stop.error
    if (hasEnded) throw new AttemptEndedError(this.taskId, this.attempt)
  }
}

const blobKey = (taskId: string, suffix: unknown): string => {
  const segments = typeof suffix === 'string' ? suffix.split('/') : ['']
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new InvalidArgumentError('suffix', suffix, 'segments separated by "/", none of them empty, "." or ".."')
  }
  const key = `tasks/${taskId}/${segments.join('/')}`
  validateBlobKey(key)
  return key
}
