/** How the runners of a chaos run are set: short times, so that much happens in a minute. */
export const RUNNER_OPTIONS = {
  visibilityTimeoutMs: 2_000,
  commandDeadlineMs: 1_000,
  drainTimeoutMs: 500,
  abortTimeoutMs: 1_000,
  expiryIntervalMs: 1_000,
  maintenanceIntervalMs: 2_000,
  idempotencyTtlSec: 3_600,
  maxDeliveries: 5,
  concurrencyLimits: { capped: 2 },
} as const

/** What a worker that is told to end may take: drain, abort, and commands that wait out their deadlines. */
export const DRAIN_LIMIT_MS = 10_000

/** Claims of one worker at the same time. */
export const SLOTS = 4

/** How often a task of type `poison` may take a process with it. */
export const POISON_DELIVERIES = 2

/** Pause after the first failure of a `flaky` task; after the second one twice as long, and so on. */
export const FLAKY_DELAY_MS = 200

/** Failures after which a `flaky` task has failed for good. */
export const FLAKY_ATTEMPTS = 4
