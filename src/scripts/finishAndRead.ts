import type { FinishAttempt, FinishResult } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import type { ReadReply, ReadRequest } from '../port/lanePort.js'
import { encodeWorkerId } from '../rows/attemptText.js'
import { textFields } from '../rows/textFields.js'
import {
  claimArguments,
  type ClaimRequest,
  type ClaimSetting,
  decodeClaims,
  setAsideOf,
  type WireSetAside,
} from './claimWire.js'
import { endTaskLua } from './endTaskLua.js'
import { finishAttemptLua } from './finishAttemptLua.js'
import { finishClaimLua } from './finishClaimLua.js'
import { finishResultOf } from './finishResultOf.js'
import { attemptLua, beginAttemptLua, bellLua, clockLua, enqueueLua, fenceLua, settleLua } from './fragments.js'
import { outcomeFields } from './outcomeFields.js'
import { parkedMember } from './parkedMember.js'
import { policyFields } from './policyFields.js'
import { readLanesLua } from './readLanesLua.js'
import { removeEntriesLua } from './removeEntriesLua.js'
import { defineScript, runScript } from './runScript.js'
import { claimsLua, takeEntryLua } from './takeEntry.js'
import { treeLua } from './treeLua.js'
import { usualTurnLua } from './usualTurnLua.js'

/**
 * What a worker has to say to Redis in one turn: ends the attempts of claims, then reads for the slots that are free by
 * then. See finishClaim and readLanes for what each of them does, and usualTurn for what is usual; neither fails with the
 * other. Entries are settled together, lane by lane, because one that is deleted alone costs as much as the rest of its task.
 *
 * KEYS: 1 root, 2… the streams of the lanes to be read.
 * ARGV: as takeEntry takes them, then number of batches, and for each: lane, cap type, number of attempts, '' if worker and
 * policy are those of the batch before, else '1', the worker, the policy and its times (see policyFields); for each attempt
 * what finishClaim takes; then number of lanes to settle entries of, and for each: lane, cap type, number of entries; for each entry consumer, id, deliveries.
 * Returns: now, claims (see takeEntry), positions of the lanes that are at their cap, the error of the reading
 * ('' for none), the answers of finishClaim, the entries that were set aside (see takeEntry), 1 or 0 for each entry that was
 * to be settled (0: its consumer does not own it any more). Nil in place of an empty list.
 * Cost: for a claim one read, one row read and one written; for an attempt one row read and one written; for a lane two
 * commands, and one read more if it turns out empty.
 */
const script = defineScript(
  'finishAndRead',
  clockLua +
    claimsLua +
    fenceLua +
    removeEntriesLua +
    `
local function define()
` +
    bellLua +
    enqueueLua +
    settleLua +
    attemptLua +
    treeLua +
    endTaskLua +
    beginAttemptLua +
    finishAttemptLua +
    takeEntryLua +
    readLanesLua +
    finishClaimLua +
    `
return { ring = ring, release = release, finishClaim = finishClaim, lanes = lanes, take = take, readLanes = readLanes }
end
` +
    usualTurnLua,
)

/** An attempt to be ended, and the claim to be settled with it. */
export interface FinishedClaim {
  readonly claim: Claim
  readonly input: FinishAttempt
}

/** What came of each part. */
export interface FinishAndReadReply {
  /** In the order given; an error for what Redis refused. */
  readonly finished: ReadonlyArray<FinishResult | RedisRefusedError>
  readonly read: ReadReply | RedisRefusedError
  /** In the order given: whether the claim was still ours. */
  readonly settled: readonly boolean[]
}

const NOTHING_TO_READ: ReadRequest = { workerId: '', slots: [], lanes: [] }

/**
 * The typed caller of the script above. What came with an error of the reading is claimed all the same.
 *
 * @param settling claims whose entries are to be settled for good, without an attempt that would end with them
 *
 * @example
 * const { read } = await finishAndRead(connection, keys('svc/'), { group: 'runner', isJoint: false }, [], request)
 */
