import type { TaskRunnerTelemetry } from './taskRunnerTelemetry.js'

/** Takes what went wrong where no caller hears of it. */
export type ReportError = (operation: string, error: unknown) => void

/** Makes what nobody else hears of an event of the telemetry hub. */
export const createErrorReporter =
  (telemetry: TaskRunnerTelemetry): ReportError =>
  (operation, error) => {
    if (telemetry.hasListeners('onTaskRunnerError')) telemetry.emit('onTaskRunnerError', { operation, error })
  }
