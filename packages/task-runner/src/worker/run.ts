import { isObservable, type Observable } from 'rxjs'

import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'
import type { TaskContext } from '../handler/taskContext.js'
import type { BegunTask } from '../store/begunTask.js'
import type { ClaimedTask } from '../queue/queueAdapter.js'
import { AttemptTimeoutError } from '../errors/attemptTimeoutError.js'
import { LeaseLostError } from '../errors/leaseLostError.js'
import { TaskCancelledError } from '../errors/taskCancelledError.js'
import type { Clock } from '../time/clock.js'
import { observeHandler } from './observeHandler.js'
import type { ProgressReporter } from './progressReporter.js'
import type { RunBlobs } from './runBlobs.js'
import type { RunStop } from './runStop.js'
import type { RunSteps } from './steps/runSteps.js'

/** How a handler ended, or that its run was ended over its head: given up, or to wait for children or a time. */
export type RunEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'suspended'; readonly awaiting: readonly string[] }
  | { readonly kind: 'parked'; readonly delayMs: number }

/** Who takes what an Observable handler emits, and what its teardown throws. */
export interface RunObserver {
  onValue(value: unknown): void
  onTeardownError(error: unknown): void
}

/** One attempt of one task in this process: whose it is, how long, and whether it has to stop. */
export class Run {
  public readonly taskId: string
  public readonly type: string
  public readonly attempt: number
  /** Epoch milliseconds by the store's clock. */
  public readonly startedAt: number
  public readonly failures: number
  /** See `StoredTask.generation`. */
  public readonly generation: number
  /** How long broker and store keep the task for this run, from each extension. */
  public readonly visibilityMs: number
  /** When the run began, by the monotonic clock of this process. */
  public readonly beganAt: number
  /** When the lease was extended last; by the monotonic clock of this process, as all that follows. */
  public extendedAt: number
  /** When the run has to be over. */
  public readonly timeoutAt: number
  /** Whether an extension is on its way. */
  public isExtending = false
  /** Its place among the {@link OpenRuns}. */
  public openAt = -1
  public stop: RunStop | undefined
  /** The handler has ended; from here on its context does nothing. */
  public hasEnded = false
  /** The run was ended while its handler stood still in a step, which is never settled then. */
  public isCutOff = false
  public progress: ProgressReporter | undefined
  public steps: RunSteps | undefined
  public blobs: RunBlobs | undefined
  #controller: AbortController | undefined
  #end: ((end: RunEnd) => void) | undefined
  /** Unsubscribes from what an Observable handler returned. */
  #leave: (() => void) | undefined

  constructor(
    public readonly claim: ClaimedTask,
    begun: BegunTask,
    public readonly handler: AnyTaskHandlerDescriptor,
    public readonly workerId: string,
    public readonly clock: Clock,
  ) {
    this.taskId = begun.stored.task.id
    this.type = begun.stored.task.type
    this.attempt = begun.attempt
    this.startedAt = begun.at
    this.failures = begun.stored.failures
    this.generation = begun.stored.generation ?? begun.stored.failures
    this.visibilityMs = claim.visibilityTimeoutMs ?? handler.visibilityTimeoutMs
    this.beganAt = clock.elapsed()
    this.extendedAt = this.beganAt
    this.timeoutAt = this.extendedAt + (handler.attemptTimeoutMs ?? Infinity)
  }

  /** When the lease ends unless it is extended. */
  get leaseEndsAt(): number {
    return this.extendedAt + this.visibilityMs
  }

  /** Made when it is first asked for: most handlers of short tasks never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.stop !== undefined) this.#controller.abort(this.stop.error)
    }
    return this.#controller.signal
  }

  /** Calls the handler, whose end is answered; it never rejects. `observe` is called if the handler gives an Observable. */
  runHandler(
    context: TaskContext<unknown>,
    observe: (run: Run, context: TaskContext<unknown>) => RunObserver,
  ): Promise<RunEnd> {
    return new Promise((resolve) => {
      this.#end = resolve
      const onThrow = (error: unknown): void => resolve({ kind: 'threw', error })
      const onValue = (value: unknown): void => {
        // What a result does when it is looked at is the handler's doing too.
        try {
          if (isObservable(value)) this.#observe(value, observe(this, context))
          else resolve({ kind: 'returned', value })
        } catch (error) {
          onThrow(error)
        }
      }
      try {
        const result: unknown = this.handler.handler(context, context.payload)
        if (!isPromiseLike(result)) onValue(result)
        // Another kind of promise may do anything in its own `then`.
        else (result instanceof Promise ? (result as Promise<unknown>) : Promise.resolve(result)).then(onValue, onThrow)
      } catch (error) {
        onThrow(error)
      }
    })
  }

  /** Ends the run while the handler goes on: it ignored its signal for too long. */
  abandon(): void {
    this.#end?.({ kind: 'abandoned' })
  }

  /**
   * Ends the run while its handler stands still, so that no code of its own can get in between. An Observable is left: what
   * else it has under way would go on beside the next run.
   */
  cutOff(end: RunEnd): void {
    if (this.hasEnded) return
    this.isCutOff = true
    this.#end?.(end)
    this.#leave?.()
  }

  /** Tells the handler to stop. The first reason stands, but a lost lease comes before any other. */
  halt(stop: RunStop): void {
    if (this.hasEnded || this.stop?.kind === 'lost') return
    if (this.stop !== undefined && stop.kind !== 'lost') return
    this.stop = stop
    // An Observable is left at once and its run is over, whatever the signal makes it do.
    if (this.#leave !== undefined) this.abandon()
    this.#controller?.abort(stop.error)
    this.#leave?.()
  }

  cancel(reason?: string): void {
    this.halt({ kind: 'cancel', error: new TaskCancelledError(this.taskId, reason) })
  }

  lose(how: LeaseLostError['how'], cause?: unknown): void {
    if (this.hasEnded) return
    const error = new LeaseLostError(this.taskId, this.attempt, how, ...(cause === undefined ? [] : [{ cause }]))
    // A lease that has only run out may still be this run's: what it writes decides.
    this.halt({ kind: how === 'expired' ? 'handBack' : 'lost', error })
  }

  /** Its time is over, whatever the handler does. */
  timeOut(): void {
    const error = new AttemptTimeoutError(this.taskId, this.attempt, this.handler.attemptTimeoutMs ?? Infinity)
    this.halt({ kind: 'timeout', error })
    this.abandon()
  }

  readonly onBrokerLost = (): void => this.lose('broker')

  #observe(values$: Observable<unknown>, observer: RunObserver): void {
    if (this.stop !== undefined || this.isCutOff) return this.abandon()
    observeHandler(values$, {
      onSubscribe: (subscription) => {
        this.#leave = () => {
          try {
            subscription.unsubscribe()
          } catch (error) {
            observer.onTeardownError(error)
          }
        }
      },
      onValue: (next) => observer.onValue(next),
      onEnd: (end) => this.#end?.(end),
    })
  }
}

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
