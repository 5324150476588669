import { defineService, type Token } from '@furystack/inject'

import { TaskRunnerTelemetry } from './taskRunnerTelemetry.js'

/**
 * The telemetry hub that all runners of an injector share, disposed with it.
 *
 * @example
 * injector.get(TaskRunnerTelemetryToken).addListener('onTaskFailed', ({ taskId }) => console.log(taskId))
 */
export const TaskRunnerTelemetryToken: Token<TaskRunnerTelemetry, 'singleton'> = defineService({
  name: 'furystack/task-runner/TaskRunnerTelemetry',
  lifetime: 'singleton',
  factory: ({ onDispose }) => {
    const telemetry = new TaskRunnerTelemetry()
    onDispose(() => telemetry[Symbol.dispose]())
    return telemetry
  },
})
