import type { CrossNodeBusErrorPhase } from './crossNodeBusErrorPhase.js'
import type { ListenerErrorPayload } from './listenerErrorPayload.js'

/**
 * The events of `CrossNodeBusTelemetry` with their payloads. Topics are the names the caller used, without the prefix
 * they carry on the wire.
 *
 * @example
 * ```ts
 * type Received = CrossNodeBusTelemetryEvents['onCrossNodeReceived']
 * ```
 */
export type CrossNodeBusTelemetryEvents = {
  /** The transport accepted a message. `byteLength` counts the UTF-8 bytes of the payload's JSON text. */
  readonly onCrossNodePublished: { readonly topic: string; readonly originId: string; readonly byteLength: number }
  /**
   * A message arrived at a bus that has a handler for it: once per arrival and bus, before the handlers run. `lagMs` is
   * the receiver's clock minus the publisher's in milliseconds; clocks differ, so it may be negative.
   */
  readonly onCrossNodeReceived: { readonly topic: string; readonly originId: string; readonly lagMs: number }
  /** Something failed, be it the bus or the handler of a subscription. */
  readonly onCrossNodeError: {
    readonly topic: string
    readonly error: unknown
    readonly phase: CrossNodeBusErrorPhase
  }
  /**
   * A message left the replay window. Only buses that own their buffer can tell. `retainedCount` is the number of
   * messages of the topic that remain.
   */
  readonly onCrossNodeWindowEvicted: {
    readonly topic: string
    readonly evictedSeq: string
    readonly retainedCount: number
  }
  /**
   * A bus has a connection to its transport, or lost the one it had: once an incident, however many attempts to connect
   * fail. This is what an operator's log wants of an outage: one line when it begins, and one when it is over. `purpose` tells which of its connections. Only networked buses emit it.
   */
  readonly onCrossNodeConnection: {
    readonly originId: string
    readonly purpose: 'publish' | 'subscribe'
    readonly state: 'ready' | 'lost'
  }
  /** A listener of this hub failed. */
  readonly onListenerError: ListenerErrorPayload
}
