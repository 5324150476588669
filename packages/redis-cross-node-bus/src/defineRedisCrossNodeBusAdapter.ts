import { type CrossNodeBus, CrossNodeBusTelemetryToken } from '@furystack/cross-node-bus'
import type { ServiceFactory } from '@furystack/inject'
import { RedisCrossNodeBus } from './redisCrossNodeBus.js'
import { type RedisCrossNodeBusOptions, resolveBusOptions } from './redisCrossNodeBusOptions.js'

/**
 * Options of `defineRedisCrossNodeBusAdapter`: those of the bus without `telemetry`, which comes from the injector.
 *
 * @example
 * ```ts
 * const options: DefineRedisCrossNodeBusAdapterOptions = { client, serviceName: 'shop' }
 * ```
 */
export type DefineRedisCrossNodeBusAdapterOptions = Omit<RedisCrossNodeBusOptions, 'telemetry'>

/**
 * A factory to bind to `CrossNodeBus`: a bus over Redis that reports to the shared telemetry and is disposed, gently, with
 * the injector.
 *
 * @throws BusOptionError, Error or RangeError at the call, for options that the bus does not take; that a client has to be
 * connected is looked at when the bus is resolved.
 *
 * @example
 * ```ts
 * injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: 'shop', topicPrefix: 'shop/' }))
 * const bus = injector.get(CrossNodeBus)
 * ```
 */
export function defineRedisCrossNodeBusAdapter(
  options: DefineRedisCrossNodeBusAdapterOptions,
): ServiceFactory<CrossNodeBus> {
  resolveBusOptions(options)
  return ({ inject, onDispose }) => {
    const bus = new RedisCrossNodeBus({ ...options, telemetry: inject(CrossNodeBusTelemetryToken) })
    onDispose(() => bus[Symbol.asyncDispose]())
    return bus
  }
}
