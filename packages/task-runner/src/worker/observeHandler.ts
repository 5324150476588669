import { Observable, type Subscription } from 'rxjs'

import type { RunEnd } from './run.js'

/** Who takes what an Observable handler gives. */
export interface HandlerObserver {
  /** Called first, so that the source can be left also while it still emits synchronously. */
  onSubscribe(subscribed: Subscription): void
  onValue(value: unknown): void
  /** Called once; never after the subscription was ended. */
  onEnd(end: RunEnd): void
}

/** Subscribes to what a handler returned. Nothing of it is kept but the last value, which is the result. */
export const observeHandler = (values$: Observable<unknown>, observer: HandlerObserver): void => {
  let last: unknown
  new Observable<unknown>((out) => {
    observer.onSubscribe(out)
    return values$.subscribe(out)
  }).subscribe({
    next: (value) => {
      last = value
      observer.onValue(value)
    },
    error: (error: unknown) => observer.onEnd({ kind: 'threw', error }),
    complete: () => observer.onEnd({ kind: 'returned', value: last }),
  })
}
