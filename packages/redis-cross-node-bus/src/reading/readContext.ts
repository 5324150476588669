import type { Observable, SchedulerLike } from 'rxjs'
import type { Link } from '../connection/link.js'
import type { StreamBook } from '../streams/streamBook.js'
import type { DeliveryContext } from './deliver.js'
import type { Routes } from './routes.js'

/** What reading on one connection needs to know. Times are milliseconds. */
export type ReadContext = DeliveryContext & {
  readonly link: Link
  readonly routes: Routes
  readonly book: StreamBook
  /** Lets the server end a blocking read on this connection; emits whether there was one. */
  unblock(): Observable<boolean>
  readonly blockMs: number
  readonly retentionMs: number
  /** Entries that are read of a stream at once, at most. Streams must not be kept shorter. */
  readonly count: number
  readonly scheduler: SchedulerLike
}
