import { RUNNER_OPTIONS } from '../run/settings.js'
import type { Check } from './check.js'
import { groupBy } from './groupBy.js'
import type { Readings } from './readings.js'

/** What is promised of a call that is one command, and two seconds for a machine at its limits. */
const SETTLED_WITHIN_MS = 2.5 * RUNNER_OPTIONS.commandDeadlineMs + 2_000
/** These are several commands one after another: a cancel looks at the tree as well, a dead letter lies in one of two boxes. */
const OF_SEVERAL = new Set(['cancel', 'dead letters', 'resend'])
const SEVERAL_WITHIN_MS = 3 * SETTLED_WITHIN_MS
/** Something is run this soon after any fault: deadlines, a visibility, and whatever else was in the way. */
const HEALED_WITHIN_MS = 15_000
/** Connections are made anew this long after what a fault leaves behind. */
const REACHED_WITHIN_MS = 3_000
const FEW = 5

/**
 * G7. Calls settle in time, with an error that tells what became of them, and what was said to have had no effect had none;
 * something is run soon after every fault, and the server is reached again; no process ends by itself, and nothing stays uncaught.
 */
export const checkHealing: Check = (readings) => [
  ...callFaults(readings),
  ...untoldEffects(readings),
  ...openCalls(readings),
  ...wounds(readings),
  ...lastingRefusals(readings),
  ...deaths(readings),
  ...readings.of('uncaught').map(({ at, by, error }) => ({ at, message: `${by}: ${error}` })),
]

const callFaults: Check = ({ of, lines }) => {
  const slow = lines.flatMap((line) => {
    const isOfSeveral =
      line.kind === 'cancelled' || line.kind === 'resent' || (line.kind === 'refused' && OF_SEVERAL.has(line.call))
    if (!isOfSeveral && line.kind !== 'submitted' && line.kind !== 'rejected' && line.kind !== 'refused') return []
    const took = line.at - line.startedAt
    const stalledMs = of('stall')
      .filter(({ at, by }) => (by === line.by || by === 'executioner') && at >= line.startedAt && at <= line.at)
      .reduce((sum, { ms }) => sum + ms, 0)
    if (took - stalledMs <= (isOfSeveral ? SEVERAL_WITHIN_MS : SETTLED_WITHIN_MS)) return []
    return [{ at: line.at, message: `${line.by} had to wait ${took} ms until a call was ${line.kind}` }]
  })
  const untyped = [...of('rejected'), ...of('refused')]
    .filter(({ effect }) => effect === undefined)
    .map(({ at, by, error }) => ({ at, message: `${by} was given an error that does not tell its effect: ${error}` }))
  return [...slow, ...untyped]
}

const untoldEffects: Check = ({ of, runs }) => {
  const keyed = new Set(of('submitting').flatMap(({ ref, key }) => (key === undefined ? [] : [ref])))
  const excluded = new Map(of('rejected').map((line) => [line.ref, line]))
  return runs.flatMap(({ ref, taskId, from }) => {
    const line = excluded.get(ref)
    if (line?.effect !== 'excluded' || keyed.has(ref)) return []
    return [{ at: from, taskId, message: `${ref} was run, although its submission had no effect: ${line.error}` }]
  })
}

const openCalls: Check = ({ of, lives }) => {
  const settled = new Set(
    [...of('submitted'), ...of('rejected')].map(({ by, ref, startedAt }) => `${by} ${ref} ${startedAt}`),
  )
  const count = new Map<string, number>()
  const calls = of('submitting').filter(({ by }) => /code 0/.test(lives.get(by)?.how ?? ''))
  for (const { by, ref } of calls) count.set(`${by} ${ref}`, (count.get(`${by} ${ref}`) ?? 0) + 1)
  for (const key of settled) {
    const call = key.slice(0, key.lastIndexOf(' '))
    count.set(call, (count.get(call) ?? 0) - 1)
  }
  return calls
    .filter(({ by, ref }) => (count.get(`${by} ${ref}`) ?? 0) > 0)
    .map(({ at, by, ref }) => ({ at, message: `${by} has never been told what became of ${ref}` }))
}

const wounds = ({ of, runs, faults }: Readings): ReturnType<Check> =>
  faults.flatMap(({ name, to }) => {
    if (to === Infinity) return [{ message: `${name} has never ended` }]
    const later = of('submitted').filter(({ startedAt }) => startedAt >= to && startedAt < to + HEALED_WITHIN_MS / 2)
    // Of a few, all may be delayed, or too late. What is new may have to wait its turn: whatever is run counts.
    if (later.length < FEW || runs.some(({ from }) => from >= to && from <= to + HEALED_WITHIN_MS)) return []
    return [{ at: to, message: `nothing was run for ${HEALED_WITHIN_MS} ms after ${name}` }]
  })

/** What cannot reach the server finds its way again: for long after the last fault, no call fails for that reason. */
const lastingRefusals: Check = ({ of, wasDisturbed }) => {
  const lasting = [...of('rejected'), ...of('refused')]
    .filter(({ error }) => /^(?:RedisUnavailable|OutcomeUnknown)Error/.test(error))
    .filter(({ startedAt, at, by }) => !wasDisturbed(startedAt - REACHED_WITHIN_MS, at, by))
  // One of each process says it all.
  return [...groupBy(lasting, ({ by }) => by).values()]
    .flatMap((all) => all.slice(0, 1))
    .map(({ at, by, error }) => ({ at, message: `${by} could not reach a server that nothing stood before: ${error}` }))
}

const deaths: Check = ({ lives, runs }) => {
  const poisoned = new Set(runs.filter(({ type, how }) => type === 'poison' && how === 'died').map(({ by }) => by))
  return [...lives.values()]
    .filter(({ by, isMeant }) => !isMeant && !poisoned.has(by))
    .map(({ by, to, how }) => ({ at: to, message: `${by} ended by itself: ${how}` }))
}
