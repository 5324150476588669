import { defineService, type Token } from '@furystack/inject'
import { CrossNodeBusTelemetry } from './crossNodeBusTelemetry.js'

/**
 * The telemetry hub that every bus of an injector shares. It needs no configuration and is disposed with the injector.
 *
 * @example
 * ```ts
 * injector.get(CrossNodeBusTelemetryToken).subscribe('onCrossNodePublished', ({ byteLength }) => console.log(byteLength))
 * ```
 */
export const CrossNodeBusTelemetryToken: Token<CrossNodeBusTelemetry, 'singleton'> = defineService({
  name: 'furystack/cross-node-bus/CrossNodeBusTelemetry',
  lifetime: 'singleton',
  factory: ({ onDispose }) => {
    const telemetry = new CrossNodeBusTelemetry()
    onDispose(() => telemetry[Symbol.dispose]())
    return telemetry
  },
})
