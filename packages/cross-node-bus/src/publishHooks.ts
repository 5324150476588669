import type { BusMessage } from './busMessage.js'
import type { BusMessageHandler } from './busMessageHandler.js'

/**
 * What an adapter may want to know about a message it hands to a `MemoryBroker`.
 *
 * @example
 * ```ts
 * const hooks: PublishHooks = { onAccepted: ({ seq }) => console.log(`accepted as ${seq}`) }
 * ```
 */
export type PublishHooks = {
  /** The message is numbered and retained, and about to be delivered. */
  readonly onAccepted?: ((message: BusMessage) => void) | undefined
  /** A subscriber threw or its promise rejected. Default: `console.error`. */
  readonly onSubscriberError?: ((error: unknown, handler: BusMessageHandler) => void) | undefined
}
