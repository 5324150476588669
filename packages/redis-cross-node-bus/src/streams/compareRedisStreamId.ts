/**
 * Orders the ids of Redis Stream entries, `<milliseconds>-<counter>`, as Redis does; an id without a counter counts as
 * counter 0. Negative if `a` comes before `b`, positive if after, zero if they are the same.
 *
 * @throws RangeError for something that is no such id.
 *
 * @example
 * ```ts
 * const ids = ['10-0', '9-1', '9-0'].toSorted(compareRedisStreamId) // ['9-0', '9-1', '10-0']
 * ```
 */
export function compareRedisStreamId(a: string, b: string): number {
  const [msA, counterA] = partsOf(a)
  const [msB, counterB] = partsOf(b)
  return compareDigits(msA, msB) || compareDigits(counterA, counterB)
}

/**
 * The id with its counter and without leading zeros, as Redis writes it.
 *
 * @throws RangeError for something that is no id.
 */
export function normalizeStreamId(id: string): string {
  return partsOf(id).join('-')
}

/** The milliseconds of an id: when its entry was added, by the clock of the server. */
export function millisecondsOf(id: string): number {
  return Number(partsOf(id)[0])
}

const ID = /^0*(\d+?)(?:-0*(\d+?))?$/
const MAX_PART = String(2n ** 64n - 1n)

/** As text, because both parts have 64 bits. */
function partsOf(id: string): readonly [string, string] {
  const [match, ms = '', counter = '0'] = ID.exec(id) ?? []
  if (match === undefined || compareDigits(ms, MAX_PART) > 0 || compareDigits(counter, MAX_PART) > 0) {
    throw new RangeError(`Not the id of a stream entry: ${JSON.stringify(id)} (want "<milliseconds>-<counter>")`)
  }
  return [ms, counter]
}

function compareDigits(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : Number(a > b)
}
