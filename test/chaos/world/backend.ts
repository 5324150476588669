import type { Fault } from '../faults/fault.js'
import type { AdminClient } from './adminClient.js'
import type { Way } from './way.js'

/** The Redis of a chaos run, of whatever shape, with the faults that it can have. */
export interface Backend extends AsyncDisposable {
  readonly kind: Way['kind']
  /** In front of every key. */
  readonly prefix: string
  /** How the process of that name gets there. */
  readonly wayOf: (process: string) => Promise<Way>
  /** Past everything that disturbs; leads to the node that has the data now. */
  readonly admin: () => Promise<AdminClient>
  /** Beyond what can be done to processes. */
  readonly faults: readonly Fault[]
}
