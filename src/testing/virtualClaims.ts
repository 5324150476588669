import type { Claim } from '../claim/claim.js'
import type { LaneReading, ReadReply, ReadRequest, SweepReply, SweepRequest } from '../port/lanePort.js'
import { capBell, laneBell, type VirtualLanes } from './virtualLanes.js'
import type { PendingEntry } from './virtualStream.js'

/** Reads new entries: at most one a slot, lanes taking turns; paused and full lanes are not read. */
export const readVirtually = (lanes: VirtualLanes, request: ReadRequest): ReadReply => {
  const { slots } = request
  const claims: Claim[] = []
  const full: LaneReading[] = []
  const wasRead = new Set<LaneReading>()
  let open = request.lanes.filter((reading) => !isPaused(lanes, reading))

  while (claims.length < slots.length && open.length > 0) {
    const still: LaneReading[] = []
    for (const reading of open) {
      const slot = slots[claims.length]
      if (slot === undefined) still.push(reading)
      else if (!hasPlace(lanes, reading)) full.push(reading)
      else {
        const entry = lanes.stream(reading.lane).readNext(slot)
        if (!entry) {
          // A bell that rang for entries that are gone would wake an idle worker for nothing.
          lanes.bells.silence(laneBell(reading.lane))
          continue
        }
        claims.push(claimed(lanes, reading, request.workerId, slot, { ...entry, deliveryCount: 1 }))
        wasRead.add(reading)
        still.push(reading)
      }
    }
    open = still
  }

  // Another idle worker may have been waiting for the token that brought this one here.
  for (const reading of open) if (wasRead.has(reading)) lanes.bells.ring(laneBell(reading.lane))
  return { claims, full: full.map(({ lane }) => lane) }
}

/** Claims what was left idle beyond the visibility, at most one entry a slot; spares the worker's busy slots. */
export const sweepVirtually = (lanes: VirtualLanes, request: SweepRequest): SweepReply => {
  const { slots, workerId } = request
  const claims: Claim[] = []
  const positions = new Map<string, string>()
  let nextStaleMs = Infinity
  const couldBeStaleIn = (ms: number): void => {
    nextStaleMs = Math.min(nextStaleMs, ms)
  }
  const mine = `${workerId}-slot-`
  const isLeftAlone = ({ consumer }: PendingEntry): boolean =>
    consumer.startsWith(mine) && /^\d+$/.test(consumer.slice(mine.length)) && !slots.includes(consumer)

  for (const reading of request.lanes) {
    const { lane, visibilityTimeoutMs } = reading
    couldBeStaleIn(visibilityTimeoutMs)
    const stream = lanes.find(lane)
    const walked = stream?.walk(request.positions?.get(lane.name) ?? '-') ?? { entries: [], position: '-' }
    for (const pending of walked.entries) {
      if (isLeftAlone(pending)) continue
      const staleInMs = visibilityTimeoutMs - (lanes.now() - pending.idleSince)
      const slot = slots[claims.length]
      if (staleInMs > 0) couldBeStaleIn(staleInMs)
      else if (isPaused(lanes, reading) || !mayHold(lanes, reading, pending)) couldBeStaleIn(1_000)
      else if (slot === undefined) couldBeStaleIn(0)
      else {
        const taken = stream?.takeOver(pending.entryId, slot)
        if (taken) claims.push(claimed(lanes, reading, workerId, slot, taken))
        else release(lanes, reading, pending.entryId)
      }
    }
    positions.set(lane.name, walked.position)
  }
  return { claims, nextStaleMs: nextStaleMs === Infinity ? 0 : nextStaleMs, positions }
}

/** What an entry's place under its type's cap is called. */
export const holderOf = ({ lane }: Pick<Claim, 'lane'>, entryId: string): string => `${lane.name} ${entryId}`

const isPaused = ({ paused }: VirtualLanes, { lane }: LaneReading): boolean => paused.has('*') || paused.has(lane.name)

const hasPlace = ({ caps }: VirtualLanes, { lane, cap }: LaneReading): boolean =>
  cap === undefined || caps.hasPlace(lane.type, cap)

/** An entry that is taken over may keep the place it has. */
const mayHold = (lanes: VirtualLanes, reading: LaneReading, { entryId }: PendingEntry): boolean =>
  lanes.caps.holds(reading.lane.type, holderOf(reading, entryId)) || hasPlace(lanes, reading)

const release = ({ caps, bells }: VirtualLanes, reading: LaneReading, entryId: string): void => {
  if (reading.cap === undefined) return
  caps.release(reading.lane.type, holderOf(reading, entryId))
  bells.ring(capBell(reading.lane.type))
}

const claimed = (
  lanes: VirtualLanes,
  reading: LaneReading,
  workerId: string,
  slot: string,
  { entryId, taskId, deliveryCount }: Pick<PendingEntry, 'entryId' | 'taskId' | 'deliveryCount'>,
): Claim => {
  const { lane, visibilityTimeoutMs, cap } = reading
  const isCapped = cap !== undefined
  if (isCapped) lanes.caps.hold(lane.type, holderOf(reading, entryId), lanes.now() + visibilityTimeoutMs)
  return { taskId, lane, entryId, slot, workerId, deliveryCount, visibilityTimeoutMs, isCapped }
}
