import { padEnd, padStart, widthOf } from './text.js'

/** Lays rows out in columns: the first one to the left, the others to the right. */
export const table = (rows: readonly (readonly string[])[]): string[] => {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))
  }
  return rows.map((row) =>
    row
      .map((cell, index) => (index === 0 ? padEnd(cell, widths[index] ?? 0) : padStart(cell, widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
