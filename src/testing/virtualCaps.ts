/** The holders of places under the fleet cap of each type. A place expires with its claim's visibility. */
export interface VirtualCaps {
  hasPlace(type: string, cap: number): boolean
  holds(type: string, holder: string): boolean
  hold(type: string, holder: string, expiresAt: number): void
  release(type: string, holder: string): void
  /** How many hold a place that has not expired. */
  count(type: string): number
}

/** No holders yet. */
export const virtualCaps = (now: () => number): VirtualCaps => {
  const types = new Map<string, Map<string, number>>()

  const holdersOf = (type: string): Map<string, number> => {
    const holders = types.get(type) ?? new Map<string, number>()
    types.set(type, holders)
    return holders
  }
  const expire = (type: string): Map<string, number> => {
    const holders = holdersOf(type)
    for (const [holder, expiresAt] of holders) if (expiresAt <= now()) holders.delete(holder)
    return holders
  }

  return {
    hasPlace: (type, cap) => expire(type).size < cap,
    holds: (type, holder) => holdersOf(type).has(holder),
    hold: (type, holder, expiresAt) => holdersOf(type).set(holder, expiresAt),
    release: (type, holder) => holdersOf(type).delete(holder),
    count: (type) => [...holdersOf(type).values()].filter((expiresAt) => expiresAt > now()).length,
  }
}
