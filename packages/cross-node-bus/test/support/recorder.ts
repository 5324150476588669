import type { BusMessage } from '../../src/index.js'

/** A handler that keeps what it gets. */
export function recorder(): { handler: (message: BusMessage) => void; messages: BusMessage[]; payloads: unknown[] } {
  const messages: BusMessage[] = []
  const payloads: unknown[] = []
  const handler = (message: BusMessage) => {
    messages.push(message)
    payloads.push(message.payload)
  }
  return { handler, messages, payloads }
}
