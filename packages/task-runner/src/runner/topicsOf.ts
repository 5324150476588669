interface Topics {
  readonly status: string
  readonly progress: string
  readonly cancel: string
}

const KNOWN = new Map<string, Topics>()
// Types are names in code; somebody who makes them up at run time must not fill the memory.
const MAX_KNOWN = 10_000

/** The topics of a type on the bus. */
export const topicsOf = (type: string): Topics => {
  const known = KNOWN.get(type)
  if (known !== undefined) return known
  const topics = { status: `tasks/status/${type}`, progress: `tasks/progress/${type}`, cancel: `tasks/cancel/${type}` }
  if (KNOWN.size < MAX_KNOWN) KNOWN.set(type, topics)
  return topics
}
