import type { RedisTaskRunnerOptions } from '../../../src/index.js'
import { type HistoryWriter, historyWriter } from '../history/historyFile.js'
import type { Way } from './way.js'

/** What a process of a chaos run is told at its start. */
export interface ProcessStart {
  readonly role: 'worker' | 'submitter'
  /** The life, as `w1.0`. */
  readonly by: string
  readonly seed: string
  readonly way: Way
  readonly prefix: string
  readonly historyPath: string
  readonly tags: readonly string[]
  /** Of the runner. @default RUNNER_OPTIONS */
  readonly settings?: Partial<RedisTaskRunnerOptions>
}

/** What a process is told afterwards. */
export type ProcessOrder =
  /** Its event loop stands still for so long. */
  | { readonly kind: 'block'; readonly ms: number }
  /** A submitter comes to its end: nothing new, and an answer to all that is under way. */
  | { readonly kind: 'finish' }

const LOOK_MS = 100
const STALL_MS = 300

/** Reads what the process was told, and writes down what it would otherwise take to its grave. */
export const beginProcess = (): ProcessStart & HistoryWriter => {
  const start = JSON.parse(process.argv[2] ?? '{}') as ProcessStart
  const history = historyWriter(start.historyPath, start.by)
  const tell = (error: unknown): void =>
    history.note({ kind: 'uncaught', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  process.on('uncaughtExceptionMonitor', tell)
  process.on('unhandledRejection', (error) => {
    tell(error)
    process.exit(70)
  })
  process.on('warning', tell)
  // Nobody is left to be worked for.
  process.on('disconnect', () => process.exit(0))

  let lookedAt = performance.now()
  setInterval(() => {
    const late = performance.now() - lookedAt - LOOK_MS
    lookedAt = performance.now()
    if (late >= STALL_MS) history.note({ kind: 'stall', ms: Math.round(late) })
  }, LOOK_MS).unref()

  process.on('message', (order: ProcessOrder) => {
    // Waits without burning what other processes have need of.
    if (order.kind === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.ms)
  })
  return { ...start, note: history.note, [Symbol.dispose]: () => history[Symbol.dispose]() }
}
