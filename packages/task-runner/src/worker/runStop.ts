/**
 * Why a run was told to stop. `cancel` ends it as cancelled; `timeout` as failed; `handBack` (a shutdown, a drain, a
 * lease that could not be kept) gives the task back; after `lost` the task is no longer this run's to end.
 */
export interface RunStop {
  readonly kind: 'cancel' | 'timeout' | 'handBack' | 'lost'
  /** The reason of the handler's signal. */
  readonly error: Error
}
