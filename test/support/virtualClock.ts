import { vi } from 'vitest'

const immediately = globalThis.setImmediate

/** Lets everything happen that happens without time passing. */
const turn = (): Promise<void> => new Promise((resolve) => immediately(resolve))

/** Time that passes as fast as it can be worked through, for everything in this process. */
export interface VirtualClock extends Disposable {
  /** Lets time pass until `isDone`; throws when `limitMs` of it have passed, or when nothing is left to happen. */
  runUntil(isDone: () => boolean | Promise<boolean>, limitMs: number): Promise<void>
  /** Lets so much time pass. */
  pass(ms: number): Promise<void>
  /** Forgets all timers, whoever set them. */
  clear(): void
}

/** Puts virtual time in the place of timers and clocks, until it is disposed. */
export const virtualClock = (): VirtualClock => {
  vi.useFakeTimers({
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'Date',
      'performance',
    ],
    now: 1_800_000_000_000,
  })
  const runUntil: VirtualClock['runUntil'] = async (isDone, limitMs) => {
    const endAt = Date.now() + limitMs
    for (await turn(); !(await isDone()); await turn()) {
      if (Date.now() > endAt) throw new Error(`not done within ${limitMs} ms of virtual time`)
      if (vi.getTimerCount() === 0) throw new Error('nothing is left to happen')
      vi.advanceTimersToNextTimer()
    }
  }
  return {
    runUntil,
    pass: async (ms) => {
      let isOver = false
      setTimeout(() => {
        isOver = true
      }, ms)
      await runUntil(() => isOver, ms + 1)
    },
    clear: () => {
      vi.clearAllTimers()
    },
    [Symbol.dispose]: () => {
      vi.useRealTimers()
    },
  }
}
