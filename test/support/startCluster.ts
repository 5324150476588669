import { onTestFinished } from 'vitest'

import { freePort } from './freePort.js'
import { connectClient, type TestClient } from './redis.js'
import { type OnFinished, type RedisServer, serverOfTest } from './redisServer.js'
import { until } from './until.js'

const SLOTS = 16_384

/** A node of a cluster, with a client of its own for what tests do to it. */
export interface ClusterNode extends RedisServer {
  readonly id: string
  readonly client: TestClient
}

/** Three primaries that share the slots evenly, and a replica of each of `replicaOf`. */
export interface ClusterSetup {
  readonly primaries: readonly ClusterNode[]
  readonly replicas: readonly ClusterNode[]
  /** The primary that has a slot, as the nodes were started. */
  readonly ownerOf: (slot: number) => ClusterNode
  /** Leaves the slot's keys half way: some with their old owner, what is asked for next with nobody. */
  readonly beginMove: (slot: number, from: ClusterNode, to: ClusterNode) => Promise<void>
  /** Moves what is left of the slot, and makes the other node its owner. */
  readonly endMove: (slot: number, from: ClusterNode, to: ClusterNode) => Promise<void>
}

/** Starts a cluster for a test, and waits until every node is content with it. A silent node is given a second. */
export const startCluster = async ({
  withReplicas = false,
  persistent = false,
  onFinished = onTestFinished,
}: { withReplicas?: boolean; persistent?: boolean; onFinished?: OnFinished } = {}): Promise<ClusterSetup> => {
  const count = withReplicas ? 6 : 3
  const nodes = await Promise.all(Array.from({ length: count }, () => startNode(persistent, onFinished)))
  const primaries = nodes.slice(0, 3)
  const replicas = nodes.slice(3)
  const share = Math.ceil(SLOTS / 3)
  await Promise.all(
    primaries.map(async ({ client }, n) => {
      const last = Math.min(SLOTS, share * (n + 1)) - 1
      await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(share * n), String(last)])
      await client.sendCommand(['CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1)])
    }),
  )
  const [first] = nodes
  for (const { host, port, busPort } of nodes.slice(1))
    await first?.client.sendCommand(['CLUSTER', 'MEET', host, String(port), String(busPort)])
  const knowAll = async ({ client }: ClusterNode): Promise<boolean> =>
    (await client.sendCommand<string>(['CLUSTER', 'INFO'])).includes(`cluster_known_nodes:${nodes.length}`)
  const isContent = async ({ client }: ClusterNode): Promise<boolean> =>
    (await client.sendCommand<string>(['CLUSTER', 'INFO'])).includes('cluster_state:ok')
  const all = async (test: (node: ClusterNode) => Promise<boolean>): Promise<boolean> =>
    (await Promise.all(nodes.map(test))).every(Boolean)
  const wait = { timeoutMs: 20_000, description: 'the cluster is formed' }
  await until(() => all(knowAll), wait)
  await Promise.all(
    replicas.map(({ client }, n) =>
      until(() => client.sendCommand(['CLUSTER', 'REPLICATE', primaries[n]?.id ?? '']), wait),
    ),
  )
  await until(() => all(isContent), wait)
  for (const { client } of replicas)
    await until(async () => (await client.info('replication')).includes('master_link_status:up'), wait)

  const keysIn = ({ client }: ClusterNode, slot: number): Promise<string[]> =>
    client.sendCommand(['CLUSTER', 'GETKEYSINSLOT', String(slot), '100000'])
  const move = async (keys: readonly string[], from: ClusterNode, { host, port }: ClusterNode): Promise<void> => {
    if (keys.length > 0)
      await from.client.sendCommand(['MIGRATE', host, String(port), '', '0', '5000', 'REPLACE', 'KEYS', ...keys])
  }
  return {
    primaries,
    replicas,
    ownerOf: (slot) => primaries[Math.floor(slot / share)] as ClusterNode,
    beginMove: async (slot, from, to) => {
      await to.client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id])
      await from.client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id])
      const keys = await keysIn(from, slot)
      await move(keys.slice(0, Math.floor(keys.length / 2)), from, to)
    },
    endMove: async (slot, from, to) => {
      await move(await keysIn(from, slot), from, to)
      for (const { client } of [to, from, ...primaries])
        await client.sendCommand(['CLUSTER', 'SETSLOT', String(slot), 'NODE', to.id])
    },
  }
}

const startNode = async (persistent: boolean, onFinished: OnFinished): Promise<ClusterNode & { busPort: number }> => {
  const busPort = await freePort()
  const server = await serverOfTest(
    {
      persistent,
      args: [
        ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '1000'],
        ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
      ],
    },
    onFinished,
  )
  const client = await connectClient({ url: server.url, onFinished })
  const id = await client.sendCommand<string>(['CLUSTER', 'MYID'])
  // The server is not spread: some of its members are getters.
  return Object.assign(Object.create(server) as RedisServer, { busPort, client, id })
}
