import type { Socket } from 'node:net'
import type { ProxyGate } from './proxyGate.js'

// What is on its way may take this much memory; then the sender is held back, as it would be by a full network.
const MAX_QUEUED_BYTES = 1024 * 1024

/** Forwards data and the end of one socket to another through the gate, in order; but what is swallowed is gone. */
export const pump = (from: Socket, to: Socket, gate: ProxyGate, isSwallowed = (): boolean => false): void => {
  let last = Promise.resolve()
  let queued = 0

  const forward = (deliver: () => void | Promise<void>): void => {
    const pass = gate.arrive()
    last = last.then(pass).then(deliver)
  }

  from.on('data', (chunk) => {
    if (isSwallowed()) return
    queued += chunk.length
    if (queued > MAX_QUEUED_BYTES) from.pause()
    forward(async () => {
      // The callback also comes if the socket is gone by then: what is lost is lost.
      await new Promise<void>((resolve) => to.write(chunk, () => resolve()))
      queued -= chunk.length
      if (queued <= MAX_QUEUED_BYTES) from.resume()
    })
  })
  from.once('end', () => forward(() => void to.end()))
  from.once('close', () => forward(() => void to.destroy()))
  // `close` follows and does what there is to do; without a listener the error would end the process.
  from.on('error', () => undefined)
}
