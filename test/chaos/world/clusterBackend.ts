import { randomUUID } from 'node:crypto'

import { hashSlot } from '@furystack/redis-connection'
import { type ClusterNode, startCluster } from '../../support/startCluster.js'
import { clusterFaults } from '../faults/clusterFaults.js'
import type { Backend } from './backend.js'
import { ending } from './ending.js'

/** Three nodes that keep what they have said; one of them has the slot of the prefix. */
export const clusterBackend = async (): Promise<Backend> => {
  const { atEnd, end } = ending()
  try {
    const setup = await startCluster({ persistent: true, onFinished: atEnd })
    const prefix = `{chaos-${randomUUID().slice(0, 8)}}/`
    const slot = hashSlot(prefix)
    let owner: ClusterNode = setup.ownerOf(slot)
    return {
      kind: 'cluster',
      prefix,
      wayOf: () => Promise.resolve({ kind: 'cluster', urls: setup.primaries.map(({ url }) => url) }),
      admin: () => Promise.resolve(owner.client),
      faults: clusterFaults({
        setup,
        slot,
        owner: () => owner,
        onMoved: (to) => {
          owner = to
        },
      }),
      [Symbol.asyncDispose]: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}
