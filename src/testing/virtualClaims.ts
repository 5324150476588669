import type { Claim } from '../claim/claim.js'
import type { LaneReading, ReadReply, ReadRequest, SweepReply, SweepRequest } from '../port/lanePort.js'
import { capBell, laneBell, type VirtualLanes } from './virtualLanes.js'
import type { PendingEntry } from './virtualStream.js'

/**
 * Reads new entries: at most one a slot, lanes taking turns; paused and full lanes are not read. Where no lane is capped,
 * paused or without its group, each gives its share of the free slots at once, to the consumer of the first of them; under
 * load some of many lanes give several.
 */
export const readVirtually = (lanes: VirtualLanes, request: ReadRequest): ReadReply => {
  const { slots, workerId } = request
  const claims: Claim[] = []
  const full: LaneReading[] = []
  const wasRead = new Set<LaneReading>()
  const wasMade = new Set<LaneReading>()
  let open = request.lanes.filter((reading) => !isPaused(lanes, reading))
  let isUsual = lanes.paused.size === 0 && request.lanes.every(({ cap }) => cap === undefined)

  while (claims.length < slots.length && open.length > 0) {
    const still: LaneReading[] = []
    const free = slots.length - claims.length
    const share = Math.max(1, Math.floor(free / open.length))
    let givers = request.isFlowing === true ? Math.min(open.length, Math.ceil(free / 8)) : undefined
    for (const reading of open) {
      const consumer = slots[claims.length]
      if (consumer === undefined) still.push(reading)
      else if (!hasPlace(lanes, reading)) {
        full.push(reading)
        // What was delivered before the group was lost is new again, and others may have a place in it.
        if (wasMade.has(reading)) lanes.bells.ring(laneBell(reading.lane))
      } else {
        const stream = lanes.stream(reading.lane)
        if (!stream.hasGroup()) {
          isUsual = false
          wasMade.add(reading)
        }
        const left = slots.length - claims.length
        const wanted = isUsual
          ? givers === undefined
            ? Math.min(share, left)
            : Math.ceil(left / Math.max(1, givers--))
          : 1
        let found = 0
        while (found < wanted) {
          const entry = stream.readNext(consumer)
          if (!entry) break
          const slot = slots[claims.length] ?? consumer
          claims.push(claimed(lanes, reading, { workerId, slot, consumer }, { ...entry, deliveryCount: 1 }))
          found++
        }
        if (found > 0) wasRead.add(reading)
        if (found === wanted) still.push(reading)
        // A bell that rang for entries that are gone would wake an idle worker for nothing.
        else lanes.bells.silence(laneBell(reading.lane))
      }
    }
    open = still
  }

  // Another idle worker may have been waiting for the token that brought this one here.
  for (const reading of open) if (wasRead.has(reading)) lanes.bells.ring(laneBell(reading.lane))
  return { claims, full: full.map(({ lane }) => lane) }
}

/** Claims what was left idle beyond the visibility, at most one entry a slot; spares what the worker works on. */
export const sweepVirtually = (lanes: VirtualLanes, request: SweepRequest): SweepReply => {
  const { slots, workerId } = request
  const claims: Claim[] = []
  const positions = new Map<string, string>()
  let nextStaleMs = Infinity
  const couldBeStaleIn = (ms: number): void => {
    nextStaleMs = Math.min(nextStaleMs, ms)
  }
  const mine = `${workerId}-slot-`
  const working = Array.from(request.working ?? []).filter(({ consumer }) => slots.includes(consumer))
  const isWorkedOn = ({ lane, entryId }: PendingEntry): boolean =>
    working.some((claim) => claim.entryId === entryId && claim.lane.name === lane.name)
  const staleAfterMs = (entry: PendingEntry, visibilityTimeoutMs: number): number => {
    const { consumer } = entry
    if (!consumer.startsWith(mine) || !/^\d+$/.test(consumer.slice(mine.length))) return visibilityTimeoutMs
    if (!slots.includes(consumer) || isWorkedOn(entry)) return Infinity
    return request.isUnanswered === true ? 0 : visibilityTimeoutMs
  }

  for (const reading of request.lanes) {
    const { lane, visibilityTimeoutMs } = reading
    couldBeStaleIn(visibilityTimeoutMs)
    const stream = lanes.find(lane)
    const walked = stream?.walk(request.positions?.get(lane.name) ?? '-') ?? { entries: [], position: '-' }
    for (const pending of walked.entries) {
      const afterMs = staleAfterMs(pending, visibilityTimeoutMs)
      if (afterMs === Infinity) continue
      const staleInMs = afterMs - (lanes.now() - pending.idleSince)
      const slot = slots[claims.length]
      if (staleInMs > 0) couldBeStaleIn(staleInMs)
      else if (isPaused(lanes, reading) || !mayHold(lanes, reading, pending)) couldBeStaleIn(1_000)
      else if (slot === undefined) couldBeStaleIn(0)
      else {
        const taken = stream?.takeOver(pending.entryId, slot)
        if (taken) claims.push(claimed(lanes, reading, { workerId, slot, consumer: slot }, taken))
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
  { workerId, slot, consumer }: Pick<Claim, 'workerId' | 'slot' | 'consumer'>,
  { entryId, taskId, deliveryCount }: Pick<PendingEntry, 'entryId' | 'taskId' | 'deliveryCount'>,
): Claim => {
  const { lane, visibilityTimeoutMs, cap } = reading
  const isCapped = cap !== undefined
  if (isCapped) lanes.caps.hold(lane.type, holderOf(reading, entryId), lanes.now() + visibilityTimeoutMs)
  return { taskId, lane, entryId, slot, consumer, workerId, deliveryCount, visibilityTimeoutMs, isCapped }
}
