import { Observable, type SchedulerLike } from 'rxjs'

/** Bells hold at most one token; a token wakes one listener, the one that has waited longest. */
export interface VirtualBells {
  ring(bell: string): void
  /** Takes the token away that nobody has heard yet. */
  silence(bell: string): void
  /** Hands tokens to whoever waits; called at the end of an operation, as a server does after a script. */
  serve(): void
  /** Emits the first of the bells that has a token, or completes without one after `blockMs`. */
  listen(bells: readonly string[], blockMs: number): Observable<string>
}

interface Waiting {
  readonly bells: readonly string[]
  readonly hear: (bell: string) => void
}

/** Silent bells. */
export const virtualBells = (scheduler: SchedulerLike, latencyMs: number): VirtualBells => {
  const tokens = new Set<string>()
  const waiting = new Set<Waiting>()

  const takeToken = (bells: readonly string[]): string | undefined => {
    const bell = bells.find((name) => tokens.has(name))
    if (bell !== undefined) tokens.delete(bell)
    return bell
  }

  const serve = (): void => {
    for (const listener of waiting) {
      const bell = takeToken(listener.bells)
      if (bell === undefined) continue
      waiting.delete(listener)
      listener.hear(bell)
    }
  }

  function listen(bells: readonly string[], blockMs: number): Observable<string> {
    return new Observable((out) => {
      let onItsWay: string | undefined
      const answer = (bell: string | undefined): void => {
        onItsWay = undefined
        if (bell !== undefined) out.next(bell)
        out.complete()
      }
      const reply = (bell: string | undefined): void => {
        if (latencyMs === 0) {
          answer(bell)
          return
        }
        onItsWay = bell
        out.add(
          scheduler.schedule(() => {
            answer(bell)
          }, latencyMs),
        )
      }
      const listener: Waiting = {
        bells,
        hear: (bell) => {
          timeout.unsubscribe()
          reply(bell)
        },
      }
      const timeout = scheduler.schedule(() => {
        waiting.delete(listener)
        reply(undefined)
      }, blockMs)

      out.add(() => {
        timeout.unsubscribe()
        waiting.delete(listener)
        if (onItsWay === undefined) return
        tokens.add(onItsWay)
        serve()
      })
      waiting.add(listener)
      serve()
    })
  }

  return { ring: (bell) => tokens.add(bell), silence: (bell) => tokens.delete(bell), serve, listen }
}
