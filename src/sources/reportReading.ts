import type { Report } from '../events/laneEvent.js'
import type { ReadReply } from '../port/lanePort.js'
import { reportSetAside } from './reportSetAside.js'

/**
 * Tells of the lanes that a read left alone because their type is at its cap, and of the entries that it set aside.
 *
 * @example
 * import { tap } from 'rxjs'
 * port.read(request).pipe(tap((reply) => reportReading(reply, report)))
 */
export const reportReading = (reply: ReadReply, report: Report | undefined): void => {
  if (reply.full.length > 0) report?.({ kind: 'capFull', lanes: reply.full })
  reportSetAside(reply, report)
}
