import { printable, quoted } from '../argument/printable.js'

/**
 * The queue delivered a task again and again whose row never appeared. It has been taken out of the queue; reported, not
 * thrown.
 *
 * @example
 * telemetry.addListener('onTaskRunnerError', ({ error }) => {
 *   if (error instanceof MissingTaskRowError) console.error('is the right store bound?', error.message)
 * })
 */
export class MissingTaskRowError extends Error {
  public override readonly name = 'MissingTaskRowError'

  constructor(
    /** The task that the entry named. */
    public readonly taskId: string,
    /** The type of the lane that the entry was in. */
    public readonly type: string,
    /** How often it was delivered to this worker. */
    public readonly deliveries: number,
  ) {
    super(
      `Task ${printable(taskId)} of type ${quoted(type)} was delivered ${deliveries} times, but there is no row for it: ` +
        'its entry has been taken out of the queue',
    )
  }
}
