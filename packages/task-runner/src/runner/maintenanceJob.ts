/** One turn of a job. */
export interface MaintenanceTurn {
  /**
   * To be asked before each further page of work: whether the turn may go on. Keeps the role while it does; false once
   * the runner is being disposed, or another process has the role. Rejects if the store does.
   */
  readonly keep: () => Promise<boolean>
}

/** Work that is to be done from time to time, by one process for all of them. */
export interface MaintenanceJob {
  /** Names the role, and the operation in reports of trouble. */
  readonly name: string
  /** In milliseconds; Infinity: never. */
  readonly intervalMs: number
  /** Whether the first turn is at once, not after an interval. @default false */
  readonly immediately?: boolean
  /** Whether every process has to do it for itself, so that no role is needed. @default false */
  readonly isLocal?: boolean
  /** Does what there is to do, in pages that take the store a few milliseconds each. What it throws is reported. */
  run(turn: MaintenanceTurn): Promise<void>
}
