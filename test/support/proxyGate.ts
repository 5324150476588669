import { setTimeout as delay } from 'node:timers/promises'
import { deferred, type Deferred } from './deferred.js'

/** What every byte on its way through a proxy has to pass. */
export interface ProxyGate {
  readonly close: () => void
  readonly open: () => void
  /** Holds everything that arrives from now on back for this long. */
  readonly delay: (milliseconds: number) => void
  /** Call it on arrival, and the result before the delivery: that resolves when the time has come and the gate is open. */
  readonly arrive: () => () => Promise<void>
}

/** Makes a gate that is open and delays nothing. */
export const proxyGate = (): ProxyGate => {
  let latency = 0
  let closed: Deferred<void> | undefined

  return {
    close: () => {
      closed ??= deferred()
    },
    open: () => {
      closed?.resolve()
      closed = undefined
    },
    delay: (milliseconds) => {
      latency = milliseconds
    },
    arrive: () => {
      const due = Date.now() + latency
      return async () => {
        const rest = due - Date.now()
        if (rest > 0) await delay(rest, undefined, { ref: false })
        // It may be closed again before this goes on.
        while (closed) await closed.promise
      }
    },
  }
}
