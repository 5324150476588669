import type { BlobStoreCapabilities } from '@furystack/blob-store'
import type { CrossNodeBusCapabilities } from '@furystack/cross-node-bus'

import { MissingCapabilityError } from '../errors/missingCapabilityError.js'
import type { TaskRunnerCapabilities } from './taskRunnerCapabilities.js'

/**
 * Throws a `MissingCapabilityError` if several nodes share the tasks of a runner, while blobs or updates stay on one
 * node. A runner does the same check when it is made, but warns only by default; call this to insist.
 *
 * @example
 * assertCapabilities(injector.get(TaskRunner), injector.get(BlobStore), injector.get(CrossNodeBus))
 */
export const assertCapabilities = (
  runner: { readonly capabilities: Pick<TaskRunnerCapabilities, 'persistent' | 'distributed'> },
  blobStore: { readonly capabilities: Pick<BlobStoreCapabilities, 'crossNodeAccessible'> },
  bus: { readonly capabilities: Pick<CrossNodeBusCapabilities, 'crossNodeDelivery'> },
): void => {
  const { persistent, distributed = persistent } = runner.capabilities
  if (!distributed) return
  if (!blobStore.capabilities.crossNodeAccessible) {
    throw new MissingCapabilityError(
      'blob store',
      'Several nodes share the tasks of this runner, so it needs a cross-node-accessible blob store: a task may run on ' +
        'another node than the one that wrote its blobs',
    )
  }
  if (!bus.capabilities.crossNodeDelivery) {
    throw new MissingCapabilityError(
      'bus',
      'Several nodes share the tasks of this runner, so it needs a cross-node bus: updates and requests to cancel have ' +
        'to reach the other nodes',
    )
  }
}
