import type { Entry, PromoteReply, PromoteRequest } from '../port/lanePort.js'

/**
 * A task that waits until it is due.
 *
 * @example
 * port.parked()[0] // { entry: { taskId: 'a', lane }, dueAt: 1_500 }
 */
export interface ParkedEntry {
  /** What is parked. */
  readonly entry: Entry
  /** Epoch milliseconds. */
  readonly dueAt: number
}

/** The parked tasks, earliest first, and the role of the one that promotes them. */
export interface VirtualSchedule {
  /** Answers whether it is now the earliest. */
  park(entry: Entry, dueAt: number): boolean
  promote(request: PromoteRequest, enqueue: (entry: Entry) => void): Omit<PromoteReply, 'knownLanes'>
  parked(): readonly ParkedEntry[]
  /** Who has the role at the moment. */
  promoter(): string | undefined
  giveBackRole(promoterId: string): void
}

/** Nothing parked, nobody promoting. */
export const virtualSchedule = (now: () => number): VirtualSchedule => {
  const parked: ParkedEntry[] = []
  let role: { readonly promoterId: string; readonly endsAt: number } | undefined

  const promoter = (): string | undefined => (role && role.endsAt > now() ? role.promoterId : undefined)

  return {
    park: (entry, dueAt) => {
      const later = parked.findIndex((other) => other.dueAt > dueAt)
      const at = later === -1 ? parked.length : later
      parked.splice(at, 0, { entry, dueAt })
      return at === 0
    },

    promote: ({ promoterId, roleMs, limit, takeOver }, enqueue) => {
      if (!takeOver && (promoter() ?? promoterId) !== promoterId) return { isPromoter: false, moved: 0 }
      role = { promoterId, endsAt: now() + roleMs }
      const notDue = parked.findIndex(({ dueAt }) => dueAt > now())
      const due = parked.splice(0, Math.min(limit, notDue === -1 ? parked.length : notDue))
      for (const { entry } of due) enqueue(entry)
      const next = parked[0]
      return {
        isPromoter: true,
        moved: due.length,
        ...(next && { nextDueMs: Math.max(0, Math.ceil(next.dueAt - now())) }),
      }
    },

    parked: () => [...parked],
    promoter,
    giveBackRole: (promoterId) => {
      if (promoter() === promoterId) role = undefined
    },
  }
}
