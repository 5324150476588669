import { Observable, type SchedulerLike } from 'rxjs'
import { duplicateClient } from './duplicateClient.js'
import type { Link, LinkState } from './link.js'
import type { RedisClient } from './redisClient.js'

/** How to connect. Times are milliseconds. */
export type LinkOptions = {
  readonly template: RedisClient
  /** What `CLIENT LIST` calls the connection; characters that Redis does not take in a name become `-`. */
  readonly name: string
  /** How long connecting may take, and a command that was written may go without any reply arriving. */
  readonly deadlineMs: number
  readonly scheduler: SchedulerLike
}

/** An idle connection gives a sign of life this often, lest something in between drops it unseen. */
const PING_AFTER_MS = 30_000

/**
 * One connection, by a duplicate of the template.
 *
 *     ^--u------d#   ready, and then lost
 *     ^-----d#       could not connect
 *
 * Subscribe: connects.  Emits: the link when it is ready, and that it is gone.  Errors: after that, with the reason.
 * Unsubscribe: cuts the connection; what is on its way is rejected.
 */
export function openLink({ template, name, deadlineMs, scheduler }: LinkOptions): Observable<LinkState> {
  return new Observable((out) => {
    const client = duplicateClient(template, name)
    let hasSocket = false
    let isReady = false
    let outstanding = 0
    let graceMs = 0
    let lastSign = scheduler.now()
    let suspected = -1

    const fail = (error: unknown): void => {
      out.next({ error })
      out.error(error)
    }
    const link: Link = {
      send: async (args, grace = 0) => {
        if (outstanding++ === 0) {
          lastSign = scheduler.now()
          graceMs = grace
        } else graceMs = Math.max(graceMs, grace)
        try {
          const reply = await client.sendCommand(args)
          lastSign = scheduler.now()
          return reply
        } finally {
          outstanding--
        }
      },
      abandon: fail,
    }

    client.on('error', fail)
    client.on('connect', () => {
      hasSocket = true
      // A client that is told to end before it has a socket comes up all the same, and cannot be ended a second time.
      if (out.closed) destroy(client)
    })
    client.on('ready', () => {
      isReady = true
      lastSign = scheduler.now()
      out.next({ link })
    })
    client.connect().catch(fail)

    /**
     * Replies come in order, so "no reply at all while some are due" is one test for every command. The handshake is
     * one of them.
     */
    const check = (): void => {
      const silentMs = scheduler.now() - lastSign
      if (isReady && outstanding === 0) {
        // What becomes of it shows in the watchdog, or in the client's `error` event.
        if (silentMs >= PING_AFTER_MS) link.send(['PING']).catch(() => undefined)
        return
      }
      if (silentMs < deadlineMs + graceMs) return
      // If it was the event loop that stood still, replies wait to be read: they show before the next look.
      if (suspected === lastSign) fail(new Error(`No reply from Redis for ${silentMs} ms`))
      suspected = lastSign
    }
    const watchdog = scheduler.schedule(function () {
      check()
      this.schedule(undefined, deadlineMs / 4)
    }, deadlineMs / 4)

    return () => {
      watchdog.unsubscribe()
      if (hasSocket) destroy(client)
    }
  })
}

function destroy(client: RedisClient): void {
  try {
    client.destroy()
  } catch {
    // A client that is closed already says so by throwing, which is what was wanted.
  }
}
