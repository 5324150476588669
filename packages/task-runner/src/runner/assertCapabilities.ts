import type { BlobStoreCapabilities } from '@furystack/blob-store'
import type { CrossNodeBusCapabilities } from '@furystack/cross-node-bus'

import { MissingCapabilityError } from '../errors/missingCapabilityError.js'
import type { TaskRunnerCapabilities } from './taskRunnerCapabilities.js'

/**
 * Throws a `MissingCapabilityError` if several nodes share the tasks of a runner, while blobs or updates stay on one
 * node. A runner does the same check when it is made, unless it is told not to (`capabilityCheck`).
 *
 * @throws {MissingCapabilityError} naming all that is missing, what to bind instead, and where that comes from
 *
 * @example
 * import { BlobStore } from '@furystack/blob-store'
 * assertCapabilities(injector.get(TaskRunner), injector.get(BlobStore), injector.get(CrossNodeBus))
 */
export const assertCapabilities = (
  runner: { readonly capabilities: Pick<TaskRunnerCapabilities, 'persistent' | 'distributed'> },
  blobStore: { readonly capabilities: Pick<BlobStoreCapabilities, 'crossNodeAccessible'> },
  bus: { readonly capabilities: Pick<CrossNodeBusCapabilities, 'crossNodeDelivery'> },
): void => {
  const { persistent, distributed = persistent } = runner.capabilities
  if (!distributed) return
  const missing: Array<{ part: MissingCapabilityError['part']; what: string }> = []
  if (!blobStore.capabilities.crossNodeAccessible) {
    missing.push({
      part: 'blob store',
      what:
        'a cross-node-accessible blob store bound to BlobStore, such as defineS3BlobStore of @furystack/s3-blob-store ' +
        '(a task may run on another node than the one that wrote its blobs)',
    })
  }
  if (!bus.capabilities.crossNodeDelivery) {
    missing.push({
      part: 'bus',
      what:
        'a cross-node bus bound to CrossNodeBus, such as defineRedisCrossNodeBusAdapter of ' +
        '@furystack/redis-cross-node-bus (updates and requests to cancel have to reach the other nodes)',
    })
  }
  const [first] = missing
  if (first === undefined) return
  throw new MissingCapabilityError(
    first.part,
    `Several nodes may share the tasks of this runner, so it needs ${missing.map(({ what }) => what).join(' and ')}; ` +
      'if a single process submits and works, or nobody uses either, opt out with capabilityCheck: "off"',
  )
}
