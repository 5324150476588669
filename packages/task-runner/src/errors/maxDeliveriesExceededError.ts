import { printable } from '../argument/printable.js'

/**
 * A task was delivered to workers as often as it may be, and each time the worker died or stood still while it ran. It has
 * failed for good with this error, so that it cannot take down one worker after the other.
 *
 * @example
 * const task = await runner.get(taskId)
 * if (task?.error?.name === 'MaxDeliveriesExceededError') console.error(`${task.id} takes its workers down`)
 */
export class MaxDeliveriesExceededError extends Error {
  public override readonly name = 'MaxDeliveriesExceededError'

  constructor(
    /** The task. */
    public readonly taskId: string,
    /** How often it was delivered without coming to an end. */
    public readonly deliveries: number,
  ) {
    super(`Task ${printable(taskId)} was delivered ${deliveries} times, and each time its worker died or stood still`)
  }
}
