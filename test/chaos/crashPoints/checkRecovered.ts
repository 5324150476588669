import { isTerminalStatus } from '@furystack/task-runner'
import { expect } from 'vitest'

import type { Outcome } from './scenario.js'

/** What has to be so after every recovery, whatever the tasks did. */
export const checkRecovered = ({ rows, log }: Outcome): void => {
  const byId = new Map(rows.map((row) => [row.task.id, row] as const))
  for (const line of log) {
    if (line.kind === 'told') expect(byId.has(line.taskId), `the row of a task that ${line.call} answered`).toBe(true)
  }
  for (const { task, openChildren, losses } of rows) {
    const { id, status, attempts, events } = task
    expect(isTerminalStatus(status), `the end of ${id}, which is ${status}`).toBe(true)
    expect(attempts.filter((attempt) => attempt.status === 'in-progress')).toEqual([])
    const done = attempts.findIndex((attempt) => attempt.status === 'succeeded')
    expect(done === -1 || done === attempts.length - 1, 'nothing after a success').toBe(true)
    expect(openChildren, `open children of ${id}`).toBeUndefined()
    // Whoever sends a task again gives it fresh counters.
    const resent = events.findLast((event) => event.kind === 'resent')?.attempts ?? 0
    expect(losses).toBe(attempts.slice(resent).filter((attempt) => attempt.status === 'timed-out').length)
    const completed = events.flatMap((event) => (event.kind === 'child-completed' ? [event.childTaskId] : []))
    for (const childId of new Set(completed)) {
      const again = byId.get(childId)?.task.events.filter(({ kind }) => kind === 'resent').length ?? 0
      const told = completed.filter((each) => each === childId).length
      expect(told, `ends of ${childId} that ${id} was told of`).toBeLessThanOrEqual(1 + again)
    }
    const runs = log.filter((line) => line.kind === 'ran' && line.taskId === id)
    expect(runs.length, `runs of ${id}`).toBeLessThanOrEqual(attempts.length)
    if (status === 'succeeded') expect(runs.length).toBeGreaterThan(0)
  }
}
