import {
  destroyClient,
  duplicateClient,
  lastAnswers,
  leadsElsewhere,
  type Objection,
  type RedisClient,
  replyCode,
  type ServerLocator,
} from '@furystack/redis-connection'
import { Observable, type SchedulerLike, Subscription } from 'rxjs'
import { BusOptionError } from '../busOptionError.js'
import type { Link, LinkState } from './link.js'

/** How to connect. Times are milliseconds. */
export type LinkOptions = {
  /** Where the server is; what it finds is duplicated and otherwise left alone. */
  readonly server: ServerLocator
  /** Looks at the server before anything else is sent. */
  readonly check: (client: RedisClient) => Promise<Objection | undefined>
  /** What `CLIENT LIST` calls the connection; characters that Redis does not take in a name become `-`. */
  readonly name: string
  /** How long connecting may take, and a command that was written may go without any reply arriving. */
  readonly deadlineMs: number
  readonly scheduler: SchedulerLike
}

/** An idle connection gives a sign of life this often, lest something in between drops it unseen. */
const PING_AFTER_MS = 30_000
/** Maps arrive as arrays, by their type byte in RESP3: as objects they lose a key named `__proto__`. */
const typeMapping = { ['%'.charCodeAt(0)]: Array }

/**
 * One connection, by a client like the one that the locator finds.
 *
 *     ^--u------d#   ready, and then lost, or led to the wrong server
 *     ^-----d#       could not connect
 *
 * Subscribe: connects.  Emits: the link when it is ready, and that it is gone.  Errors: after that, with the reason; at
 * once with a {@link BusOptionError}.  Unsubscribe: cuts the connection; what is on its way is rejected.
 */
export function openLink({ server, check, name, deadlineMs, scheduler }: LinkOptions): Observable<LinkState> {
  return new Observable((out) => {
    const cut = new AbortController()
    const teardown = new Subscription()
    let template: RedisClient | undefined
    let client: RedisClient | undefined
    let link: Link | undefined
    let outstanding = 0
    let graceMs = 0
    let lastSign = scheduler.now()
    let suspected = -1
    let isLeaving = false

    const fail = (error: unknown): void => {
      if (template) server.doubt(template)
      if (!(error instanceof BusOptionError)) out.next({ error })
      out.error(error)
    }
    /** The next link opens when this one has its answers: so what is published keeps its order. */
    const leave = (error: unknown): void => {
      if (isLeaving) return
      if (!link || !client) return fail(error)
      isLeaving = true
      teardown.add(lastAnswers(client, { scheduler }).subscribe({ error: fail, complete: () => fail(error) }))
    }
    const open = async (): Promise<void> => {
      template = await server.template()
      if (out.closed) return
      client = duplicateClient(template, { name, signal: cut.signal, typeMapping })
      client.on('error', fail)
      await client.connect()
      const objection = await check(client)
      if (objection) throw new BusOptionError('client', objection.value, objection.allowed)
      lastSign = scheduler.now()
      link = linkOver(client)
      out.next({ link })
      server.reached()
    }
    const linkOver = (ready: RedisClient): Link => ({
      send: async (args, grace = 0) => {
        if (outstanding++ === 0) {
          lastSign = scheduler.now()
          graceMs = grace
        } else graceMs = Math.max(graceMs, grace)
        try {
          const reply = await ready.sendCommand(args)
          lastSign = scheduler.now()
          return reply
        } catch (error) {
          if (leadsElsewhere(replyCode(error))) leave(error)
          throw error
        } finally {
          outstanding--
        }
      },
      abandon: fail,
    })

    /**
     * Replies come in order, so "no reply at all while some are due" is one test for every command. The search for the
     * server and the handshake are one of them.
     */
    const look = (): void => {
      const silentMs = scheduler.now() - lastSign
      if (link && outstanding === 0) {
        // What becomes of it shows in the watchdog, or in the client's `error` event.
        if (silentMs >= PING_AFTER_MS) link.send(['PING']).catch(() => undefined)
        return
      }
      if (silentMs < deadlineMs + graceMs) return
      // If it was the event loop that stood still, replies wait to be read: they show before the next look.
      if (suspected === lastSign) fail(new Error(`No reply from Redis for ${silentMs} ms`))
      suspected = lastSign
    }
    teardown.add(
      scheduler.schedule(function () {
        look()
        this.schedule(undefined, deadlineMs / 4)
      }, deadlineMs / 4),
    )
    teardown.add(
      server.onMoved(() => {
        leave(new Error('Another server has taken over'))
      }),
    )
    teardown.add(() => {
      if (client) destroyClient(client)
      cut.abort()
    })
    open().catch(fail)
    return teardown
  })
}
