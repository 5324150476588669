/** The types of tasks; each has a lane of its own in Redis. */
export const LANE_TYPES = ['hash:text', 'hash:data', 'hash:large'] as const

export type LaneType = (typeof LANE_TYPES)[number]

/** All handlers are of this version. */
export const HANDLER_VERSION = 1

/** How many tasks of a type may run at once, whichever worker runs them. */
export const CONCURRENCY_LIMITS: Readonly<Partial<Record<LaneType, number>>> = { 'hash:large': 2 }

export const WORKERS = 3

/** Tasks that one worker runs at once, at most. */
export const SLOTS = 4

/** After this silence a worker counts as dead, and others take its tasks over. */
export const VISIBILITY_TIMEOUT_MS = 2_000

/** The share of the tasks that have ended when a worker is killed. */
export const KILL_AT = 0.4

/** A task that cannot read its file is tried this often. */
export const MAX_ATTEMPTS = 3

/** Every so many tasks one is delayed. */
export const DELAYED_EVERY = 12
