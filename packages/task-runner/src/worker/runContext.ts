import { validateBlobKey, type BlobRef, type BlobStore } from '@furystack/blob-store'
import type { Injector } from '@furystack/inject'

import { checkNumber } from '../argument/checkNumber.js'
import { AttemptEndedError } from '../errors/attemptEndedError.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { LeaseLostError } from '../errors/leaseLostError.js'
import { NotNowError } from '../errors/notNowError.js'
import type { TaskContext } from '../handler/taskContext.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import { longTimeout } from '../time/longTimeout.js'
import type { HeartbeatTimer } from './heartbeatTimer.js'
import { ProgressReporter } from './progressReporter.js'
import type { Run } from './run.js'

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
    return this.#parts.blobStore
  }

  get cancellationSignal(): AbortSignal {
    return this.#run.signal
  }

  get remainingMs(): number {
    return Math.max(0, this.#run.timeoutAt - performance.now())
  }

  get heartbeat(): TaskContext<P>['heartbeat'] {
    return async () => {
      this.#assertUsable()
      await this.#heartbeats.extend(this.#run)
      this.#assertUsable()
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
      const ref: BlobRef = { storeName: this.blobStore.storeName, key }
      return contentType === undefined ? ref : { ...ref, contentType }
    }
  }

  get sleep(): TaskContext<P>['sleep'] {
    return async (ms) => {
      this.#assertUsable()
      await sleep(checkNumber('ms', ms, { min: 0, infinity: 'until the signal fires' }), this.#run.signal)
      this.#assertUsable()
    }
  }

  get notNow(): TaskContext<P>['notNow'] {
    return (delayMs) => {
      throw new NotNowError(delayMs)
    }
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

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    // The reason is one of the runner's own errors.
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    const onAbort = (): void => {
      cancel()
      abort()
    }
    const cancel = longTimeout(
      () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      },
      ms,
      { keepAlive: true },
    )
    signal.addEventListener('abort', onAbort, { once: true })
  })
