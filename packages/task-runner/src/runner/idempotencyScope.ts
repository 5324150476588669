/** Keys are kept apart by submitter. Neither submitters nor keys contain NUL. */
export const scopedKey = (key: string, submittedBy: string | undefined): string =>
  submittedBy === undefined ? key : `${submittedBy}\0${key}`

/** The key as the submitter knows it. */
export const keyOfScope = (scoped: string): string => scoped.slice(scoped.lastIndexOf('\0') + 1)
