import type { Claim } from '../claim/claim.js'
import type { Keys } from '../keys/keys.js'
import { encodeWorkerId } from '../rows/attemptText.js'
import { FirstRun } from '../rows/firstRun.js'
import { textFields } from '../rows/textFields.js'
import { claimArguments, type ClaimSetting, type ScriptArguments } from './claimWire.js'
import { outcomeFields } from './outcomeFields.js'
import { parkedMember } from './parkedMember.js'
import { policyFields } from './policyFields.js'
import type { FinishedClaim, Turn } from './turn.js'

/** What a turn says to the script, and in which order it has told what it was given. */
export interface TurnArguments extends ScriptArguments {
  /** Positions of the attempts in the list that was given, in the order of the arguments; `undefined`: as given. */
  readonly attempts: readonly number[] | undefined
  /** Likewise of the entries that are to be settled. */
  readonly entries: readonly number[] | undefined
}

/**
 * KEYS and ARGV of finishAndRead. Each argument costs the server 900 instructions, so what is usual is told in few.
 *
 * What a turn says is mostly of one lane and worker, which is looked at first: then nothing has to be put in order.
 *
 * @example
 * const turn: Turn = { ...NOTHING_TO_SAY, reading: request }
 * const { args } = turnArguments(keys('svc/'), { group: 'runner', isJoint: true }, turn)
 */
export const turnArguments = (keys: Keys, setting: ClaimSetting, turn: Turn): TurnArguments => {
  const { finishing, reading, settling, left, isLoaded } = turn
  const workerId = reading.slots.length > 0 ? reading.workerId : (finishing[0]?.input.workerId ?? '')
  const told = claimArguments(keys, setting, workerId, reading, isLoaded)
  const { args } = told
  const attempts = isAllAlike(finishing, left)
    ? pushTogether(args, finishing, left, workerId)
    : pushByLane(args, finishing, left, workerId)
  const entries = settling.length > 0 ? pushSettling(args, settling) : undefined
  return { keys: told.keys, args, attempts, entries }
}

/** Loops by index here and below: until code is compiled, which it hardly is where there is little to do, they take a third. */
const isAllAlike = (finishing: readonly FinishedClaim[], left: readonly Claim[]): boolean => {
  const first = finishing[0]
  for (let at = 1; at < finishing.length; at++) {
    if (!isAlike(first as FinishedClaim, finishing[at] as FinishedClaim)) return false
  }
  const name = (first?.claim ?? left[0])?.lane.name
  for (let at = 0; at < left.length; at++) if ((left[at] as Claim).lane.name !== name) return false
  return true
}

const pushTogether = (
  args: string[],
  finishing: readonly FinishedClaim[],
  left: readonly Claim[],
  workerId: string,
): undefined => {
  if (left.length > 0) pushLeft(args, left)
  if (finishing.length > 0) pushBatch(args, finishing, workerId, undefined)
  return undefined
}

/** What was left in a lane goes in front of what has ended there. */
const pushByLane = (
  args: string[],
  finishing: readonly FinishedClaim[],
  left: readonly Claim[],
  workerId: string,
): number[] => {
  const leftByLane = new Map<string, Claim[]>()
  for (const claim of left) {
    const claims = leftByLane.get(claim.lane.name)
    if (claims) claims.push(claim)
    else leftByLane.set(claim.lane.name, [claim])
  }
  const attempts: number[] = []
  let before: FinishedClaim | undefined
  for (const positions of batchesOf(finishing)) {
    const batch: FinishedClaim[] = []
    for (const at of positions) batch.push(finishing[at] as FinishedClaim)
    const first = batch[0] as FinishedClaim
    const { name } = first.claim.lane
    const claims = leftByLane.get(name)
    if (claims) pushLeft(args, claims)
    leftByLane.delete(name)
    pushBatch(args, batch, workerId, before)
    before = first
    for (const at of positions) attempts.push(at)
  }
  for (const claims of leftByLane.values()) pushLeft(args, claims)
  return attempts
}

/** Where attempts of one lane, worker and policy stand in the list given. */
const batchesOf = (finishing: readonly FinishedClaim[]): number[][] => {
  const batches: number[][] = []
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

/** @param before the attempts before it, of which worker and policy may be the same */
const pushBatch = (
  args: string[],
  batch: readonly FinishedClaim[],
  readerId: string,
  before: FinishedClaim | undefined,
): void => {
  const first = batch[0] as FinishedClaim
  const { claim, input } = first
  const count = String(batch.length)
  if (!claim.isCapped && input.workerId === readerId && !input.retentionPolicy) args.push('u', claim.lane.name, count)
  else {
    const isAlikeBefore = before !== undefined && isToldAlike(before, first)
    args.push(isAlikeBefore ? 'a' : 'b', claim.lane.name, claim.isCapped ? claim.lane.type : '', count)
    if (!isAlikeBefore) args.push(encodeWorkerId(input.workerId), ...policyFields(input.retentionPolicy))
  }
  for (let at = 0; at < batch.length; at++) pushAttempt(args, batch[at] as FinishedClaim)
}

const pushAttempt = (args: string[], { claim, input }: FinishedClaim): void => {
  const { taskId, attempt, startedAt, outcome } = input
  args.push(taskId, claim.entryId, String(startedAt))
  if (outcome.kind === 'succeeded') {
    pushResult(args, claim, attempt, outcome.resultJson)
    return
  }
  const { kind, text, error, delayMs } = outcomeFields(outcome)
  args.push(kind, String(attempt), '4', text, error, delayMs, parkedMember(taskId, claim.lane))
}

const pushResult = (args: string[], claim: Claim, attempt: number, resultJson: string | undefined): void => {
  if (resultJson === undefined) {
    args.push('succeeded', String(attempt), '0')
    return
  }
  const fields = textFields('r', resultJson)
  if (attempt !== 1 || fields.length !== 2 || !isUsual(claim)) {
    args.push('succeeded', String(attempt), String(fields.length))
  }
  for (const field of fields) args.push(field)
}

/** Whether the row had nothing but a payload when the attempt began. */
const isUsual = ({ begun }: Claim): boolean =>
  begun?.kind === 'begun' && begun.stored.task instanceof FirstRun && begun.stored.task.isUsual

const pushLeft = (args: string[], left: readonly Claim[]): void => {
  args.push('x', (left[0] as Claim).lane.name, String(left.length))
  for (let at = 0; at < left.length; at++) args.push((left[at] as Claim).entryId)
}

/** @returns the positions of the claims, in the order in which they are told */
const pushSettling = (args: string[], settling: readonly Claim[]): number[] => {
  const groups = new Map<string, number[]>()
  for (let at = 0; at < settling.length; at++) {
    const { lane, isCapped } = settling[at] as Claim
    const name = `${isCapped ? 'capped' : 'free'} ${lane.name}`
    const group = groups.get(name)
    if (group) group.push(at)
    else groups.set(name, [at])
  }
  const entries: number[] = []
  for (const group of groups.values()) {
    const { lane, isCapped } = settling[group[0] as number] as Claim
    args.push('e', lane.name, isCapped ? lane.type : '', String(group.length))
    for (const at of group) {
      const { consumer, entryId, deliveryCount } = settling[at] as Claim
      args.push(consumer, entryId, String(deliveryCount))
      entries.push(at)
    }
  }
  return entries
}
