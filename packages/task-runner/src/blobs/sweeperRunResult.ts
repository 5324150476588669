/**
 * What one sweep came to.
 *
 * @example
 * const isIdle = ({ scannedCount }: SweeperRunResult): boolean => scannedCount === 0
 */
export interface SweeperRunResult {
  /** Tasks that were due. */
  scannedCount: number
  /** Of these, how many are done with. */
  sweptCount: number
  /** Blobs that were deleted. */
  deletedBlobCount: number
}
