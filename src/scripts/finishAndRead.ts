import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { ClaimSetting } from './claimWire.js'
import { endTaskLua } from './endTaskLua.js'
import { finishAttemptLua } from './finishAttemptLua.js'
import { finishClaimLua } from './finishClaimLua.js'
import { attemptLua, beginAttemptLua, bellLua, enqueueLua, fenceLua, settleLua, timeLua } from './fragments.js'
import { readLanesLua } from './readLanesLua.js'
import { removeEntriesLua } from './removeEntriesLua.js'
import { defineScript, runScript } from './runScript.js'
import { claimsLua, takeEntryLua } from './takeEntry.js'
import { treeLua } from './treeLua.js'
import type { Turn } from './turn.js'
import { turnArguments } from './turnArguments.js'
import { turnReply, type TurnReply } from './turnReply.js'
import { usualTurnLua } from './usualTurnLua.js'

/**
 * What a worker has to say to Redis in one turn: ends the attempts of claims, then reads for the slots that are free by
 * then. See finishClaim and readLanes for what each of them does, and usualTurn for what is usual; neither fails with the
 * other. Entries are settled together, lane by lane, because one that is deleted alone costs as much as the rest of its task.
 *
 * KEYS: 1 root, 2… the streams of the lanes to be read.
 * ARGV: as takeEntry takes them, then parts until the end. Attempts of one lane are told as `u`, lane, number of attempts, if
 * their worker is the one of the reading, they have no policy and the lane has no cap; as `b`, lane, cap type, number, worker,
 * the policy and its times (see policyFields); or as `a`, lane, cap type, number, if worker and policy are those of the part
 * before. Each attempt follows: task id, entry id, started, then `r` and the result, if it is the first run of a task that has nothing but
 * a payload, and succeeded with a result in one field, else kind, run, number of arguments that follow, and what finishClaim takes. Entries that are
 * to be settled: `e`, lane, cap type, number; for each consumer, id, deliveries. Entries that were settled before and left in
 * their stream: `x`, lane, number, ids; in front of the attempts of that lane.
 * Returns one list: now; the number of attempts if all have succeeded and there is nobody else to tell, or else the answers of
 * finishClaim; nil, or: the error of the reading ('' for none), positions of the lanes that are at their cap, entries that were
 * set aside (see takeEntry), 1 or 0 for each entry that was to be settled (0: its consumer does not own it any more); then the
 * claims, for slot after slot: position of the lane and of the slot whose consumer owns it, where these are others than
 * before, or than 1 and 1; entry id, task id, and where rows are joint time of submission and payload; or a list as takeEntry makes it.
 * Cost: for a claim one read, one row read and one written; for an attempt one row read and one written; for a lane two
 * commands, and one read more if it turns out empty.
 */
const script = defineScript(
  'finishAndRead',
  timeLua +
    claimsLua +
    `
local ways
local function entries()
  if ways then return ways end
` +
    fenceLua +
    removeEntriesLua +
    `
  ways = { owns = owns, removeEntries = removeEntries, removeSettled = removeSettled }
  return ways
end

local known
local function generally()
  if known then return known end
  local now = tonumber(nowText)
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
  known = { ring = ring, release = release, finishClaim = finishClaim, lanes = lanes, take = take, readLanes = readLanes }
  return known
end
` +
    usualTurnLua,
)

/**
 * The typed caller of the script above. What came with an error of the reading is claimed all the same. Attempts and claims are
 * answered in the order given.
 *
 * @example
 * const turn = { ...NOTHING_TO_SAY, reading: request }
 * const { read } = await finishAndRead(connection, keys('svc/'), { group: 'runner', isJoint: false }, turn)
 */
export const finishAndRead = async (
  connection: Connection,
  keys: Keys,
  setting: ClaimSetting,
  turn: Turn,
): Promise<TurnReply> => {
  const told = turnArguments(keys, setting, turn)
  const reply = turnReply(script.name, await runScript(connection, script, told.keys, told.args), turn, setting.isJoint)
  if (!told.attempts && !told.entries) return reply
  const { finished, read, settled } = reply
  return { finished: inOrder(finished, told.attempts), read, settled: inOrder(settled, told.entries) }
}

/** Puts each answer where its question stood. */
const inOrder = <T>(answers: readonly T[], positions: readonly number[] | undefined): readonly T[] => {
  if (!positions) return answers
  const ordered = new Array<T>(answers.length)
  for (let at = 0; at < positions.length; at++) ordered[positions[at] as number] = answers[at] as T
  return ordered
}
