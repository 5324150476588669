import type { DeadLetter } from './deadLetter.js'
import type { DeadLetterPosition } from './deadLetterBox.js'

/** Where a letter stands in the order of all. */
export const positionOf = ({ at, kind, reason, type, id }: DeadLetter): DeadLetterPosition => ({
  at: Date.parse(at),
  kind,
  reason,
  ...(type !== undefined && { type }),
  id,
})

/** Below 0 if `a` is the older one, above 0 if `b` is. */
export const comparePositions = (a: DeadLetterPosition, b: DeadLetterPosition): number =>
  a.at - b.at || compareTexts(orderOf(a), orderOf(b))

const orderOf = ({ kind, reason, type = '', id }: DeadLetterPosition): string => [kind, reason, type, id].join('\0')

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
