/**
 * Something was asked of a runner that has been disposed. It is also the reason of the signal of those handlers that
 * were running at that moment; their tasks are handed back and run elsewhere.
 *
 * @example
 * runner[Symbol.dispose]()
 * await runner.get(taskId) // rejects with a RunnerDisposedError
 */
export class RunnerDisposedError extends Error {
  public override readonly name = 'RunnerDisposedError'

  constructor(
    /** What was disposed. */
    what = 'task runner',
  ) {
    super(`The ${what} has been disposed`)
  }
}
