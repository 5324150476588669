import type { DeadLetterReason } from '../deadLetters/deadLetter.js'
import type { TerminalStatus } from '../task/taskStatus.js'

/**
 * What a runner tells about its work, by event.
 *
 * @example
 * const onFailed = ({ type, error, willRetry }: TaskRunnerTelemetryEvents['onTaskFailed']): void => {
 *   if (!willRetry) console.error(`${type} has failed for good: ${error.message}`)
 * }
 * telemetry.addListener('onTaskFailed', onFailed)
 */
export interface TaskRunnerTelemetryEvents {
  /** A task became pending for the first time. `payloadBytes` is the UTF-8 length of its JSON text. */
  onTaskSubmitted: { taskId: string; type: string; parentTaskId?: string; payloadBytes: number }
  /** A run begins. `queueLagMs` counts from when the task was due, not from when it was submitted. */
  onTaskClaimed: { taskId: string; type: string; workerId: string; queueLagMs: number }
  /** A task has ended with a run, or failed without one. `durationMs` is the length of its last run, 0 without any. */
  onTaskCompleted: { taskId: string; type: string; status: TerminalStatus; attempt: number; durationMs: number }
  /** A run failed, or a task without being run (again): `attempt` is its last run then, 0 if it had none. */
  onTaskFailed: {
    taskId: string
    type: string
    attempt: number
    willRetry: boolean
    error: { name: string; message: string }
  }
  /** A task has failed for good; see `runner.deadLetters`. */
  onTaskDeadLettered: {
    taskId: string
    type: string
    reason: Exclude<DeadLetterReason, 'unreadable'>
    error: { name: string; message: string }
  }
  /** A dead letter is pending again; `reason` is why it was one. */
  onTaskResent: { taskId: string; type: string; reason: DeadLetterReason }
  /** A task was cancelled, by itself or because `cascadeFromTaskId` was, or has ended. */
  onTaskCancelled: { taskId: string; type: string; cascadeFromTaskId?: string }
  /** A report of progress was stored. */
  onTaskProgress: { taskId: string; percent: number; meta?: unknown }
  /** A worker was given a task that it cannot run, and sent it back to wait for one that can. */
  onTaskMisfit: {
    taskId: string
    type: string
    handlerVersion: number
    tags: readonly string[]
    workerId: string
    reason: 'version' | 'tags'
  }
  /**
   * Tasks have waited for `unservedAfterMs` for a worker that there is not: none takes this type and version, or offers
   * these tags. Told once in the whole fleet, by one of its processes; and once without `since` when a worker takes them, or
   * they are gone.
   */
  onTaskUnserved: { type: string; handlerVersion: number; tags: readonly string[]; since?: string }
  /** A run ended without effect, because its task belonged to somebody else by then. */
  onTaskLeaseLost: { taskId: string; type: string; attempt: number; workerId: string }
  /** Something went wrong that no caller hears of. `operation` names what the runner was doing. */
  onTaskRunnerError: { operation: string; error: unknown }
  /** A blob was written. */
  onBlobPut: { key: string; byteLength: number; durationMs: number }
  /** A blob was read. */
  onBlobGet: { key: string; byteLength: number; durationMs: number }
  /** A blob was deleted. */
  onBlobDelete: { key: string; durationMs: number }
  /** The blobs of ended tasks were looked through. */
  onSweeperRun: { scannedCount: number; sweptCount: number; deletedBlobCount: number; durationMs: number }
  /** A blob of an ended task was deleted, by its policy. */
  onSweeperBlobDeleted: { taskId: string; type: string; key: string; reason: 'produced' | 'consumed' }
}
