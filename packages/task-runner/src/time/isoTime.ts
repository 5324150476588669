/** Times of one step, and of the steps of one moment, are the same few. A power of two. */
const SIZE = 16
const times = new Array<number>(SIZE).fill(NaN)
const texts = new Array<string>(SIZE).fill('')

/**
 * ISO-8601 text of epoch milliseconds. Remembers the latest, because making the text costs more than the rest of an
 * update, and tasks that are begun or ended together share their times.
 *
 * @throws {RangeError} for a number that is not a time
 *
 * @example
 * isoTime(0) // '1970-01-01T00:00:00.000Z'
 */
export const isoTime = (ms: number): string => {
  const slot = ms & (SIZE - 1)
  if (times[slot] !== ms) {
    texts[slot] = new Date(ms).toISOString()
    times[slot] = ms
  }
  return texts[slot] as string
}
