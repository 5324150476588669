const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** `1234567` as `1.2 MB`. */
export const formatBytes = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000
    unit++
  }
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : 1)} ${UNITS[unit]}`
}

/** Milliseconds as `12 ms` or `1.23 s`; a dash for nothing. */
export const formatMs = (ms: number | undefined): string => {
  if (ms === undefined) return '-'
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`
}

/** `1 file`, `2 files`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
