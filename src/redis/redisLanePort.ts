import type { BegunTask, FinishResult } from '@furystack/task-runner'
import { map, Observable, tap } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { type Lane, parseLaneName } from '../keys/lane.js'
import { acquireLease } from '../scripts/acquireLease.js'
import { enqueueEntry } from '../scripts/enqueueEntry.js'
import { extendClaims } from '../scripts/extendClaims.js'
import { promoteDue } from '../scripts/promoteDue.js'
import { requeueEntry } from '../scripts/requeueEntry.js'
import { retireConsumers } from '../scripts/retireConsumers.js'
import { sweepLanes } from '../scripts/sweepLanes.js'
import { wakeWorker } from '../scripts/wakeWorker.js'
import type { LanePort, ReadReply, ReadRequest, Settlement, SettleReply } from '../port/lanePort.js'
import { listenThenRead } from './listenThenRead.js'
import type { Turns } from './turns.js'

/** What a {@link redisLanePort} works with. */
export interface RedisLanePortOptions {
  /** For everything but {@link LanePort.listen}. Never used for blocking commands. */
  readonly commands: Connection
  /** Takes what workers have to say in one turn. */
  readonly turns: Turns
  /** For blocking; one a worker. */
  readonly reader: Connection
  readonly keys: Keys
  readonly group: string
  /** Whether attempts begin in the claim step, because the rows live in the same Redis. */
  readonly isJoint: boolean
  readonly idempotencyTtlSec: number
}

/**
 * The lanes' operations over node-redis. The one place where promises become observables.
 *
 * @example
 * const setting = { keys: keys('svc/'), group: 'runner', isJoint: true, idempotencyTtlSec: 86_400 }
 * const port = redisLanePort({ commands: connection, turns, reader: connection, ...setting })
 * port.enqueue({ taskId: 'a', lane: lane('mail', 1) }).subscribe()
 */
export const redisLanePort = (options: RedisLanePortOptions): LanePort => {
  const { commands, turns, keys, group, idempotencyTtlSec } = options
  // `from(promise)` with `defer` around it, in one: each claim goes through here.
  const cold = <T>(command: () => Promise<T>): Observable<T> =>
    new Observable((out) => {
      command().then(
        (reply) => {
          out.next(reply)
          out.complete()
        },
        (error: unknown) => {
          out.error(error)
        },
      )
    })
  /** Whether a token was taken that a reader before this one may have left for the next. */
  let heardBell = false
  const read = async (request: ReadRequest): Promise<ReadReply> => {
    heardBell = false
    try {
      return await turns.read({ ...request, heardBell: true })
    } catch (error) {
      heardBell = true
      throw error
    }
  }
  const handBackAll = async (claims: readonly Claim[]): Promise<void> => {
    await Promise.all(claims.map((claim) => handBack(options, claim)))
  }
  const listening = { ...options, handBack: handBackAll }
  return {
    read(request) {
      return cold(() => (heardBell ? read(request) : turns.read(request)))
    },
    sweep(request) {
      return cold(() => sweepLanes(commands, keys, options, request))
    },
    listen(request) {
      return listenThenRead(listening, request).pipe(
        tap({
          next: ({ bell }) => {
            if (request.slots.length > 0) heardBell = false
            else if (bell !== undefined) heardBell = true
          },
          error: () => {
            heardBell = true
          },
        }),
      )
    },
    wake(workerId) {
      return cold(() => wakeWorker(commands, keys, workerId))
    },
    promote(request) {
      return cold(() => promoteDue(commands, keys, group, request))
    },
    settle(claim, settlement) {
      return cold(() => settle(options, claim, settlement))
    },
    extend(claims) {
      return cold(() => extendClaims(commands, keys, group, claims))
    },
    handBack(claims) {
      return cold(() => handBackAll(claims))
    },
    enqueue(entry) {
      return cold(() => enqueueEntry(commands, keys, group, entry))
    },
    knownLanes() {
      return cold(() => commands.send('knownLanes', ['SMEMBERS', keys.lanes])).pipe(map(lanesOf))
    },
    retire(request) {
      return cold(async () => {
        await retireConsumers(commands, keys, group, request)
      })
    },
    lease(input) {
      return cold(() => acquireLease(commands, keys, idempotencyTtlSec, input))
    },
  } satisfies LanePort
}

/** To put a claim back whose attempt has begun is to release the attempt; any other settlement is the entry's alone. */
const settle = async (options: RedisLanePortOptions, claim: Claim, settlement: Settlement): Promise<SettleReply> => {
  const { commands, keys, group } = options
  const { begun } = claim
  if (settlement.kind === 'done') return options.turns.settle(claim)
  if (begun?.kind !== 'begun') return requeueEntry(commands, keys, group, claim, settlement)
  const { delayMs = 0, notBefore } = settlement
  const result = await release(options, claim, begun, notBefore === undefined ? delayMs : notBefore - Date.now(), false)
  return result.kind === 'finished' ? 'settled' : 'lost'
}

const release = (
  { turns }: RedisLanePortOptions,
  claim: Claim,
  { attempt, at: startedAt }: BegunTask,
  delayMs: number,
  unstarted: boolean,
): Promise<FinishResult> => {
  const { taskId, workerId } = claim
  const outcome = { kind: 'released', delayMs: Math.max(0, delayMs), unstarted } as const
  return turns.finish({ claim, input: { taskId, attempt, workerId, startedAt, outcome } })
}

const handBack = async (options: RedisLanePortOptions, claim: Claim): Promise<void> => {
  const { begun } = claim
  if (begun?.kind === 'begun') await release(options, claim, begun, 0, true)
  else await settle(options, claim, { kind: 'requeue' })
}

const lanesOf = (reply: unknown): Lane[] => {
  if (!(reply instanceof Set) && !Array.isArray(reply)) throw new ScriptReplyError('knownLanes', reply)
  return [...(reply as Iterable<unknown>)]
    .map((name) => parseLaneName(String(name)))
    .filter((lane) => lane !== undefined)
}
