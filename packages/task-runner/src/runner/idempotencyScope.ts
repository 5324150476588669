/**
 * Keys are kept apart by submitter, and a key that may be used again after a failure becomes another one with each
 * failed task. Neither submitters nor keys contain NUL.
 */
export const scopedKey = (key: string, submittedBy: string | undefined, failedTaskIds: readonly string[]): string =>
  [...(submittedBy === undefined ? [] : [submittedBy]), ...failedTaskIds, key].join('\0')

/** The key as the submitter knows it. */
export const keyOfScope = (scoped: string): string => scoped.slice(scoped.lastIndexOf('\0') + 1)
