/** Does something with each of a list, several at a time, and answers what went wrong with which. */
export const inParallel = async <T>(
  list: readonly T[],
  { atOnce, nameOf }: { atOnce: number; nameOf: (item: T) => string },
  run: (item: T) => Promise<unknown>,
): Promise<string[]> => {
  const failures: string[] = []
  const rest = list.values()
  const work = async (): Promise<void> => {
    for (const item of rest) await run(item).catch((error: unknown) => failures.push(`${nameOf(item)}: ${told(error)}`))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return failures
}

/** With what was found, which the message of an assertion leaves out. */
const told = (error: unknown): string => {
  const { actual } = error as { actual?: unknown }
  return `${String(error)}${actual === undefined ? '' : ` ${JSON.stringify(actual)}`}`
}
