import { quoted } from '../argument/printable.js'

/** Deeper values are refused: reading them back takes stack, and they are nearly always cycles. */
const MAX_DEPTH = 1_000
/** Members of a path that a message shows. */
const MAX_SHOWN = 10

/**
 * The JSON text of a value, from which the very same value can be read again; `undefined` for `undefined`.
 *
 * Throws a `TypeError` that names the place for whatever JSON would drop or turn into something else: functions, symbols,
 * BigInts, NaN and the infinities, dates and all other instances of classes, holes and `undefined` in arrays, members
 * under symbols, cycles, more than 1,000 levels, more than `maxBytes` of UTF-8. A member that is `undefined` is left out, since reading it gives the same.
 *
 * @example
 * encodeJson({ a: 1 }) // '{"a":1}'
 * encodeJson(undefined) // undefined
 * encodeJson({ at: new Date() }) // TypeError: .at is a Date
 */
export const encodeJson = (value: unknown, maxBytes = Infinity): string | undefined => {
  if (value === undefined) return undefined
  const seen = { negativeZero: false }
  const found = find(value, 1, seen)
  if (found !== undefined) throw new TypeError(`${placeOf(found)} ${found.why}`)
  const text = seen.negativeZero ? exactText(value) : JSON.stringify(value)
  // A UTF-16 unit takes three bytes at most, so that most texts need not be looked through.
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes) {
    throw new TypeError(`it takes ${Buffer.byteLength(text)} bytes as JSON, more than ${maxBytes}`)
  }
  return text
}

interface Fault {
  readonly why: string
  /** From the inside out. */
  readonly path: string[]
}

interface Seen {
  negativeZero: boolean
}

const fault = (why: string): Fault => ({ why, path: [] })

const find = (value: unknown, depth: number, seen: Seen): Fault | undefined => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      if (!Number.isFinite(value)) return fault(`is ${value}`)
      if (Object.is(value, -0)) seen.negativeZero = true
      return undefined
    case 'object':
      if (value === null) return undefined
      if (depth > MAX_DEPTH) return fault(`is more than ${MAX_DEPTH} levels deep, or contains itself`)
      return Array.isArray(value) ? findInArray(value, depth, seen) : findInObject(value, depth, seen)
    case 'bigint':
      return fault('is a BigInt')
    default:
      return fault(`is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`)
  }
}

const findInArray = (list: readonly unknown[], depth: number, seen: Seen): Fault | undefined => {
  // The prototype of arrays is an array itself, in every realm; that of a class which extends them is not.
  if (!Array.isArray(Object.getPrototypeOf(list))) return fault(`is ${classOf(list)}`)
  // A hole has no key, and a member beside the elements has one too many.
  if (Object.keys(list).length !== list.length)
    return fault('is an array with holes, or with members beside its elements')
  for (let index = 0; index < list.length; index++) {
    const found = find(list[index], depth + 1, seen)
    if (found !== undefined) return at(found, `[${index}]`)
  }
  return undefined
}

const findInObject = (value: object, depth: number, seen: Seen): Fault | undefined => {
  if (!isPlain(value)) return fault(`is ${classOf(value)}`)
  const symbols = Object.getOwnPropertySymbols(value)
  if (symbols.length > 0 && symbols.some((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol))) {
    return fault('has a member under a symbol')
  }
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key]
    if (member === undefined) continue
    const found = find(member, depth + 1, seen)
    if (found !== undefined) return at(found, /^[\w$]+$/.test(key) && key.length <= 80 ? `.${key}` : `[${quoted(key)}]`)
  }
  return undefined
}

const at = (found: Fault, key: string): Fault => {
  found.path.push(key)
  return found
}

/** The places within a cycle repeat themselves, so that the first of them tell enough. */
const placeOf = ({ path }: Fault): string => {
  if (path.length === 0) return 'it'
  return path.slice(-MAX_SHOWN).reverse().join('') + (path.length > MAX_SHOWN ? '…' : '')
}

/** Made by a literal or without a prototype; of whatever realm. */
const isPlain = (value: object): boolean => {
  const proto: unknown = Object.getPrototypeOf(value)
  return proto === null || proto === Object.prototype || Object.getPrototypeOf(proto) === null
}

const classOf = (value: object): string => {
  const { name } = (value.constructor ?? {}) as { name?: unknown }
  const known = typeof name === 'string' && name !== '' ? `an instance of ${quoted(name)}` : 'an instance of a class'
  return value instanceof Date ? 'a Date (its toISOString() would do)' : `${known} (a plain object would do)`
}

/** `JSON.stringify` writes -0 as 0, although JSON has both. */
const exactText = (value: unknown): string => {
  if (Object.is(value, -0)) return '-0'
  if (Array.isArray(value)) return `[${value.map(exactText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${exactText(member)}`).join(',')}}`
}
