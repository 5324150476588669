import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

import type { ChaosLine } from './chaosLine.js'

/** Everything of a line but who wrote it, and when. */
export type Note = ChaosLine extends infer L ? (L extends ChaosLine ? Omit<L, 'at' | 'by'> : never) : never

/** Writes lines into a file that several processes append to, each line at once. */
export interface HistoryWriter extends Disposable {
  readonly note: (note: Note) => void
}

/** Opens the file for one process, by its name. What has been noted is in the file when the call returns. */
export const historyWriter = (path: string, by: string): HistoryWriter => {
  const file = openSync(path, 'a')
  return {
    note: (note) => {
      writeSync(file, `${JSON.stringify({ at: Date.now(), by, ...note })}\n`)
    },
    [Symbol.dispose]: () => closeSync(file),
  }
}

/** All lines, in the order of their times. */
export const readHistory = (path: string): ChaosLine[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as ChaosLine)
    .sort((a, b) => a.at - b.at)
