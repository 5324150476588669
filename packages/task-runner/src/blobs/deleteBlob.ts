import { type BlobStore, BlobStoreError } from '@furystack/blob-store'

import type { Clock } from '../time/clock.js'

/** Deletes a blob; one that is not there is no trouble. Rejects if that takes longer than `ms` milliseconds. */
export const deleteBlob = (store: Pick<BlobStore, 'delete'>, key: string, clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = clock.setTimer(() => reject(new Error(`Blob ${key} was not deleted within ${ms} ms`)), ms)
    const end = (error?: unknown): void => {
      cancel()
      if (error === undefined || (BlobStoreError.is(error) && error.code === 'not-found')) resolve()
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever the store threw
      else reject(error)
    }
    // A store may throw in place of rejecting.
    Promise.resolve()
      .then(() => store.delete(key))
      .then(
        () => end(),
        (error: unknown) => end(error ?? new Error(`Blob ${key} was not deleted`)),
      )
  })
