import type { WriteStream } from 'node:tty'
import type { Board } from '../board.js'
import { frame } from './frame.js'
import { styleFor } from './style.js'

const INTERVAL_MS = 100

// A screen of its own, so that what was on the terminal before is there again afterwards; and no cursor on it.
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J'
const LEAVE = '\x1b[?25h\x1b[?1049l'
const HOME = '\x1b[H'
const CLEAR_LINE_END = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

/** Draws the board ten times a second, over itself: nothing is cleared that is not overwritten at once. */
export const openLiveDisplay = (board: Board, stdout: WriteStream): Disposable => {
  const style = styleFor(stdout)
  let last = ''
  let isOpen = true

  const draw = (): void => {
    // Some terminals do not tell their size.
    const size = { columns: stdout.columns || 80, rows: stdout.rows || 24 }
    const text = frame(board, size, style).join(`${CLEAR_LINE_END}\r\n`) + CLEAR_LINE_END + CLEAR_BELOW
    if (text === last) return
    last = text
    stdout.write(HOME + text)
  }
  const redraw = (): void => {
    last = ''
    draw()
  }
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    clearInterval(timer)
    stdout.off('resize', redraw)
    process.off('exit', close)
    stdout.write(LEAVE)
  }

  stdout.write(ENTER)
  stdout.on('resize', redraw)
  // However the process ends, the terminal has to be usable.
  process.once('exit', close)
  const timer = setInterval(draw, INTERVAL_MS)
  draw()
  return { [Symbol.dispose]: close }
}