export const finishAndRead = async (
  connection: Connection,
  keys: Keys,
  setting: ClaimSetting,
  finishing: readonly FinishedClaim[],
  request: ClaimRequest = NOTHING_TO_READ,
  settling: readonly Claim[] = [],
): Promise<FinishAndReadReply> => {
  const [scriptKeys, args] = claimArguments(keys, setting, request)
  const batches = batchesOf(finishing)
  args.push(String(batches.length))
  let before: FinishedClaim | undefined
  for (const batch of batches) before = pushBatch(args, finishing, batch, before)
  const groups = groupsOf(settling)
  args.push(String(groups.length))
  for (const group of groups) pushGroup(args, settling, group)
  const reply = await runScript(connection, script, scriptKeys, args)
  const { claims, rest, now } = decodeClaims(script.name, reply, request)
  const [full, failure, answers, aside, owned] = rest as Rest
  const setAside = setAsideOf(aside ?? NONE, request)
  if ((answers ?? NONE).length !== finishing.length || (owned ?? NONE).length !== settling.length) {
    throw new ScriptReplyError(script.name, reply)
  }
  const finished = new Array<FinishResult | RedisRefusedError>(finishing.length)
  let next = 0
  for (const batch of batches) for (const at of batch) finished[at] = resultOf(now, answers?.[next++] as Answer)
  const settled = new Array<boolean>(settling.length)
  next = 0
  for (const group of groups) for (const at of group) settled[at] = owned?.[next++] === 1
  return {
    finished,
    read:
      failure !== '' && claims.length === 0
        ? new RedisRefusedError(script.name, failure)
        : {
            claims,
            full: (full ?? NONE).flatMap((position) => request.lanes[position - 1]?.lane ?? []),
            ...setAside,
          },
    settled,
  }
}

/** What follows the claims. */
type Rest = [
  full: number[] | null,
  failure: string,
  answers: Answer[] | null,
  aside: WireSetAside[] | null,
  owned: number[] | null,
]

const NONE: readonly never[] = []

/** 1: succeeded, and that is all; 2: and the row is gone. */
type Answer = 1 | 2 | string[]

const resultOf = (now: number, answer: Answer): FinishResult | RedisRefusedError => {
  if (answer === 1) return { kind: 'finished', status: 'succeeded', at: now }
  if (answer === 2) return { kind: 'finished', status: 'succeeded', at: now, removed: true }
  const [word, detail = ''] = answer
  return word === 'error' ? new RedisRefusedError('finishAttempt', detail) : finishResultOf(now, answer)
}

/** Where attempts of one lane, worker and policy stand in the list given. */
type Batch = number[]

const batchesOf = (finishing: readonly FinishedClaim[]): Batch[] => {
  const batches: Batch[] = []
  for (let at = 0; at < finishing.length; at++) {
    const step = finishing[at] as FinishedClaim
    const batch = batches.find((others) => isAlike(finishing[others[0] as number] as FinishedClaim, step))
    if (batch) batch.push(at)
    else batches.push([at])
  }
  return batches
}

const isAlike = (one: FinishedClaim, other: FinishedClaim): boolean =>
  one.claim.lane.name === other.claim.lane.name && isToldAlike(one, other)

/** Whether worker and policy are the same. */
const isToldAlike = (one: FinishedClaim, other: FinishedClaim): boolean =>
  one.input.workerId === other.input.workerId && one.input.retentionPolicy === other.input.retentionPolicy

const pushBatch = (
  args: string[],
  finishing: readonly FinishedClaim[],
  batch: Batch,
  before: FinishedClaim | undefined,
): FinishedClaim => {
  const first = finishing[batch[0] as number] as FinishedClaim
  const { lane, isCapped } = first.claim
  args.push(lane.name, isCapped ? lane.type : '', String(batch.length))
  if (before && isToldAlike(before, first)) args.push('')
  else args.push('1', encodeWorkerId(first.input.workerId), ...policyFields(first.input.retentionPolicy))
  for (const at of batch) pushAttempt(args, finishing[at] as FinishedClaim)
  return first
}

const pushAttempt = (args: string[], { claim, input }: FinishedClaim): void => {
  const { taskId, attempt, startedAt, outcome } = input
  args.push(taskId, String(attempt), claim.entryId, String(startedAt))
  if (outcome.kind === 'succeeded') return pushResult(args, outcome.resultJson)
  const { kind, text, error, delayMs } = outcomeFields(outcome)
  args.push(kind, '4', text, error, delayMs, parkedMember(taskId, claim.lane))
}

const pushResult = (args: string[], resultJson: string | undefined): void => {
  if (resultJson === undefined) {
    args.push('succeeded', '0')
    return
  }
  const fields = textFields('r', resultJson)
  args.push('succeeded', String(fields.length))
  for (const field of fields) args.push(field)
}

/** Where claims of one lane stand in the list given. */
const groupsOf = (settling: readonly Claim[]): Batch[] => {
  const byLane = new Map<string, Batch>()
  for (const [at, { lane, isCapped }] of settling.entries()) {
    const name = `${isCapped ? 'capped' : 'free'} ${lane.name}`
    const group = byLane.get(name)
    if (group) group.push(at)
    else byLane.set(name, [at])
  }
  return [...byLane.values()]
}

const pushGroup = (args: string[], settling: readonly Claim[], group: Batch): void => {
  const { lane, isCapped } = settling[group[0] as number] as Claim
  args.push(lane.name, isCapped ? lane.type : '', String(group.length))
  for (const at of group) {
    const { consumer, entryId, deliveryCount } = settling[at] as Claim
    args.push(consumer, entryId, String(deliveryCount))
  }
}
