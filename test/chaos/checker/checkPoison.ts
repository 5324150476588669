import { POISON_DELIVERIES, RUNNER_OPTIONS } from '../run/settings.js'
import type { Check } from './check.js'
import { groupBy } from './groupBy.js'

/**
 * G10. A task that kills its process is run as often as it may be, and no more; whatever has lost that many attempts has
 * failed for it, and nothing fails for it before; what has failed for good, and only that, lies in the dead letters. What
 * is sent again is sent once, however many ask for it at the same time, and is run again.
 */
export const checkPoison: Check = ({ of, state, runsOf, losses }) => {
  // A fail-over may forget an attempt that was run.
  const isSetBack = losses.some(({ what }) => what === 'newest')
  const dead = new Set(state.deadLetters)
  const resends = groupBy(of('resending'), ({ taskId }) => taskId)
  const answers = groupBy(of('resent'), ({ taskId }) => taskId)
  return state.rows.flatMap(({ id, type, status, error, attempts: all, events }) => {
    const faults: string[] = []
    const resent = events.flatMap((event) => (event.kind === 'resent' ? [event.attempts] : []))
    const told = answers.get(id)?.length ?? 0
    if (told > resent.length && !isSetBack)
      faults.push(`${told} were told that they had sent it again, and it was sent again ${resent.length} times`)
    if (resent.length > (resends.get(id)?.length ?? 0)) faults.push('it was sent again, and nobody had asked for it')
    if (resent.some((made) => all.length <= made) && status !== 'cancelled')
      faults.push('it was sent again, and never run')
    // What has been sent again has all its chances anew.
    const before = resent.at(-1) ?? 0
    const attempts = all.slice(before)
    const limit = type === 'poison' ? POISON_DELIVERIES : RUNNER_OPTIONS.maxDeliveries
    const lost = attempts.filter((attempt) => attempt.status === 'timed-out').length
    if (lost > limit) faults.push(`it was delivered again after ${limit} losses, and lost ${lost} times`)
    if (error?.name === 'MaxDeliveriesExceededError' && lost < limit)
      faults.push(`it failed as lost after ${lost} losses`)
    if (type === 'poison') {
      const { length } = runsOf(id).filter(({ attempt }) => attempt > before)
      if (length > limit + attempts.length - lost && !isSetBack) faults.push(`it was run ${length} times`)
      if (status === 'failed' && error?.name !== 'MaxDeliveriesExceededError')
        faults.push(`it failed with ${error?.name}`)
      if (status === 'succeeded') faults.push('it has succeeded')
    }
    if (status === 'failed' && !dead.has(id)) faults.push('it has failed, and is no dead letter')
    if (status !== 'failed' && dead.has(id)) faults.push(`it is a dead letter, and ${status}`)
    return faults.map((message) => ({ taskId: id, message }))
  })
}
