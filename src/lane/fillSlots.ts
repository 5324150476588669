import { asapScheduler, asyncScheduler, NEVER, Observable, type Observer, type SchedulerLike, Subscription } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import { type WorkingClaim, WorkingClaims } from '../claim/workingClaims.js'
import type { ClaimSource } from '../sources/claimSource.js'
import type { Report } from '../events/laneEvent.js'

/**
 * How {@link fillSlots} behaves.
 *
 * @example
 * const options: FillSlotsOptions = { slots: ['w-slot-0', 'w-slot-1'], stop$, emptyPauseMs: 50 }
 */
export interface FillSlotsOptions {
  /** Consumer names of the slots; as many claims are worked on at once as there are. */
  readonly slots: readonly string[]
  /** When it emits, nothing further is asked for; what is on its way is delivered and worked on, then the lane completes. */
  readonly stop$?: Observable<unknown>
  /**
   * A second source, asked while a claim of the first is in flight: then Redis works on one half of the slots while this
   * process works on the other. Only asked as long as claims bring all that they ask for; it must not wait when it finds
   * nothing. @default none: one claim is in flight at a time
   */
  readonly ahead?: ClaimSource | undefined
  /** The least time from one asking that brought nothing to the next, in milliseconds. @default 10 */
  readonly emptyPauseMs?: number
  /** Where the pauses come from. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
  /** Kept up to date with the claims that are worked on, for whoever has to know them. @default nobody */
  readonly working?: WorkingClaims
  /** Told of claims beyond the demand. @default nobody */
  readonly report?: Report
}

/**
 * `mergeMap(work, slots)` whose outer side is asked: the free slots are the demand, one claim is in flight at a time and
 * brings at most one entry for each of them, so nothing is ever claimed that cannot start at once. With a source `ahead`
 * two are in flight under load, each for at most half of the slots, and none for a slot of the other.
 *
 *     slots s0 s1   source asked (s0,s1)  --(ab|)      work a  ---x|   b  -----y|
 *                   asked again (s0)           ---...  as soon as a's slot is free
 *     emits         -----x-y
 *
 * A slot's life is its work's subscription. The slot is free again with the first value that the work emits, or when the
 * work ends: a work that emits once its settlement has been *sent* lets settlement and next claim share a round trip.
 *
 * Emits: what the works emit.  Completes: after `stop$`, when everything has ended; never otherwise.
 * Errors: if the source or a work errors; both are expected to turn faults into values.
 * Unsubscribe: cuts the works; the source hands back what is still on its way.
 * Scheduler: pauses.  Buffers: nothing, but for claims that a source brought beyond the demand: they are reported, wait
 * for a slot, and nothing further is asked for meanwhile.
 *
 * @example
 * fillSlots(claims, work, { slots: ['w-slot-0', 'w-slot-1'], stop$ }).subscribe()
 */
