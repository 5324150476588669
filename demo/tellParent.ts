import { RedisTaskRunner } from '@furystack/redis-task-runner'
import type { TaskRunner, TaskRunnerTelemetry } from '@furystack/task-runner'
import { messageOf } from './errors.js'
import type { WorkerMessage } from './workerMessage.js'

/** Tells the process that started this one, if there is one. */
export const tellParent = (message: WorkerMessage): void => {
  if (process.connected) process.send?.(message)
}

/** Tells what a worker does, by what the library tells of itself. */
export const tellWhatHappens = (runner: TaskRunner, telemetry: TaskRunnerTelemetry): void => {
  const trouble = (where: string, error: unknown): void =>
    tellParent({ kind: 'trouble', text: `${where}: ${messageOf(error)}` })

  telemetry.addListener('onTaskClaimed', ({ taskId }) => tellParent({ kind: 'started', taskId }))
  telemetry.addListener('onTaskProgress', ({ taskId, percent }) => tellParent({ kind: 'progress', taskId, percent }))
  telemetry.addListener('onTaskCompleted', ({ taskId, status }) => tellParent({ kind: 'ended', taskId, status }))
  telemetry.addListener('onTaskFailed', ({ taskId, willRetry, error }) => {
    if (willRetry) tellParent({ kind: 'retry', taskId, error: error.message })
  })
  telemetry.addListener('onTaskLeaseLost', ({ taskId }) => tellParent({ kind: 'lost', taskId }))
  telemetry.addListener('onTaskRunnerError', ({ operation, error }) => trouble(operation, error))

  if (!(runner instanceof RedisTaskRunner)) return
  runner.events$.subscribe({
    next: (event) => {
      if (event.kind === 'capFull') for (const { type } of event.lanes) tellParent({ kind: 'capFull', type })
      if (event.kind === 'brokerError') trouble(event.activity, event.error)
    },
    error: (error: unknown) => trouble('events', error),
  })
}
