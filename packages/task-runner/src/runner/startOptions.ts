/**
 * How a draft is started. If the member `payload` is there, even as `undefined`, it replaces the draft's.
 *
 * @example
 * const options: StartOptions<{ to: string }> = { payload: { to: 'b@example.org' } }
 * await runner.start(taskId, options)
 */
export interface StartOptions<P> {
  /** Replaces the draft’s. */
  payload?: P
}
