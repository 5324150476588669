/**
 * Parses JSON into a value that nobody can change, so that all receivers may share it.
 *
 * @throws SyntaxError if the text is not JSON.
 *
 * @example
 * ```ts
 * parseFrozen('{"article":"tea"}') // a frozen object
 * ```
 */
export function parseFrozen(json: string): unknown {
  const value: unknown = JSON.parse(json)
  // A list of its own instead of recursion: the depth of a payload must not be limited by the stack.
  const pending = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next !== 'object' || next === null) continue
    Object.freeze(next)
    for (const child of Object.values(next)) pending.push(child)
  }
  return value
}
