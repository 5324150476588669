import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { checkText } from './checkText.js'

const NONE: readonly string[] = Object.freeze([])

/** Answers the tags sorted and without doubles. */
export const checkTags = (property: string, value: unknown, maxCount = Infinity): readonly string[] => {
  if (value === undefined) return NONE
  if (!Array.isArray(value)) throw new InvalidArgumentError(property, value, 'an array of non-empty strings')
  if (value.length === 0) return NONE
  if (value.length > maxCount) throw new InvalidArgumentError(property, value, `an array of at most ${maxCount} tags`)
  // `from` looks at holes too, which `map` passes over.
  return [...new Set(Array.from(value, (tag: unknown, index) => checkText(`${property}[${index}]`, tag, 512)))].sort()
}
