import { type ClusterNode, type ClusterSetup } from '../../support/startCluster.js'
import { until } from '../../support/until.js'
import { type Fault, nothing } from './fault.js'

/** A cluster, and where all keys of the run lie in it. */
export interface ClusterScene {
  readonly setup: ClusterSetup
  readonly slot: number
  readonly owner: () => ClusterNode
  readonly onMoved: (to: ClusterNode) => void
}

/** Faults of a cluster: its slot goes elsewhere, half of it first; its node is away. */
export const clusterFaults = ({ setup, slot, owner, onMoved }: ClusterScene): readonly Fault[] => [
  {
    name: 'the slot is moved to another node',
    scope: 'server',
    prepare: (_, random) => {
      const from = owner()
      const to = random.pick(setup.primaries.filter((node) => node !== from))
      return {
        targets: 'all',
        begin: () => setup.beginMove(slot, from, to),
        holdMs: random.int(0, 2_500),
        end: async () => {
          await setup.endMove(slot, from, to)
          onMoved(to)
        },
      }
    },
  },
  {
    name: 'the node of the slot is killed, and started again with its data',
    scope: 'server',
    prepare: (_, random) => {
      const node = owner()
      return {
        targets: 'all',
        begin: () => node.kill('SIGKILL'),
        holdMs: random.int(0, 2_500),
        end: async () => {
          await node.restart()
          // The others have to notice, before they serve again.
          const isContent = async (): Promise<boolean> =>
            (await node.client.sendCommand<string>(['CLUSTER', 'INFO'])).includes('cluster_state:ok')
          await until(isContent, { timeoutMs: 20_000, intervalMs: 100, description: 'the cluster is whole again' })
        },
      }
    },
  },
  {
    name: 'CLIENT KILL on the node of the slot',
    scope: 'server',
    prepare: () => ({
      targets: 'all',
      begin: () => owner().client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal']),
      holdMs: 0,
      end: nothing,
    }),
  },
]
