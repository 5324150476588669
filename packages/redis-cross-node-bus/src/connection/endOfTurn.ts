import { Observable } from 'rxjs'

/**
 * Emits once the present turn of the event loop is over and whatever has arrived meanwhile was looked at. Not a matter
 * of time, hence no scheduler: a promise would be too early, since work that is done in one turn is often a chain of
 * promises.
 */
export const endOfTurn$ = new Observable<void>((out) => {
  const handle = setImmediate(() => {
    out.next()
    out.complete()
  })
  return () => clearImmediate(handle)
})
