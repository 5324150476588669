/** What all processes of a soak agree on. */
export interface SoakService {
  readonly topicPrefix: string
  readonly bus: { readonly replayWindow: number }
  readonly options: {
    readonly visibilityTimeoutMs: number
    readonly schedulerIntervalMs: number
    readonly maintenanceIntervalMs: number
    readonly idempotencyTtlSec: number
    readonly concurrencyLimits: Readonly<Record<string, number>>
  }
}

export const SOAK_SERVICE: SoakService = {
  topicPrefix: 'soak/',
  // Full in the base.
  bus: { replayWindow: 100 },
  options: {
    visibilityTimeoutMs: 3_000,
    schedulerIntervalMs: 200,
    maintenanceIntervalMs: 200,
    idempotencyTtlSec: 1,
    concurrencyLimits: { capped: 4 },
  },
}
