/**
 * How long to wait for a task.
 *
 * @example
 * const options: WaitForOptions = { timeoutMs: 60_000, signal: AbortSignal.timeout(30_000) }
 * const result = await runner.waitFor(taskId, options)
 */
export interface WaitForOptions {
  /** Ends the waiting, not the task; its reason is what the waiter is rejected with. */
  signal?: AbortSignal | undefined
  /** Milliseconds, at least 0; then the waiter is rejected with a `WaitTimeoutError`. @default no limit */
  timeoutMs?: number | undefined
}
