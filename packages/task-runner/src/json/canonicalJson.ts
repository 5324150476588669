const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([key, member]) => [key, sorted(member)]))
}

/**
 * JSON text that is the same for values which differ in the order of their members only. For values that came out of
 * JSON; `undefined` has the empty text.
 *
 * @example
 * canonicalJson({ b: 1, a: 2 }) === canonicalJson({ a: 2, b: 1 }) // true
 */
export const canonicalJson = (value: unknown): string => (value === undefined ? '' : JSON.stringify(sorted(value)))
