/**
 * What a runner can do; frozen, constant for its life.
 *
 * @example
 * const { delayedDispatch, maxPayloadBytes }: TaskRunnerCapabilities = runner.capabilities
 */
export interface TaskRunnerCapabilities {
  /** Queued tasks outlive the process. */
  readonly persistent: boolean
  /** A cap per type holds across all workers. */
  readonly fleetCapEnforcement: boolean
  /** `notBefore` is supported. */
  readonly delayedDispatch: boolean
  /** UTF-8 bytes of a payload, at most. */
  readonly maxPayloadBytes: number
  /** Several processes share the queue. A runner that does not tell is taken to be if it is persistent. */
  readonly distributed?: boolean
}
