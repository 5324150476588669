import { Observable } from 'rxjs'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { ringBell } from '../scripts/ringBell.js'
import type { Bell, ListenRequest } from '../port/lanePort.js'

/**
 * Blocks on the bells of lanes and caps (and of the schedule) until one rings or `blockMs` have passed.
 *
 * Why bells, and not a blocking XREADGROUP: COUNT is per stream, so a read over k lanes may hand out k entries for one
 * free slot; and an entry read that way still lacks its cap place and its attempt. A bell wakes exactly one waiting
 * worker, which then claims in the one script that claims.
 *
 * Subscribe: sends one BLPOP.  Emits: one bell or none.  Completes: with the reply.
 * Unsubscribe: a token that arrives afterwards is put back, so that another worker hears it.
 */
export function listenOnBells(
  { commands, reader, keys }: { commands: Connection; reader: Connection; keys: Keys },
  request: ListenRequest,
): Observable<Bell> {
  return new Observable((out) => {
    const bells = bellsOf(keys, request)
    const timeoutSec = String(request.blockMs / 1000)
    reader.send('listen', ['BLPOP', ...bells, timeoutSec], request.blockMs).then(
      (reply) => {
        const bell = Array.isArray(reply) ? String(reply[0]) : undefined
        if (bell === undefined) {
          out.complete()
        } else if (out.closed) {
          // Nobody waits for this answer any more, and a token that cannot be put back is only a wake-up lost:
          // idle workers look by themselves, at the latest after a second or `blockMs`.
          ringBell(commands, bell).catch(() => undefined)
        } else {
          out.next(bell === keys.scheduleBell ? 'schedule' : 'lanes')
          out.complete()
        }
      },
      (error: unknown) => {
        out.error(error)
      },
    )
  })
}

const bellsOf = (keys: Keys, { lanes, schedule }: ListenRequest): string[] => {
  const bells = new Set<string>()
  if (schedule) bells.add(keys.scheduleBell)
  for (const { lane, cap } of lanes) {
    bells.add(keys.bell(lane))
    if (cap !== undefined) bells.add(keys.capBell(lane.type))
  }
  return [...bells]
}
