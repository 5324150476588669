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
import { ClaimedEntry } from './claimedEntry.js'
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

/** KEYS and ARGV of a script. */
export interface ScriptArguments {
  readonly keys: string[]
  readonly args: string[]
}

/**
 * KEYS and ARGV of the scripts that claim, see takeEntry.
 *
 * @param isLoaded whether what is settled in the same call may stay in its lane for now, if the read finds all it asks for
 */
export const claimArguments = (
  keys: Keys,
  { group, isJoint }: ClaimSetting,
  workerId: string,
  request: ClaimRequest,
  isLoaded = false,
): ScriptArguments => {
  const scriptKeys = [keys.root]
  const args = [
    group,
    encodeWorkerId(workerId),
    (isJoint ? 'j' : '') +
      (request.heardBell === true ? 'b' : '') +
      (request.isFlowing === true ? 'f' : '') +
      (isLoaded ? 'l' : '') +
      (request.lanes.some(({ cap }) => cap !== undefined) ? 'c' : ''),
    String(request.slots.length),
    ...request.slots,
  ]
  for (const reading of request.lanes) {
    scriptKeys.push(keys.queue(reading.lane))
    args.push(laneText(reading))
  }
  return { keys: scriptKeys, args }
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

/** A claim as takeEntry makes it. */
export type WireClaim = [
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

/**
 * Turns what takeEntry answers into a claim.
 *
 * @throws {ScriptReplyError} for a lane or slot that was not asked for
 */
export const claimOf = (
  script: string,
  wire: WireClaim,
  { lanes, slots, workerId }: ReadRequest,
  now: number,
): Claim => {
  const reading = lanes[wire[0] - 1]
  const slot = slots[wire[1] - 1]
  const consumer = slots[wire[2] - 1]
  if (!reading || slot === undefined || consumer === undefined) throw new ScriptReplyError(script, wire)
  const begun = wire[6] === '' ? undefined : begunOf(wire, reading.lane, now)
  return new ClaimedEntry(reading, slot, consumer, workerId, wire[3], wire[4], wire[5], begun)
}

/**
 * A row that cannot be read is as good as missing, and must not take its neighbours in the reply with it. The core tells of a
 * row that stays missing.
 */
const UNREADABLE: ClaimBegun = { kind: 'refused', reason: 'missing' }

/**
 * The first attempt of a task whose row holds nothing but its payload.
 *
 * @param submitted epoch milliseconds; so is `now`
 * @param payload JSON; '' for none
 */
export const usualAttempt = (
  lane: Lane,
  taskId: string,
  submitted: string,
  payload: string,
  now: number,
): ClaimBegun => {
  try {
    return new FirstAttempt(new FirstRun(taskId, lane, payload, submitted, '', true), 0, false, now)
  } catch {
    return UNREADABLE
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
    return UNREADABLE
  }
}

const firstAttempt = (wire: WireClaim, lane: Lane, now: number): FirstAttempt => {
  const texts = wire as string[]
  const task = new FirstRun(wire[5], lane, wire[7] ?? '', texts[8] as string, texts[9] ?? '')
  return new FirstAttempt(task, Number(texts[10] ?? '0'), (texts[11] ?? '') !== '', now)
}
