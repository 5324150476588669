/** Something the user should know in a sentence, without a stack. */
export class DemoError extends Error {
  override readonly name = 'DemoError'
}

/** The demo was told to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'

  constructor(
    /** What told it. */
    readonly by: string,
    readonly exitCode: number,
  ) {
    super(`ended by ${by}`)
  }
}

/** What to show of an error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
