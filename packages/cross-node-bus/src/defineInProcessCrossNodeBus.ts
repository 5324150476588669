import type { ServiceFactory } from '@furystack/inject'
import type { CrossNodeBus } from './crossNodeBus.js'
import { CrossNodeBusTelemetryToken } from './crossNodeBusTelemetryToken.js'
import type { DefineInProcessCrossNodeBusOptions } from './defineInProcessCrossNodeBusOptions.js'
import { InProcessCrossNodeBus } from './inProcessCrossNodeBus.js'

/**
 * A factory to bind to `CrossNodeBus`: a bus within this process that reports to the shared telemetry and is disposed
 * with the injector.
 *
 * @throws RangeError from the factory, if `replayWindow` is not a positive integer.
 *
 * @example
 * ```ts
 * injector.bind(CrossNodeBus, defineInProcessCrossNodeBus({ replayWindow: 50 }))
 * ```
 */
export function defineInProcessCrossNodeBus(
  options: DefineInProcessCrossNodeBusOptions = {},
): ServiceFactory<CrossNodeBus> {
  return ({ inject, onDispose }) => {
    const bus = new InProcessCrossNodeBus({ ...options, telemetry: inject(CrossNodeBusTelemetryToken) })
    onDispose(() => bus[Symbol.asyncDispose]())
    return bus
  }
}
