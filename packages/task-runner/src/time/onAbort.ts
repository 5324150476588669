interface Listening {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const LISTENING = new WeakMap<AbortSignal, Listening>()

/**
 * Calls back once when a signal fires that has not fired yet. However many listen to one signal, it has one listener of
 * ours: the platform takes many for a leak, and warns.
 *
 * @returns a function that ends it; the last one leaves no listener behind.
 */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const { callbacks, listener } = LISTENING.get(signal) ?? listenTo(signal)
  // One of its own each time, as the same function may be given twice.
  const one = (): void => callback()
  callbacks.add(one)
  return () => {
    if (!callbacks.delete(one) || callbacks.size > 0) return
    LISTENING.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

const listenTo = (signal: AbortSignal): Listening => {
  const callbacks = new Set<() => void>()
  const listener = (): void => {
    LISTENING.delete(signal)
    for (const callback of [...callbacks]) if (callbacks.delete(callback)) callback()
  }
  const listening = { callbacks, listener }
  LISTENING.set(signal, listening)
  signal.addEventListener('abort', listener, { once: true })
  return listening
}
