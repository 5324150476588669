/**
 * What the bus was doing when an error came up:
 *
 * - `serialize`: turning a payload into JSON,
 * - `publish`: handing a message to the transport,
 * - `subscribe` and `subscribeForeign`: setting up such a subscription, reading for it or running its handler,
 * - `replay`: reading retained messages.
 *
 * @example
 * ```ts
 * const isOurs = (phase: CrossNodeBusErrorPhase): boolean => phase === 'publish' || phase === 'serialize'
 * ```
 */
export type CrossNodeBusErrorPhase = 'publish' | 'subscribe' | 'subscribeForeign' | 'replay' | 'serialize'
