import type { BusMessage } from './busMessage.js'

/**
 * A subscriber's callback. It may be asynchronous: the bus does not wait for the promise, but reports its rejection in
 * the same way as a throw. Any other return value is ignored.
 *
 * @example
 * ```ts
 * import { appendFile } from 'node:fs/promises'
 * const audit: BusMessageHandler = async ({ payload }) => {
 *   await appendFile('audit.log', JSON.stringify(payload))
 * }
 * ```
 */
export type BusMessageHandler = (message: BusMessage) => unknown
