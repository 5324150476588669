import type { CrossNodeBusTelemetryEvents } from './crossNodeBusTelemetryEvents.js'
import { EventHub } from './eventHub.js'

/**
 * Where buses tell what they do and what went wrong. One hub serves every bus of a process; get it from the injector
 * with `CrossNodeBusTelemetryToken`, or hand one to a bus you construct yourself.
 *
 * @example
 * ```ts
 * const telemetry = injector.get(CrossNodeBusTelemetryToken)
 * telemetry.subscribe('onCrossNodeError', ({ topic, phase, error }) => logger.error({ topic, phase, error }))
 * ```
 */
export class CrossNodeBusTelemetry extends EventHub<CrossNodeBusTelemetryEvents> {}
