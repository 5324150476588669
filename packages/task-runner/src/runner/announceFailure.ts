import type { FailedTask } from '../store/storedTask.js'
import type { RunnerParts } from './runnerParts.js'
import { tellParent } from './tellParent.js'

/**
 * Tells of a task that has failed without being run (again): subscribers, telemetry, then its children and its parent.
 * Reports trouble, never rejects.
 */
export const announceFailure = async (parts: RunnerParts, { stored, at, parent }: FailedTask): Promise<void> => {
  const { updates, telemetry } = parts
  const { task, openChildren } = stored
  const { id: taskId, type, error } = task
  const last = task.attempts.at(-1)
  const attempt = last?.attempt ?? 0
  updates.status(type, taskId, 'failed', at)
  if (error !== undefined) {
    telemetry.emit('onTaskFailed', { taskId, type, attempt, willRetry: false, error })
    telemetry.emit('onTaskDeadLettered', { taskId, type, reason: stored.deadReason ?? 'failed', error })
  }
  const durationMs = last === undefined ? 0 : Math.max(0, at - Date.parse(last.startedAt))
  telemetry.emit('onTaskCompleted', { taskId, type, status: 'failed', attempt, durationMs })
  if (openChildren !== undefined) await parts.reapOrphans(taskId, 'failed')
  await tellParent(parts, { taskId, status: 'failed', at }, parent)
}
