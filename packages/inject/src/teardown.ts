import type { DisposeCallback } from './disposeCallback.js'

/** One registration of a callback. An object of its own, as the same function may be registered twice. */
export type TeardownStep = { readonly callback: DisposeCallback }

/**
 * The teardown steps of one injector. The queue is the only authority on what still has to run, which is what makes
 * every step run exactly once, be it for a single instance or for the whole injector.
 *
 * @example
 * const teardown = new Teardown()
 * const step = teardown.add(() => console.log('closed'))
 * teardown.release([step], () => {})
 * await teardown.finish()
 */
export class Teardown {
  readonly #queue = new Set<TeardownStep>()
  readonly #running = new Set<Promise<void>>()
  readonly #errors: unknown[] = []
  #phase: 'idle' | 'begun' | 'finished' = 'idle'

  /** Whether the disposal of the injector has begun. */
  public get begun(): boolean {
    return this.#phase !== 'idle'
  }

  /** Declares that the disposal has begun. */
  public begin(): void {
    this.#phase = 'begun'
  }

  /** Queues a callback. */
  public add(callback: DisposeCallback): TeardownStep {
    const step = { callback }
    this.#queue.add(step)
    return step
  }

  /** Runs those of the steps that are still queued, newest first, then `then`. The first one runs before this returns. */
  public release(steps: readonly TeardownStep[], then: () => void): void {
    const due = steps.filter((step) => this.#queue.delete(step)).reverse()
    if (due.length === 0) {
      then()
    } else {
      this.#track(this.#run(due).then(then))
    }
  }

  /** Runs a callback at once. A disposal in progress, or the next one, waits for it and reports its error. */
  public runNow(callback: DisposeCallback): void {
    if (this.#phase === 'finished') {
      // There is nobody left to report to: a failure surfaces as an unhandled rejection instead of being lost.
      void runLate(callback)
    } else {
      this.#track(this.#run([{ callback }]))
    }
  }

  /** Adds errors to the report. Those from before the disposal are limited: they must not grow for ever. */
  public note(...errors: readonly unknown[]): void {
    const room = this.begun ? errors.length : mostEarlyErrors - this.#errors.length
    this.#errors.push(...errors.slice(0, room))
  }

  /** Runs whatever is queued, newest first, waits for everything that runs already and resolves to all errors. */
  public async finish(): Promise<readonly unknown[]> {
    await this.#settle()
    const steps = [...this.#queue].reverse()
    this.#queue.clear()
    await this.#run(steps)
    await this.#settle()
    this.#phase = 'finished'
    return this.#errors
  }

  async #run(steps: readonly TeardownStep[]): Promise<void> {
    for (const { callback } of steps) {
      try {
        await callback()
      } catch (error) {
        this.note(error)
      }
    }
  }

  #track(run: Promise<void>): void {
    const tracked = run.then(() => {
      this.#running.delete(tracked)
    })
    this.#running.add(tracked)
  }

  async #settle(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.all(this.#running)
    }
  }
}

const mostEarlyErrors = 100

const runLate = async (callback: DisposeCallback): Promise<void> => callback()
