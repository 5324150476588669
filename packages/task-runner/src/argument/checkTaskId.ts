import { checkText } from './checkText.js'

/** Answers the value if it can be the id of a task. */
export const checkTaskId = (property: string, value: unknown): string => checkText(property, value, 512)
