/** What one sweep came to. */
export interface SweeperRunResult {
  /** Tasks that were due. */
  scannedCount: number
  /** Of these, how many are done with. */
  sweptCount: number
  deletedBlobCount: number
}
