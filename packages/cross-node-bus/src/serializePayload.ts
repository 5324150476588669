/**
 * The JSON text a payload travels as. What JSON drops, such as `undefined` or a function, becomes `null`.
 *
 * @throws whatever `JSON.stringify` throws: for a cycle, a `bigint` or a failing `toJSON`.
 *
 * @example
 * ```ts
 * serializePayload(undefined) // 'null'
 * ```
 */
export function serializePayload(payload: unknown): string {
  // The declared type of `JSON.stringify` hides that it returns `undefined` for what JSON cannot express.
  const text = JSON.stringify(payload) as string | undefined
  return text ?? 'null'
}
