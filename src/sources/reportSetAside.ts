import type { Report } from '../events/laneEvent.js'
import type { SetAside } from '../port/lanePort.js'

/**
 * Tells of the entries that an operation set aside.
 *
 * @example
 * import { tap } from 'rxjs'
 * port.sweep(request).pipe(tap((reply) => reportSetAside(reply, report)))
 */
export const reportSetAside = (
  { setAside = [] }: { readonly setAside?: readonly SetAside[] },
  report: Report | undefined,
): void => {
  for (const entry of setAside) report?.({ kind: 'deadLettered', ...entry })
}
