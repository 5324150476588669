import { checkText } from './checkText.js'

/** Answers the value if it can name a type of tasks. */
export const checkType = (property: string, value: unknown): string => checkText(property, value, 512)