export function fillSlots<Outcome>(
  source: ClaimSource,
  work: (claim: Claim) => Observable<Outcome>,
  options: FillSlotsOptions,
): Observable<Outcome> {
  const { slots, ahead, stop$ = NEVER, emptyPauseMs = 10, scheduler = asyncScheduler, report } = options
  const { working = new WorkingClaims() } = options
  return new Observable((out) => {
    const places = slots.map(placeOf)
    const byName = new Map(places.map((place) => [place.slot, place]))
    const half = Math.ceil(slots.length / 2)
    let busy = 0
    /** How many places are busy or asked for. */
    let taken = 0
    const excess: Claim[] = []
    let pending = Subscription.EMPTY
    let isClaiming = false
    let isClaimingAhead = false
    /** Whether the last claim brought all that it was asked for. */
    let isFlowing = false
    let isDraining = false
    let isAsked = false
    let isPlacing = false

    const fail = (reason: unknown): void => {
      out.error(reason)
    }

    out.add(() => {
      pending.unsubscribe()
      for (const { works } of places) works.unsubscribe()
    })

    const mayClaim = (): boolean => !isClaiming || (ahead !== undefined && isFlowing && !isClaimingAhead)

    const ask = (): void => {
      if (isAsked || out.closed) return
      if (isDraining) {
        if (working.size === 0 && excess.length === 0 && !isClaiming && !isClaimingAhead) out.complete()
        return
      }
      if (!mayClaim() || taken >= slots.length || excess.length > 0) return
      isAsked = true
      // Slots that become free in one turn make one demand.
      pending = asapScheduler.schedule(() => {
        isAsked = false
        if (isDraining || out.closed || !mayClaim()) ask()
        else claim()
      })
    }

    const freePlaces = (): Place[] => {
      const limit = ahead && isFlowing ? half : slots.length
      const free: Place[] = []
      for (const place of places) {
        if (free.length === limit) break
        if (!place.isBusy && !place.isAsked) free.push(place)
      }
      return free
    }

    const occupy = (place: Place): void => {
      if (!place.isAsked) taken++
      place.isAsked = false
      place.isBusy = true
      busy++
    }

    const vacate = (place: Place): void => {
      place.isBusy = false
      busy--
      taken--
    }

    const claim = (): void => {
      const demand = freePlaces()
      if (demand.length === 0) return
      const isAhead = isClaiming
      if (isAhead) isClaimingAhead = true
      else isClaiming = true
      for (const place of demand) place.isAsked = true
      taken += demand.length
      let brought = 0
      const askedAt = scheduler.now()
      const askAgain = (): void => {
        if (isAhead) isClaimingAhead = false
        else isClaiming = false
        ask()
      }
      tie(out, () => (isAhead && ahead ? ahead : source)(slotsOf(demand)), {
        next: (claimed) => {
          brought++
          start(claimed)
        },
        error: fail,
        complete: () => {
          for (const place of demand) {
            if (place.isAsked) taken--
            place.isAsked = false
          }
          isFlowing = brought >= demand.length
          if (brought > 0 || isDraining || isAhead) askAgain()
          else pending = scheduler.schedule(askAgain, Math.max(0, emptyPauseMs - (scheduler.now() - askedAt)))
        },
      })
      if (isFlowing) ask()
    }

    const start = (claimed: Claim): void => {
      const place = byName.get(claimed.slot)
      if (place && !place.isBusy) {
        run(claimed, place)
        return
      }
      report?.({ kind: 'overDelivered', claim: claimed })
      excess.push(claimed)
      placeExcess()
    }

    /** Claims beyond the demand take whatever slot is free. A loop, because their works may end at once. */
    const placeExcess = (): void => {
      if (isPlacing) return
      isPlacing = true
      while (excess.length > 0 && busy < slots.length && !out.closed) {
        const place = places.find(({ isBusy }) => !isBusy)
        const claimed = excess.shift()
        if (place && claimed) run(claimed, place)
      }
      isPlacing = false
    }

    const free = (work: Work<Outcome>): void => {
      if (!work.holdsSlot) return
      work.holdsSlot = false
      vacate(work.place)
      placeExcess()
      ask()
    }

    const works: Works<Outcome> = {
      next: (outcome, work) => {
        out.next(outcome)
        free(work)
      },
      fail,
      end: (work) => {
        working.remove(work.worked)
        free(work)
        ask()
      },
    }

    const run = (claimed: Claim, place: Place): void => {
      occupy(place)
      tie(place.works, () => work(claimed), new Work(works, place, working.add(claimed)))
    }

    /**
     * Inner subscriptions end with `outer`, also while they still deliver, so that a source can hand back the rest, and
     * leave it when they end; what throws errors the lane.
     */
    const tie = <T>(outer: Subscription, cold: () => Observable<T>, observer: Observer<T>): void => {
      new Observable<T>((inner) => {
        outer.add(inner)
        return cold().subscribe(inner)
      }).subscribe(observer)
    }

    out.add(
      stop$.subscribe({
        next: () => {
          isDraining = true
          ask()
        },
        error: (error: unknown) => {
          out.error(error)
        },
      }),
    )
    ask()
  })
}

/** A slot, and what becomes of it. Both its marks are off while it is free. */
interface Place {
  readonly slot: string
  isBusy: boolean
  /** A claim in flight was asked for it. */
  isAsked: boolean
  /** For each slot its own, because what leaves a subscription is looked for among all that it holds. */
  readonly works: Subscription
}

const placeOf = (slot: string): Place => ({ slot, isBusy: false, isAsked: false, works: new Subscription() })

/** What the works of a lane do to it. */
interface Works<Outcome> {
  next(outcome: Outcome, work: Work<Outcome>): void
  fail(reason: unknown): void
  end(work: Work<Outcome>): void
}

/**
 * Observes the work on one claim. A class, because there is one for each task in work: see "Classes for what is in work"
 * in docs/performance.md.
 */
class Work<Outcome> implements Observer<Outcome> {
  holdsSlot = true

  constructor(
    private readonly works: Works<Outcome>,
    readonly place: Place,
    readonly worked: WorkingClaim,
  ) {}

  next(outcome: Outcome): void {
    this.works.next(outcome, this)
  }

  error(reason: unknown): void {
    this.works.fail(reason)
  }

  complete(): void {
    this.works.end(this)
  }
}

/** By hand, because V8 makes another kind of array by `map` once it has compiled it, at which its users are compiled anew. */
const slotsOf = (places: readonly Place[]): string[] => {
  const slots: string[] = []
  for (const { slot } of places) slots.push(slot)
  return slots
}
