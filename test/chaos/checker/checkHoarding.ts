import type { LineOf } from '../history/chaosLine.js'
import { SLOTS } from '../run/settings.js'
import type { Check } from './check.js'
import { groupBy } from './groupBy.js'
import type { Readings } from './readings.js'

/** When a worker was last without trouble it has had time to give back what it could not settle. */
const LOOK_BACK_MS = 3_000

/**
 * G3. A worker never runs more handlers than it has slots, and never has more entries pending. A settlement that has to be
 * sent again may leave one more for a moment, and one that failed for longer: what is pending counts when it is seen twice
 * in a row, and nothing has disturbed the worker of late.
 */
export const checkHoarding: Check = (readings) => [...crowds(readings), ...hoards(readings)]

const crowds: Check = ({ runs }) => {
  // A parent whose run has ended because it could not spawn is never told, and writes nothing more.
  const told = runs.filter(({ type }) => type !== 'family')
  return [...groupBy(told, ({ by }) => by)].flatMap(([by, mine]) => {
    // Who has been told to stop has no slot any more, and may go on all the same.
    const holding = (at: number) =>
      mine.filter(({ from, to, signalAt = to }) => from <= at && at < Math.min(to, signalAt))
    const over = mine.find((run) => holding(run.from).length > SLOTS)
    return over
      ? [{ at: over.from, taskId: over.taskId, message: `${by} ran more than ${SLOTS} handlers at once` }]
      : []
  })
}

const hoards: Check = (readings) => {
  const samples = readings.of('pending')
  return samples.flatMap((sample, index) => {
    const before = countsOf(samples[index - 1])
    return [...countsOf(sample)].flatMap(([workerId, count]) => {
      const worker = readings.workerOf.get(workerId)
      if (!worker || count <= worker.slots || (before.get(workerId) ?? 0) <= worker.slots) return []
      if (isExcused(sample, worker.by, readings)) return []
      return [{ at: sample.at, message: `${worker.by} had ${count} entries pending, with ${worker.slots} slots` }]
    })
  })
}

const countsOf = (sample: LineOf<'pending'> | undefined): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const [consumer, count] of Object.entries(sample?.consumers ?? {})) {
    const workerId = consumer.replace(/-slot-\d+$/, '')
    counts.set(workerId, (counts.get(workerId) ?? 0) + count)
  }
  return counts
}

const isExcused = ({ at, startedAt }: LineOf<'pending'>, by: string, { lives, wasDisturbed }: Readings): boolean =>
  (lives.get(by)?.to ?? Infinity) < at || wasDisturbed(startedAt - LOOK_BACK_MS, at, by)
