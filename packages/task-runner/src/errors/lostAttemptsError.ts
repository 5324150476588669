/**
 * A task whose attempts were lost too often: each time its worker died or stood still while it ran. It has failed for
 * good with this error, so that it cannot take down one worker after the other.
 *
 * @example
 * const task = await runner.get(taskId)
 * if (task?.error?.name === 'LostAttemptsError') quarantine(task)
 */
export class LostAttemptsError extends Error {
  public override readonly name = 'LostAttemptsError'

  constructor(
    public readonly taskId: string,
    /** How many attempts were lost. */
    public readonly losses: number,
  ) {
    super(`Task ${taskId} lost ${losses} attempts to workers that died or stood still`)
  }
}
