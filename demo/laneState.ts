import { lane } from '@furystack/redis-task-runner'
import type { DemoClient } from './openRedis.js'
import { HANDLER_VERSION, LANE_TYPES, type LaneType } from './settings.js'

/** What Redis tells of one lane. */
export interface LaneState {
  readonly type: LaneType
  /** Entries in the stream, running or not: XLEN. */
  readonly entries: number
  /** Entries that a worker holds: XPENDING. */
  readonly running: number
  /** Tasks in the schedule that are not due yet: delayed ones, and those that wait for another try. */
  readonly parked: number
}

const GROUP = 'runner'

const streamOf = (prefix: string, type: LaneType): string => `${prefix}tasks:queue:${lane(type, HANDLER_VERSION).name}`

/** Asks Redis how the lanes are. Streams and schedule are read in one step, so that no task is seen twice or not at all. */
export const readLanes = async (client: DemoClient, prefix: string): Promise<LaneState[]> => {
  const streams = LANE_TYPES.map((type) => streamOf(prefix, type))
  const state = client.multi().zRange(`${prefix}tasks:scheduler`, 0, -1)
  for (const stream of streams) state.xLen(stream)
  const [[members, ...lengths], pendings] = await Promise.all([
    state.exec() as unknown as Promise<[string[], ...number[]]>,
    Promise.all(streams.map((stream) => pendingOf(client, stream))),
  ])
  const parked = members.map((member) => (JSON.parse(member) as { type: string }).type)
  return LANE_TYPES.map((type, index) => ({
    type,
    entries: lengths[index] ?? 0,
    running: pendings[index] ?? 0,
    parked: parked.filter((one) => one === type).length,
  }))
}

/** Whether nothing is waiting, running or parked. */
export const isIdle = (lanes: readonly LaneState[]): boolean =>
  lanes.every(({ entries, running, parked }) => entries + running + parked === 0)

/** The ids of the tasks that a worker holds at the moment. */
export const heldBy = async (client: DemoClient, prefix: string, workerId: string): Promise<string[]> => {
  const held = LANE_TYPES.map(async (type) => {
    const stream = streamOf(prefix, type)
    const pending = await client.xPendingRange(stream, GROUP, '-', '+', 1_000).catch(noStreamYet([]))
    const mine = pending.filter(({ consumer }) => consumer.startsWith(workerId))
    const entries = await Promise.all(mine.map(({ id }) => client.xRange(stream, id, id)))
    return entries.flat().flatMap((entry) => entry?.message['taskId'] ?? [])
  })
  return (await Promise.all(held)).flat()
}

/** What would tell of trouble after the end: places under a cap that nobody gave back, entries that nobody could read. */
export const readLeftovers = async (client: DemoClient, prefix: string): Promise<{ places: number; dead: number }> => {
  const places = await Promise.all(LANE_TYPES.map((type) => client.zCard(`${prefix}tasks:cap:${type}`)))
  return { places: places.reduce((sum, one) => sum + one, 0), dead: await client.xLen(`${prefix}tasks:unreadable`) }
}

const pendingOf = async (client: DemoClient, stream: string): Promise<number> =>
  (await client.xPending(stream, GROUP).catch(noStreamYet({ pending: 0 }))).pending

/** A lane's stream and group are made with its first entry. */
const noStreamYet =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof Error && error.message.startsWith('NOGROUP')) return value
    throw error
  }
