import { checkText } from './checkText.js'

/** Answers the reason of a cancel; an empty one is none. */
export const checkReason = (value: unknown): string | undefined =>
  value === undefined || value === '' ? undefined : checkText('reason', value, 4_096)
