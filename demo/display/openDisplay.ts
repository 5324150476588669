import type { WriteStream } from 'node:tty'
import type { Board } from '../board.js'
import { openLiveDisplay } from './liveDisplay.js'
import { openPlainDisplay } from './plainDisplay.js'

/** Shows the board until it is disposed: live on a terminal, as lines anywhere else. */
export const openDisplay = (board: Board, stdout: WriteStream): Disposable =>
  stdout.isTTY && process.env['TERM'] !== 'dumb' ? openLiveDisplay(board, stdout) : openPlainDisplay(board, stdout)
