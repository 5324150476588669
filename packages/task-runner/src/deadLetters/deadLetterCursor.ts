import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { DEAD_LETTER_REASONS } from './deadLetter.js'
import type { DeadLetterPosition } from './deadLetterBox.js'

/** How far each of some boxes has been read. */
export type DeadLetterProgress = ReadonlyArray<DeadLetterPosition | 'start' | 'end'>

/** A progress as text that nobody is to look into. */
export const encodeCursor = (progress: DeadLetterProgress): string =>
  Buffer.from(JSON.stringify(progress)).toString('base64url')

/** Reads it back; throws an `InvalidArgumentError` for anything else. */
export const decodeCursor = (cursor: string | undefined, boxes: number): DeadLetterProgress => {
  if (cursor === undefined) return new Array<'start'>(boxes).fill('start')
  const progress = parse(cursor)
  if (!Array.isArray(progress) || progress.length !== boxes || !progress.every(isProgress)) {
    throw new InvalidArgumentError('cursor', cursor, 'the cursor of another page')
  }
  return progress
}

const parse = (cursor: unknown): unknown => {
  try {
    return JSON.parse(Buffer.from(String(cursor), 'base64url').toString())
  } catch {
    return undefined // not a cursor, which its reader says
  }
}

const isProgress = (value: unknown): value is DeadLetterProgress[number] => {
  if (value === 'start' || value === 'end') return true
  if (typeof value !== 'object' || value === null) return false
  const { at, kind, reason, type, id } = value as Partial<Record<keyof DeadLetterPosition, unknown>>
  const isLetter = (kind === 'task' || kind === 'entry') && DEAD_LETTER_REASONS.includes(reason as never)
  return isLetter && Number.isSafeInteger(at) && typeof id === 'string' && ['string', 'undefined'].includes(typeof type)
}
