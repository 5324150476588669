import type { Task } from '@furystack/task-runner'

import type { ChaosResult } from '../world/chaosHandlers.js'
import type { Check } from './check.js'
import type { Readings, Run } from './readings.js'

/** A late owner is told at the next sign of life; a machine at its limits may take this long over it. */
const TOLD_WITHIN_MS = 5_000
/** Between two lines of one process, which the machine may take away from it. */
const LEFT_WITHIN_MS = 1_000

/**
 * G2. No attempt is run twice; the result is that of the attempt which the row says has succeeded, after which there is
 * none; attempts are numbered without a gap; whoever has lost a task to somebody else is told so, and an Observable that
 * is told to stop has been left.
 */
export const checkOwners: Check = (readings) => [
  ...readings.runs.flatMap((run) => {
    const others = readings.runsOf(run.taskId)
    const first = others.find(({ attempt }) => attempt === run.attempt)
    // After a fail-over the row may be as it was before, and the same attempt comes again.
    if (first === run || !first || readings.mayBeLost(first.from, 'newest')) return []
    return [
      { at: run.from, taskId: run.taskId, message: `attempt ${run.attempt} was run by ${first.by} and ${run.by}` },
    ]
  }),
  ...readings.state.rows.flatMap((row) => rowFaults(row, readings).map((message) => ({ taskId: row.id, message }))),
  ...readings.runs.flatMap((run) => wasNotTold(run, readings)),
  ...readings.runs.flatMap((run) => wasNotLeft(run)),
]

const rowFaults = ({ id, status, attempts, result }: Task, { runsOf, mayBeLost }: Readings): string[] => {
  const faults: string[] = []
  attempts.forEach(({ attempt }, index) => {
    if (attempt !== index + 1) faults.push(`attempt ${attempt} is the row's number ${index + 1}`)
  })
  const open = attempts.filter((attempt) => attempt.status === 'in-progress')
  if (open.length > 0) faults.push(`attempt ${open[0]?.attempt} is in progress in the end`)
  const done = attempts.filter((attempt) => attempt.status === 'succeeded')
  if (done.length !== (status === 'succeeded' ? 1 : 0))
    faults.push(`${done.length} attempts of a ${status} task succeeded`)
  if (status !== 'succeeded') return faults
  const [success] = done
  if (success !== attempts.at(-1)) faults.push('there are attempts after the one that succeeded')
  const { nonce } = (result ?? {}) as Partial<ChaosResult>
  const owner = runsOf(id).find((run) => run.nonce === nonce)
  if (!owner) faults.push('its result is that of no run')
  else if (owner.attempt !== success?.attempt && !mayBeLost(owner.from, 'newest'))
    faults.push(`its result is that of attempt ${owner.attempt}, while attempt ${success?.attempt} succeeded`)
  return faults
}

const wasNotTold = (run: Run, { rows, runsOf, lives, wasDisturbed }: Readings): ReturnType<Check> => {
  if (rows.get(run.taskId)?.attempts[run.attempt - 1]?.status !== 'timed-out') return []
  const next = runsOf(run.taskId).find(({ attempt, from }) => attempt > run.attempt && from >= run.from)
  if (!next || next.from >= run.to) return []
  const limit = next.from + TOLD_WITHIN_MS
  const toldAt = run.signalAt ?? run.to
  if (toldAt <= limit || (lives.get(run.by)?.to ?? Infinity) <= limit) return []
  // While it is held up it hears nothing; it has the whole time from then on.
  if (wasDisturbed(next.from, limit, run.by)) return []
  const message = `${run.by} was not told that attempt ${next.attempt} had begun, and went on with attempt ${run.attempt}`
  return [{ at: next.from, taskId: run.taskId, message }]
}

/** It is left in the moment in which its signal fires. */
const wasNotLeft = ({ taskId, attempt, type, by, to, how, signalAt }: Run): ReturnType<Check> =>
  type !== 'observed' || signalAt === undefined || how === 'died' || to - signalAt <= LEFT_WITHIN_MS
    ? []
    : [{ at: signalAt, taskId, message: `${by} went on with attempt ${attempt}, an Observable that was to stop` }]
