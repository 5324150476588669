/**
 * The JSON text of a value; `undefined` for `undefined`. Throws a `TypeError` for a value that has none: a function or a
 * symbol, a BigInt, a cycle.
 *
 * @example
 * encodeJson({ a: 1 }) // '{"a":1}'
 * encodeJson(undefined) // undefined
 */
export const encodeJson = (value: unknown): string | undefined => {
  if (value === undefined) return undefined
  // The declared type hides that there is no text for a function or a symbol.
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) throw new TypeError(`there is no JSON for a ${typeof value}`)
  return text
}
