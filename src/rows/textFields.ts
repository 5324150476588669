/** Longer values make Redis keep a hash as a table, which takes three times the memory and is slower to write. */
const PART_BYTES = 64
/** A UTF-16 unit takes at most three bytes. */
const PART_UNITS = Math.floor(PART_BYTES / 3)
/** A longer text is kept whole: its row is better off as a table. */
const MAX_PARTS = 16

/**
 * The fields that a text is kept in: alone under its name if it is short, or long; else in parts `p`, `p1`, `p2`, …, none
 * longer than what keeps a row compact (the server's `hash-max-listpack-value`).
 *
 * @example
 * textFields('p', '{}') // ['p', '{}']
 */
export const textFields = (name: string, text: string): string[] => {
  const bytes = Buffer.byteLength(text)
  const units = bytes === text.length ? PART_BYTES : PART_UNITS
  if (bytes <= PART_BYTES || text.length > MAX_PARTS * units) return [name, text]
  const fields: string[] = []
  for (let from = 0, part = 0; from < text.length; part++) {
    const end = from + units
    const to = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end
    fields.push(part === 0 ? name : name + String(part), text.slice(from, to))
    from = to
  }
  return fields
}

/**
 * Reads such a text back; `undefined` if there is none.
 *
 * @example
 * textOf(new Map([['p', '{'], ['p1', '}']]), 'p') // '{}'
 */
export const textOf = (row: ReadonlyMap<string, string>, name: string): string | undefined => {
  let text = row.get(name)
  if (text === undefined || text.length < PART_UNITS - 1) return text
  for (let part = 1, next; (next = row.get(name + String(part))) !== undefined; part++) text += next
  return text
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
