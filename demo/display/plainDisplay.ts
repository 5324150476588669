import type { WriteStream } from 'node:tty'
import type { Board } from '../board.js'

const INTERVAL_MS = 1_000

/** Writes what happens, and about once a second how far it is: for logs and pipes. */
export const openPlainDisplay = (board: Board, stdout: WriteStream): Disposable => {
  const say = (at: number, text: string): void => {
    stdout.write(`${at.toFixed(1).padStart(6)} s  ${text}\n`)
  }
  const tick = (): void => {
    const { rows, phase, done, total } = board
    const sum = (key: 'waiting' | 'running' | 'parked'): number => rows.reduce((all, row) => all + row[key], 0)
    const lanes = rows.map((row) => `${row.type} ${row.done}/${row.total}`).join(', ')
    const now = `${sum('waiting')} waiting, ${sum('running')} running, ${sum('parked')} parked`
    say(board.seconds, `${phase}: ${done}/${total} done (${lanes}); ${now}`)
  }
  stdout.write(`${board.title}\n${board.remark}\n`)
  board.onNote(({ at, text, path }) => say(at, path === undefined ? text : `${text} ${path}`))
  const timer = setInterval(tick, INTERVAL_MS)
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer)
    },
  }
}
