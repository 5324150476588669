import { Observable } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { ListenReply, ListenRequest, ReadReply } from '../port/lanePort.js'
import type { ClaimSetting } from '../scripts/claimWire.js'
import { finishAndRead } from '../scripts/finishAndRead.js'
import { NOTHING_TO_SAY } from '../scripts/turn.js'
import { ringBell } from '../scripts/ringBell.js'
import type { Turns } from './turns.js'

/** What {@link listenThenRead} works with. */
export interface ListenThenReadSetting extends ClaimSetting {
  readonly commands: Connection
  /** For blocking; nothing else waits behind it. */
  readonly reader: Connection
  readonly turns: Turns
  readonly keys: Keys
  readonly handBack: (claims: readonly Claim[]) => Promise<unknown>
}

/**
 * Blocks on the bells of lanes and caps, of the worker and of the schedule, until one rings or `blockMs` have passed, and
 * reads. Both are sent in one write: what a client has sent behind a command that blocks is run as soon as that is served,
 * so an entry arrives together with the bell that rang for it.
 *
 * Why bells, and not a blocking XREADGROUP: COUNT is per stream, so a read over k lanes may hand out k entries for one
 * free slot; and an entry read that way still lacks its cap place and its attempt. A bell wakes exactly one waiting
 * worker, which then claims in the one script that claims.
 *
 *     reader   BLPOP, finishAndRead ---------(bell, claims)
 *     emits                         ---------(r|)
 *
 * What rang may have been sent by this very process, and Redis answers the one who waited first: so others who wait for an
 * answer are given theirs before, and a task is told to be pending before it is told to be claimed.
 *
 * Subscribe: sends both.  Emits: one reply.  Completes: with it.
 * Unsubscribe: claims that arrive afterwards are handed back, and a token that nothing was read for is put back, so that
 * another worker hears it.
 */
export function listenThenRead(setting: ListenThenReadSetting, request: ListenRequest): Observable<ListenReply> {
  const { commands, keys } = setting
  const passOn = (bell: string | undefined): void => {
    if (bell === undefined || bell === keys.workerBell(request.workerId)) return
    // A token that cannot be put back is only a wake-up lost: idle workers look by themselves after a while.
    ringBell(commands, bell).catch(() => undefined)
  }
  return new Observable((out) => {
    const wait = new Wait(setting, request)
    const passOnLate = (): void => {
      // That it failed is told by the answer, or there are claims and the next wait will meet it.
      wait.bell.then(passOn, () => undefined)
    }
    answerOf(setting, request, wait).then(
      async ({ reply, bell, isEarly }) => {
        if (reply.claims.length > 0 && commands.isAwaiting) await othersAnswered()
        if (isEarly) passOnLate()
        if (out.closed) {
          // Claims that cannot be handed back are recovered when their visibility ends.
          setting.handBack(reply.claims).catch(() => undefined)
          if (request.slots.length === 0 || bell === keys.scheduleBell) passOn(bell)
          return
        }
        out.next(toldReply(keys, request, reply, bell))
        out.complete()
      },
      (error: unknown) => {
        passOnLate()
        out.error(error)
      },
    )
  })
}

/** Their answers were written with this one, so they have been read once the sockets were looked at again. */
const othersAnswered = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

interface Answer {
  readonly reply: ReadReply
  readonly bell?: string | undefined
  /** Whether the wait goes on, although there are claims already. */
  readonly isEarly?: boolean
}

const NOTHING: ReadReply = { claims: [], full: [] }

const answerOf = async (setting: ListenThenReadSetting, request: ListenRequest, wait: Wait): Promise<Answer> => {
  if (request.slots.length === 0) return { reply: NOTHING, bell: await wait.bell }
  const reply = await readOf(setting, request)
  // On a cluster each command goes its own way around a slot that moves, so the read may have overtaken the wait.
  const hasOvertaken = !wait.isOver
  if (hasOvertaken && reply.claims.length > 0) return { reply, isEarly: true }
  let bell: string | undefined
  try {
    bell = await wait.bell
  } catch (error) {
    if (reply.claims.length === 0) throw error
    // The claims are ours all the same. What is wrong with the bells will be met by the next wait.
  }
  if (!hasOvertaken || bell === undefined) return { reply, bell }
  return { reply: await setting.turns.read({ ...request, heardBell: true }), bell }
}

/** Sends the read; called in the turn in which the wait was sent, so that both share a write. */
const readOf = async (setting: ListenThenReadSetting, request: ListenRequest): Promise<ReadReply> => {
  // Whether a token was taken is not known yet, and to ring once more does no harm.
  const { read } = await finishAndRead(setting.reader, setting.keys, setting, {
    ...NOTHING_TO_SAY,
    reading: { ...request, heardBell: true },
  })
  if (read instanceof Error) throw read
  return read
}

/** One BLPOP. */
class Wait {
  /** Whether it has been answered. */
  isOver = false
  /** The key that it took a token of. */
  readonly bell: Promise<string | undefined>

  constructor({ reader, keys }: ListenThenReadSetting, request: ListenRequest) {
    const { blockMs } = request
    const end = (): void => {
      this.isOver = true
    }
    this.bell = reader.send('listen', ['BLPOP', ...bellsOf(keys, request), String(blockMs / 1000)], blockMs).then(
      (reply) => {
        end()
        return Array.isArray(reply) ? String(reply[0]) : undefined
      },
      (error: unknown) => {
        end()
        throw error
      },
    )
    // Whoever waits for it is told, but may be waiting for the read first.
    this.bell.catch(() => undefined)
  }
}

const bellsOf = (keys: Keys, { workerId, lanes, schedule }: ListenRequest): string[] => {
  const bells = new Set([keys.workerBell(workerId)])
  if (schedule) bells.add(keys.scheduleBell)
  for (const { lane, cap } of lanes) {
    bells.add(keys.bell(lane))
    if (cap !== undefined) bells.add(keys.capBell(lane.type))
  }
  return [...bells]
}

const toldReply = (
  keys: Keys,
  { workerId }: ListenRequest,
  reply: ReadReply,
  bell: string | undefined,
): ListenReply => {
  if (bell === undefined || bell === keys.workerBell(workerId)) return reply
  return { ...reply, bell: bell === keys.scheduleBell ? 'schedule' : 'lanes' }
}
