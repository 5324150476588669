import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

import type { ChaosLine, LineOf } from '../../test/chaos/history/chaosLine.js'
import { until } from '../../test/support/until.js'

/** A run, as its handler wrote it down. */
export type LoggedRun = LineOf<'run'>

const LOOK_EVERY_MS = 20
const LIMIT_MS = 60_000

/** Follows what workers write down, without reading any of it twice. */
export class RunLog implements Disposable {
  readonly #file: number
  readonly #runs: LoggedRun[] = []
  #offset = 0
  #rest = ''

  constructor(path: string) {
    this.#file = openSync(path, 'r')
  }

  /** Waits for a run; the times are those of the handlers, so how often this looks does not matter. */
  async find(which: (run: LoggedRun) => boolean): Promise<LoggedRun> {
    return until(
      () => {
        this.#read()
        return this.#runs.find(which)
      },
      { timeoutMs: LIMIT_MS, intervalMs: LOOK_EVERY_MS, description: 'a task is run' },
    )
  }

  /** How long nothing was begun in between, at most; milliseconds. */
  longestPause(from: number, to: number): number {
    this.#read()
    const times = this.#runs.map(({ at }) => at).filter((at) => at > from && at <= to)
    const ordered = [from, ...times.sort((a, b) => a - b)]
    return Math.max(...ordered.slice(1).map((at, index) => at - (ordered[index] as number)))
  }

  /** Forgets what is of no interest any more. */
  clear(): void {
    this.#read()
    this.#runs.length = 0
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #read(): void {
    const length = fstatSync(this.#file).size - this.#offset
    if (length <= 0) return
    const bytes = Buffer.alloc(length)
    this.#offset += readSync(this.#file, bytes, 0, length, this.#offset)
    const lines = (this.#rest + bytes.toString('utf8')).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const text of lines) {
      const line = JSON.parse(text) as ChaosLine
      if (line.kind === 'run') this.#runs.push(line)
    }
  }
}
