import type { ClaimBegun } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import type { Lane } from '../keys/lane.js'
import type { LaneReading, ReadRequest, SetAside } from '../port/lanePort.js'
import { encodeWorkerId } from '../rows/attemptText.js'
import { FirstAttempt } from '../rows/firstAttempt.js'
import { FirstRun } from '../rows/firstRun.js'
import { decodeRow } from '../rows/rowCodec.js'
import { limitText } from './limitText.js'
import { parentOf } from './parentOf.js'

/** What the claiming scripts are told beyond the request. */
export interface ClaimSetting {
  readonly group: string
  /** Whether attempts begin in the claim step. */
  readonly isJoint: boolean
}

/** What a claiming script is asked for. */
export interface ClaimRequest extends ReadRequest {
  /** Whether the asker has taken a bell's token since it last read: then others may be waiting for it. */
  readonly heardBell?: boolean
}

/** KEYS and ARGV of the scripts that claim, see takeEntry. */
export const claimArguments = (
  keys: Keys,
  { group, isJoint }: ClaimSetting,
  request: ClaimRequest,
): [keys: string[], args: string[]] => {
  const scriptKeys = [keys.root]
  const args = [
    group,
    encodeWorkerId(request.workerId),
    (isJoint ? 'j' : '') +
      (request.heardBell === true ? 'b' : '') +
      (request.isFlowing === true ? 'f' : '') +
      (request.lanes.some(({ cap }) => cap !== undefined) ? 'c' : ''),
    String(request.slots.length),
    ...request.slots,
  ]
  for (const reading of request.lanes) {
    scriptKeys.push(keys.queue(reading.lane))
    args.push(laneText(reading))
  }
  return [scriptKeys, args]
}

/** Readings are the same objects for as long as a worker lives, and there may be many in a call. */
const laneTexts = new WeakMap<LaneReading, string>()

/** What scripts are told of a lane beside its stream: visibility, limit of deliveries, cap and capped type ('' for none). */
const laneText = (reading: LaneReading): string => {
  const known = laneTexts.get(reading)
  if (known !== undefined) return known
  const { lane, visibilityTimeoutMs, cap, maxDeliveries } = reading
  const capText = cap === undefined ? '|' : `${String(cap)}|${lane.type}`
  const text = `${String(visibilityTimeoutMs)}|${limitText(maxDeliveries)}|${capText}`
  laneTexts.set(reading, text)
  return text
}

type WireClaim = [
  lane: number,
  slot: number,
  consumer: number,
  entryId: string,
  deliveries: number,
  taskId: string,
  word: string,
  detail?: string,
  ...row: Array<string | string[]>,
]

/** An entry that was set aside: position of its lane, id of the dead letter, letter of the reason (see deadLettersLua). */
export type WireSetAside = [lane: number, id: string, letter: string]

/** Turns what was set aside into the member of a reply. */
export const setAsideOf = (
  entries: readonly WireSetAside[],
  { lanes }: ReadRequest,
): { setAside?: readonly SetAside[] } =>
  entries.length === 0
    ? {}
    : {
        setAside: entries.map(([position, id, letter]) => ({
          id,
          lane: lanes[position - 1]?.lane.name ?? '',
          reason: letter === 'p' ? 'lost' : 'unreadable',
        })),
      }

/** Turns the reply of a claiming script into claims, and leaves what follows them to the caller. */
export const decodeClaims = (
  script: string,
  reply: unknown,
  request: ReadRequest,
): { claims: Claim[]; rest: unknown[]; now: number } => {
  if (!Array.isArray(reply) || !(Array.isArray(reply[1]) || reply[1] === null))
    throw new ScriptReplyError(script, reply)
  const [now, wireClaims, ...rest] = reply as [number, WireClaim[] | null, ...unknown[]]
  const claims: Claim[] = []
  for (const wire of wireClaims ?? []) {
    const reading = request.lanes[wire[0] - 1]
    const slot = request.slots[wire[1] - 1]
    const consumer = request.slots[wire[2] - 1]
    if (!reading || slot === undefined || consumer === undefined) throw new ScriptReplyError(script, wire)
    claims.push(new WireClaimed(wire, reading, slot, consumer, request.workerId, now))
  }
  return { claims, rest, now }
}

/** A class, because there is one for each task in work: see "Classes for what is in work" in docs/performance.md. */
class WireClaimed implements Claim {
  readonly taskId: string
  readonly lane: Lane
  readonly entryId: string
  readonly deliveryCount: number
  readonly visibilityTimeoutMs: number
  readonly isCapped: boolean
  declare readonly begun?: ClaimBegun

  constructor(
    wire: WireClaim,
    { lane, visibilityTimeoutMs, cap }: LaneReading,
    readonly slot: string,
    readonly consumer: string,
    readonly workerId: string,
    now: number,
  ) {
    this.taskId = wire[5]
    this.lane = lane
    this.entryId = wire[3]
    this.deliveryCount = wire[4]
    this.visibilityTimeoutMs = visibilityTimeoutMs
    this.isCapped = cap !== undefined
    if (wire[6] !== '') this.begun = begunOf(wire, lane, now)
  }
}

const begunOf = (wire: WireClaim, lane: Lane, now: number): ClaimBegun => {
  // By index, because V8 takes a list apart by its iterator until the code is compiled.
  const taskId = wire[5]
  const word = wire[6]
  if (word === 'missing') return { kind: 'refused', reason: 'missing' }
  try {
    if (word === 'first') return firstAttempt(wire, lane, now)
    const detail = wire[7] ?? ''
    const stored = decodeRow(taskId, wire[8] as string[])
    return word === 'cancelled' || word === 'failed'
      ? { kind: word, stored, at: now, ...parentOf(detail) }
      : { kind: 'begun', stored, attempt: Number(detail), at: now }
  } catch {
    // A row that cannot be read is as good as missing, and must not take its neighbours in the reply with it. The core
    // tells of a row that stays missing.
    return { kind: 'refused', reason: 'missing' }
  }
}

const firstAttempt = (wire: WireClaim, lane: Lane, now: number): FirstAttempt => {
  const texts = wire as string[]
  const task = new FirstRun(wire[5], lane, wire[7] ?? '', texts[8] as string, texts[9] ?? '')
  return new FirstAttempt(task, Number(texts[10] ?? '0'), (texts[11] ?? '') !== '', now)
}
