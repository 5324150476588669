/** Ten years: a date that lies so far ahead of now is one that every store can keep. */
export const MAX_DELAY_MS = 315_576_000_000
