import type { Board, BoardEvent, LaneRow } from '../board.js'
import type { FleetWorker, Slot } from '../fleet.js'
import { CONCURRENCY_LIMITS, SLOTS } from '../settings.js'
import type { Style } from './style.js'
import { clipEnd, clipStart, padEnd, padStart, widthOf } from './text.js'

/** The size of a screen. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** Draws the board: at most as many lines as the screen has, none wider than it. */
export const frame = (board: Board, size: Size, style: Style): string[] => {
  const above = [
    ...heading(board, size, style),
    '',
    ...lanes(board.rows, size, style),
    '',
    ...workers(board, size, style),
    '',
  ]
  return [...above, ...events(board.events, size, Math.max(0, size.rows - above.length), style)].slice(0, size.rows)
}

const heading = (board: Board, { columns }: Size, style: Style): string[] => {
  const { title, phase, remark, total, done, seconds } = board
  const share = total === 0 ? 0 : done / total
  const numbers = `  ${padStart(String(Math.floor(share * 100)), 3)} %  ${done}/${total}  ${seconds.toFixed(1)} s`
  const clip = (text: string): string => clipEnd(text, columns, style.ellipsis)
  return [
    style.bold(clip(title)),
    style.dim(clip(`${phase}: ${remark}`)),
    style.green(clip(bar(share, columns - numbers.length, style) + numbers)),
  ]
}

const COLUMNS = ['waiting', 'running', 'limit', 'parked', 'done'] as const

const lanes = (rows: readonly LaneRow[], { columns }: Size, style: Style): string[] => {
  const clip = (text: string): string => clipEnd(text, columns, style.ellipsis)
  const line = (title: string, cells: readonly (string | number)[]): string =>
    padEnd(title, 12) + cells.map((cell) => padStart(String(cell), 8)).join('')
  return [
    style.dim(clip(line('lane', COLUMNS))),
    ...rows.map(({ type, waiting, running, parked, done, total }) => {
      const text = `${line(type, [waiting, running, CONCURRENCY_LIMITS[type] ?? '-', parked, done])} of ${padEnd(String(total), 5)}`
      return clip(`${text}${bar(total === 0 ? 0 : done / total, Math.min(40, columns - text.length), style)}`)
    }),
  ]
}

const bar = (share: number, width: number, style: Style): string => {
  if (width < 4) return ''
  const filled = Math.floor(width * share)
  return style.full.repeat(filled) + style.empty.repeat(width - filled)
}

const GAP = 2
const MIN_WORKER = 14

/** A column for each worker, or for as many as there is room for. */
const workers = (board: Board, { columns }: Size, style: Style): string[] => {
  const shown = board.workers.slice(0, Math.max(1, Math.floor((columns + GAP) / (MIN_WORKER + GAP))))
  const width = Math.floor((columns - GAP * (shown.length - 1)) / Math.max(1, shown.length))
  const line = (cells: readonly string[]): string => cells.join(' '.repeat(GAP))
  return [
    line(shown.map((worker) => workerTitle(worker, width, style))),
    ...Array.from({ length: SLOTS }, (_, index) =>
      line(shown.map(({ slots }) => slotCell(slots[index], board, width, style))),
    ),
  ]
}

const workerTitle = ({ name, pid, state, done }: FleetWorker, width: number, style: Style): string => {
  const text = padEnd(
    clipEnd(`${name} ${state === 'working' ? `${done} done` : state} (${pid})`, width, style.ellipsis),
    width,
  )
  return state === 'working' ? style.cyan(text) : state === 'starting' ? style.dim(text) : style.red(text)
}

const slotCell = (slot: Slot | undefined, board: Board, width: number, style: Style): string => {
  if (!slot) return style.dim(padEnd(clipEnd('  -', width, ''), width))
  const percent = padStart(`${Math.round(slot.percent)}%`, 5)
  const room = width - percent.length - 2
  if (room < 4) return padEnd(clipEnd(style.mark + percent, width, style.ellipsis), width)
  return `${style.mark} ${padEnd(clipStart(board.pathOf(slot.taskId), room, style.ellipsis), room)}${style.yellow(percent)}`
}

const events = (all: readonly BoardEvent[], { columns }: Size, room: number, style: Style): string[] =>
  all.slice(all.length - Math.min(room, all.length)).map(({ at, text, path, tone }) => {
    const begin = `${padStart(at.toFixed(1), 5)} s  ${text} `
    const end = path === undefined ? '' : clipStart(path, Math.max(10, columns - widthOf(begin)), style.ellipsis)
    const line = clipEnd(begin + end, columns, style.ellipsis)
    return tone === 'bad' ? style.red(line) : tone === 'good' ? style.green(line) : line
  })
