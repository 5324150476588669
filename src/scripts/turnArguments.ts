import type { Claim } from '../claim/claim.js'
import type { Keys } from '../keys/keys.js'
import { encodeWorkerId } from '../rows/attemptText.js'
import { FirstRun } from '../rows/firstRun.js'
import { textFields } from '../rows/textFields.js'
import { claimArguments, type ClaimRequest, type ClaimSetting } from './claimWire.js'
import type { FinishedClaim } from './finishAndRead.js'
import { outcomeFields } from './outcomeFields.js'
import { parkedMember } from './parkedMember.js'
import { policyFields } from './policyFields.js'

/** What a turn says to the script, and in which order it has told what it was given. */
export interface TurnArguments {
  readonly keys: string[]
  readonly args: string[]
  /** Positions of the attempts in the list that was given, in the order of the arguments. */
  readonly attempts: readonly number[]
  /** Likewise of the entries that are to be settled. */
  readonly entries: readonly number[]
}

/**
 * KEYS and ARGV of finishAndRead. Each argument costs the server 900 instructions, so what is usual is told in few.
 *
 * @example
 * const { args } = turnArguments(keys('svc/'), { group: 'runner', isJoint: true }, [], request, [], false, [])
 */
export const turnArguments = (
  keys: Keys,
  setting: ClaimSetting,
  finishing: readonly FinishedClaim[],
  request: ClaimRequest,
  settling: readonly Claim[],
  isLoaded: boolean,
  left: readonly Claim[],
): TurnArguments => {
  const workerId = request.slots.length > 0 ? request.workerId : (finishing[0]?.input.workerId ?? '')
  const [scriptKeys, args] = claimArguments(keys, setting, workerId, request, isLoaded)
  const attempts: number[] = []
  let before: FinishedClaim | undefined
  let leftByLane = left.length > 0 ? groupsOf(left) : NO_GROUPS
  for (const batch of batchesOf(finishing)) {
    const { lane } = (finishing[batch[0] as number] as FinishedClaim).claim
    leftByLane = leftByLane.filter((group) => {
      const isOfLane = left[group[0] as number]?.lane.name === lane.name
      if (isOfLane) pushLeft(args, left, group)
      return !isOfLane
    })
    before = pushBatch(args, finishing, batch, workerId, before)
    for (const at of batch) attempts.push(at)
  }
  for (const group of leftByLane) pushLeft(args, left, group)
  const entries: number[] = []
  for (const group of groupsOf(settling)) {
    pushGroup(args, settling, group)
    for (const at of group) entries.push(at)
  }
  return { keys: scriptKeys, args, attempts, entries }
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

/** @returns the attempt that the next batch may be alike */
const pushBatch = (
  args: string[],
  finishing: readonly FinishedClaim[],
  batch: Batch,
  readerId: string,
  before: FinishedClaim | undefined,
): FinishedClaim => {
  const first = finishing[batch[0] as number] as FinishedClaim
  const { claim, input } = first
  const count = String(batch.length)
  if (!claim.isCapped && input.workerId === readerId && !input.retentionPolicy) args.push('u', claim.lane.name, count)
  else {
    const isAlikeBefore = before !== undefined && isToldAlike(before, first)
    args.push(isAlikeBefore ? 'a' : 'b', claim.lane.name, claim.isCapped ? claim.lane.type : '', count)
    if (!isAlikeBefore) args.push(encodeWorkerId(input.workerId), ...policyFields(input.retentionPolicy))
  }
  for (const at of batch) pushAttempt(args, finishing[at] as FinishedClaim)
  return first
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

const NO_GROUPS: Batch[] = []

const pushLeft = (args: string[], left: readonly Claim[], group: Batch): void => {
  args.push('x', left[group[0] as number]?.lane.name ?? '', String(group.length))
  for (const at of group) args.push(left[at]?.entryId ?? '')
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
  args.push('e', lane.name, isCapped ? lane.type : '', String(group.length))
  for (const at of group) {
    const { consumer, entryId, deliveryCount } = settling[at] as Claim
    args.push(consumer, entryId, String(deliveryCount))
  }
}
