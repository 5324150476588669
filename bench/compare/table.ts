import type { Figures } from './measure.js'

/** A line of the table: a figure's name, how it reads, and whether less is better. */
export interface Line {
  readonly figure: string
  readonly label: string
  readonly unit: 'k/s' | 'µs' | 'bytes' | 'ms' | ''
  readonly lessIsBetter: boolean
}

const rates = (figure: string, label: string): Line[] => [
  { figure, label, unit: 'k/s', lessIsBetter: false },
  { figure: `${figure}: Redis CPU`, label: '  Redis CPU a task', unit: 'µs', lessIsBetter: true },
  { figure: `${figure}: process CPU`, label: '  process CPU a task', unit: 'µs', lessIsBetter: true },
]

/** What is shown, in order. */
export const LINES: readonly Line[] = [
  ...rates('submit', 'submit, 100 in flight'),
  ...rates('bulk', 'bulk submit'),
  ...rates('process, 1', 'process, one slot'),
  ...rates('process, 10', 'process, 10 slots'),
  ...rates('process, 50', 'process, 50 slots'),
  { figure: 'latency: p50', label: 'submit to handler, 100/s, p50', unit: 'ms', lessIsBetter: true },
  { figure: 'latency: p95', label: '  p95', unit: 'ms', lessIsBetter: true },
  { figure: 'memory: waiting', label: 'memory of a waiting task', unit: 'bytes', lessIsBetter: true },
]

/** The value in the middle, so that a run that somebody disturbed does not count. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle) - 1] ?? NaN)) / 2
}

/** Medians by peer and figure. */
export type Medians = ReadonlyMap<string, Figures>

export const mediansOf = (runs: ReadonlyMap<string, readonly Figures[]>): Medians =>
  new Map(
    [...runs].map(([peer, rounds]) => [
      peer,
      Object.fromEntries(
        Object.keys(rounds[0] ?? {}).map((figure) => [figure, median(rounds.map((round) => round[figure] ?? NaN))]),
      ),
    ]),
  )

export const show = (value: number, unit: Line['unit']): string => {
  if (unit === 'k/s') return (value / 1_000).toFixed(1)
  return unit === 'bytes' ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1)
}

/** The table for a terminal, which is Markdown as well. `ours` is set against `other`. */
export const tableOf = (medians: Medians, ours: string, other: string): string => {
  const peers = [...medians.keys()]
  const ratioOf = (figure: string): string =>
    ((medians.get(ours)?.[figure] ?? NaN) / (medians.get(other)?.[figure] ?? NaN)).toFixed(2)
  const rows = [
    ['case', 'unit', ...peers, `× ${other}`, ''],
    ...LINES.map(({ figure, label, unit, lessIsBetter }) => [
      label,
      unit,
      ...peers.map((peer) => show(medians.get(peer)?.[figure] ?? NaN, unit)),
      ratioOf(figure),
      lessIsBetter ? 'less is better' : 'more is better',
    ]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const isText = (column: number): boolean => column < 2 || column === widths.length - 1
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) =>
      isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    return `| ${cells.join(' | ')} |`
  })
  const rule = `| ${widths.map((width, column) => (isText(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}
