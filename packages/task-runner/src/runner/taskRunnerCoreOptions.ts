import { checkMaxDeliveries } from '../argument/checkMaxDeliveries.js'
import { checkNumber } from '../argument/checkNumber.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import type { Clock } from '../time/clock.js'

/**
 * How a runner core differs from the default. Times are milliseconds.
 *
 * @example
 * const options: TaskRunnerCoreOptions = { maxPayloadBytes: 65_536, drainTimeoutMs: 5_000 }
 */
export interface TaskRunnerCoreOptions {
  /** Where time comes from, other than that of the store. @default the system's */
  clock?: Clock
  /**
   * How often pending tasks are looked for whose entry never reached the queue; Infinity: never. Lower values mend a
   * crash between row and entry sooner and ask the store more often. @default 30_000
   */
  reconcilerIntervalMs?: number
  /**
   * How often leases that have run out are looked for, where the queue does not do so itself; Infinity: never.
   * @default 1_000
   */
  sweepIntervalMs?: number
  /**
   * How often tasks are looked for whose `startBefore` is over, and which no worker has looked at since; Infinity: never.
   * One process does so for all that share a store. @default 5_000
   */
  expiryIntervalMs?: number
  /**
   * How often rows are looked for whose time is over, and children that have outlived their parent, by one process for all
   * of them; Infinity: never. @default 15_000
   */
  maintenanceIntervalMs?: number
  /**
   * How often blobs are looked for that the policies of ended tasks say are to be deleted by now, by one process for all
   * that share a store; Infinity: never, because a `TaskBlobSweeper` does. @default 60_000
   */
  blobSweepIntervalMs?: number
  /**
   * For how long tasks may wait for a worker that there is not, before `onTaskUnserved` tells of them; Infinity: it never
   * does. Looked for every `maintenanceIntervalMs`. Over Redis a worker counts as living for up to 200 s after its end.
   * @default 120_000
   */
  unservedAfterMs?: number
  /** The longest time between two heartbeats of a run, whatever its visibility. @default 20_000 */
  heartbeatIntervalMs?: number
  /**
   * How often a task may be delivered whose worker dies or stands still each time; then it fails for good with a
   * `MaxDeliveriesExceededError`, without being run again. An integer of at least 1; Infinity: no limit. Failures,
   * suspensions, and attempts that were handed back do not count. A handler may have a limit of its own. @default 5
   */
  maxDeliveries?: number
  /**
   * How many bytes of UTF-8 a payload, a result or the `meta` of progress may take as JSON, at least 1; what is larger is
   * refused like anything else that cannot be stored. The body of a recorded `fetch` may have as many bytes (kept
   * as base64, which takes a third more): the call rejects with a `PayloadError` at the first byte beyond, and reads no
   * further. Rows are read as a whole, so larger things belong into the blob store. @default Infinity: as large as the store takes
   */
  maxPayloadBytes?: number
  /**
   * A handler's `sleep` that is longer gives its slot back, and the handler is run again when it is over; Infinity: it
   * never does. @default 5_000
   */
  parkSleepsAfterMs?: number
  /** How long `Worker[Symbol.asyncDispose]` lets handlers go on before their signals fire. @default 10_000 */
  drainTimeoutMs?: number
  /** How long a disposal waits for handlers whose signal has fired, before it takes their task away. @default 5_000 */
  abortTimeoutMs?: number
  /**
   * What to do if several nodes share the queue but blobs or updates stay on one node: `throw` a
   * `MissingCapabilityError` from the constructor, `warn` (a process warning and an `onTaskRunnerError`), or nothing: `off`
   * is for a single process that submits and works, and for tasks that use neither. @default 'throw'
   */
  capabilityCheck?: 'throw' | 'warn' | 'off'
}

/** The options with their defaults. */
export type CoreSettings = Readonly<Required<Omit<TaskRunnerCoreOptions, 'clock'>>>

const OFF = 'never'

/** Fills in the defaults and checks the rest. */
export const coreSettings = (options: TaskRunnerCoreOptions): CoreSettings => {
  const number = (property: keyof CoreSettings, byDefault: number, min: number, infinity?: string): number =>
    checkNumber(property, options[property] ?? byDefault, { min, ...(infinity !== undefined && { infinity }) })
  const { capabilityCheck = 'throw' } = options
  if (!['throw', 'warn', 'off'].includes(capabilityCheck)) {
    throw new InvalidArgumentError('capabilityCheck', capabilityCheck, '"throw", "warn" or "off"')
  }
  return {
    reconcilerIntervalMs: number('reconcilerIntervalMs', 30_000, 1, OFF),
    sweepIntervalMs: number('sweepIntervalMs', 1_000, 1, OFF),
    expiryIntervalMs: number('expiryIntervalMs', 5_000, 1, OFF),
    maintenanceIntervalMs: number('maintenanceIntervalMs', 15_000, 1, OFF),
    blobSweepIntervalMs: number('blobSweepIntervalMs', 60_000, 1, OFF),
    unservedAfterMs: number('unservedAfterMs', 120_000, 1, OFF),
    heartbeatIntervalMs: number('heartbeatIntervalMs', 20_000, 1),
    maxDeliveries: checkMaxDeliveries(options.maxDeliveries ?? 5),
    maxPayloadBytes: number('maxPayloadBytes', Infinity, 1, 'as large as the store takes'),
    parkSleepsAfterMs: number('parkSleepsAfterMs', 5_000, 0, OFF),
    drainTimeoutMs: number('drainTimeoutMs', 10_000, 0, 'no limit'),
    abortTimeoutMs: number('abortTimeoutMs', 5_000, 0, 'no limit'),
    capabilityCheck,
  }
}
