import { EventHub } from '@furystack/cross-node-bus'

import type { TaskRunnerTelemetryEvents } from './taskRunnerTelemetryEvents.js'

/**
 * Where runners tell what they do and what went wrong. Delivery is synchronous; an event that nobody listens to costs
 * nothing.
 *
 * @example
 * const telemetry = injector.get(TaskRunnerTelemetryToken)
 * telemetry.subscribe('onTaskRunnerError', ({ operation, error }) => logger.error(operation, error))
 */
export class TaskRunnerTelemetry extends EventHub<TaskRunnerTelemetryEvents> {}
