/** A use of the link: the how-manieth of its name, from 1. */
export interface Moment {
  readonly name: string
  readonly nth: number
}

/** What a process asks again and again, whatever it does; the first of each is enough. */
const ROUTINE = new Set([
  ...[
    'HELLO',
    'INFO',
    'SMEMBERS',
    'BLPOP',
    'ringBell',
    'wakeWorker',
    'leadRole',
    'resignRole',
    'promoteDue',
    'sweepLanes',
  ],
  ...['findUnqueued', 'findOrphaned', 'expireAttempts', 'expireTasks', 'removeExpired', 'retireConsumers'],
])

/** The moments in which something can go wrong, by what was asked when nothing did. */
export const momentsOf = (names: readonly string[]): Moment[] => {
  const counts = new Map<string, number>()
  return names.flatMap((name) => {
    const nth = (counts.get(name) ?? 0) + 1
    counts.set(name, nth)
    return nth > 1 && ROUTINE.has(name) ? [] : [{ name, nth }]
  })
}

/** Strikes in a moment, whatever comes between. */
export const faultAt = <F>(moment: Moment, fault: F): ((call: { name: string }) => F | undefined) => {
  let seen = 0
  return ({ name }) => (name === moment.name && ++seen === moment.nth ? fault : undefined)
}
