import type { FinishResult } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { ReadReply, ReadRequest } from '../port/lanePort.js'
import { ClaimedEntry } from './claimedEntry.js'
import { claimOf, setAsideOf, usualAttempt, type WireClaim, type WireSetAside } from './claimWire.js'
import { finishResultOf } from './finishResultOf.js'
import type { Turn } from './turn.js'

/** What came of each part of a turn. */
export interface TurnReply {
  /** In the order of the arguments; an error for what Redis refused. */
  readonly finished: ReadonlyArray<FinishResult | RedisRefusedError>
  readonly read: ReadReply | RedisRefusedError
  /** In the order of the arguments: whether the claim was still ours. */
  readonly settled: readonly boolean[]
}

/** 1: succeeded, and that is all; 2: and the row is gone. */
type Answer = 1 | 2 | string[]

/** What there seldom is. */
type Further = [failure: string, full: readonly number[], aside: readonly WireSetAside[], settled: ReadonlyArray<0 | 1>]

const NONE: readonly never[] = []

/**
 * Reads the reply of finishAndRead, which is one flat list, because to the server each table of a reply costs as much as
 * five values.
 *
 * @param script its name, for errors
 * @param turn what was said, which tells how many answers are due
 * @throws {ScriptReplyError} for anything else
 *
 * @example
 * turnReply('finishAndRead', ['1700000000000', 0, null], { ...NOTHING_TO_SAY, reading: request }, true).finished // []
 */
export const turnReply = (
  script: string,
  reply: unknown,
  { finishing, reading: request, settling }: Turn,
  isJoint: boolean,
): TurnReply => {
  if (!Array.isArray(reply) || reply.length < 3) throw new ScriptReplyError(script, reply)
  const now = Number(reply[0])
  const further = reply[2] as Further | null
  const answers = reply[1] as number | Answer[]
  const count = typeof answers === 'number' ? answers : answers.length
  if (count !== finishing.length || (further?.[3].length ?? 0) !== settling.length)
    throw new ScriptReplyError(script, reply)
  const claims = claimsOf(script, reply, request, isJoint, now)
  const finished: Array<FinishResult | RedisRefusedError> = []
  for (let at = 0; at < count; at++)
    finished.push(resultOf(now, typeof answers === 'number' ? 1 : (answers[at] as Answer)))
  if (!further) return { finished, read: { claims, full: NONE }, settled: NONE }
  const [failure, full, aside, owned] = further
  const read =
    failure !== '' && claims.length === 0
      ? new RedisRefusedError(script, failure)
      : {
          claims,
          full: full.flatMap((position) => request.lanes[position - 1]?.lane ?? []),
          ...setAsideOf(aside, request),
        }
  return { finished, read, settled: owned.map((answer) => answer === 1) }
}

/**
 * A number: position of the lane of what follows, and the next one that of the slot whose consumer owns it. A text: an entry
 * id, followed by the task's, and by time of submission and payload if its first run has begun. A list: see takeEntry.
 */
const claimsOf = (script: string, reply: unknown[], request: ReadRequest, isJoint: boolean, now: number): Claim[] => {
  const claims: Claim[] = []
  let reading = request.lanes[0]
  let consumer = request.slots[0]
  let at = 3
  while (at < reply.length) {
    const told = reply[at]
    if (typeof told === 'number') {
      reading = request.lanes[told - 1]
      consumer = request.slots[(reply[at + 1] as number) - 1]
      at += 2
    } else if (Array.isArray(told)) {
      claims.push(claimOf(script, told as WireClaim, request, now))
      at++
    } else {
      const slot = request.slots[claims.length]
      if (!reading || consumer === undefined || slot === undefined) throw new ScriptReplyError(script, reply)
      const taskId = reply[at + 1] as string
      const begun = isJoint
        ? usualAttempt(reading.lane, taskId, reply[at + 2] as string, reply[at + 3] as string, now)
        : undefined
      claims.push(new ClaimedEntry(reading, slot, consumer, request.workerId, told as string, 1, taskId, begun))
      at += isJoint ? 4 : 2
    }
  }
  return claims
}

const resultOf = (now: number, answer: Answer): FinishResult | RedisRefusedError => {
  if (answer === 1) return { kind: 'finished', status: 'succeeded', at: now }
  if (answer === 2) return { kind: 'finished', status: 'succeeded', at: now, removed: true }
  const [word, detail = ''] = answer
  return word === 'error' ? new RedisRefusedError('finishAttempt', detail) : finishResultOf(now, answer)
}
