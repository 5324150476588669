import type { MaintenanceJob, MaintenanceTurn } from '../runner/maintenanceJob.js'
import { sweepBlobs, type SweepBlobsParts } from './sweepBlobs.js'

/** Deals with the blobs that are due, by one process at a time for each blob store. */
export class BlobSweep implements MaintenanceJob {
  readonly name: string

  constructor(
    private readonly parts: SweepBlobsParts,
    readonly intervalMs: number,
    private readonly batchSize = 100,
  ) {
    this.name = `blobs:${parts.blobStore.storeName}`
  }

  async run({ keep }: MaintenanceTurn): Promise<void> {
    await sweepBlobs(this.parts, { batchSize: this.batchSize, keep })
  }
}
