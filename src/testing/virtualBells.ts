import { Observable, type SchedulerLike } from 'rxjs'

/** Bells hold at most one token; a token wakes one listener, the one that has waited longest. */
export interface VirtualBells {
  /** Leaves a token, which goes after `forgottenMs` if nobody has heard it; without it, it stays. */
  ring(bell: string, forgottenMs?: number): void
  /** Takes the token away that nobody has heard yet. */
  silence(bell: string): void
  /** Hands tokens to whoever waits; called at the end of an operation, as a server does after a script. */
  serve(): void
  /** Waits for the first of the bells that has a token, or for `blockMs`; emits what is answered in that moment. */
  listen<Reply>(bells: readonly string[], blockMs: number, after: AfterBell<Reply>): Observable<Reply>
}

/** What follows the end of a wait. */
export interface AfterBell<Reply> {
  /** What is done on the server, and answered. */
  readonly answer: (bell: string | undefined) => Reply
  /** Nobody waits for the answer any more. */
  readonly giveBack: (reply: Reply, bell: string | undefined) => void
}

interface Waiting {
  readonly bells: readonly string[]
  readonly hear: (bell: string) => void
}

/** Silent bells. */
export const virtualBells = (scheduler: SchedulerLike, latencyMs: number): VirtualBells => {
  /** By bell: until when it has its token. */
  const tokens = new Map<string, number>()
  const waiting = new Set<Waiting>()

  const hasToken = (bell: string): boolean => (tokens.get(bell) ?? 0) > scheduler.now()

  const ring = (bell: string, forgottenMs = Infinity): void => {
    if (!hasToken(bell)) tokens.set(bell, scheduler.now() + forgottenMs)
  }

  const takeToken = (bells: readonly string[]): string | undefined => {
    const bell = bells.find(hasToken)
    if (bell !== undefined) tokens.delete(bell)
    return bell
  }

  /** All that wait are served before any of them goes on, and what they do then may ring again. */
  const serve = (): void => {
    let heard: (() => void)[]
    do {
      heard = []
      for (const listener of waiting) {
        const bell = takeToken(listener.bells)
        if (bell === undefined) continue
        waiting.delete(listener)
        heard.push(() => {
          listener.hear(bell)
        })
      }
      for (const hear of heard) hear()
    } while (heard.length > 0)
  }

  function listen<Reply>(
    bells: readonly string[],
    blockMs: number,
    { answer, giveBack }: AfterBell<Reply>,
  ): Observable<Reply> {
    return new Observable((out) => {
      let giveBackLate: (() => void) | undefined
      const end = (bell: string | undefined): void => {
        timeout.unsubscribe()
        const reply = answer(bell)
        const arrive = (): void => {
          giveBackLate = undefined
          out.next(reply)
          out.complete()
        }
        if (out.closed) giveBack(reply, bell)
        else if (latencyMs === 0) arrive()
        else {
          giveBackLate = () => {
            giveBack(reply, bell)
            serve()
          }
          out.add(scheduler.schedule(arrive, latencyMs))
          serve()
        }
      }
      const listener: Waiting = { bells, hear: end }
      const timeout = scheduler.schedule(() => {
        waiting.delete(listener)
        end(undefined)
      }, blockMs)

      out.add(() => {
        timeout.unsubscribe()
        waiting.delete(listener)
        giveBackLate?.()
      })
      waiting.add(listener)
      serve()
    })
  }

  return { ring, silence: (bell) => tokens.delete(bell), serve, listen }
}
