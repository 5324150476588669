import { isTerminalStatus, type Task } from '@furystack/task-runner'

import type { ChaosResult } from '../world/chaosHandlers.js'
import type { ChaosPayload } from '../world/planTask.js'
import type { Check } from './check.js'
import type { Readings } from './readings.js'

/**
 * G11. A parent is suspended once, woken once, when the last of its children has ended and not before; each of its children
 * was made once, and told it of one end.
 */
export const checkWakes: Check = (readings) =>
  readings.state.rows
    .filter(({ type }) => type === 'family')
    .flatMap((row) => familyFaults(row, readings).map((message) => ({ taskId: row.id, message })))

const familyFaults = (row: Task, { rows, runsOf, mayBeLost, losses }: Readings): string[] => {
  const { id, status, attempts, events, childTaskIds } = row
  // After a fail-over a family may have been put back by a moment, and do again what it has done.
  if (mayBeLost(Date.parse(row.submittedAt), 'newest') || losses.some(({ what }) => what === 'newest')) return []
  const faults: string[] = []
  const children = childTaskIds.flatMap((childId) => rows.get(childId) ?? [])
  if (new Set(childTaskIds).size !== childTaskIds.length) faults.push('a child is named twice')
  if (children.length !== childTaskIds.length) faults.push('a child is not there in the end')
  const refs = children.map(({ payload }) => (payload as ChaosPayload).ref)
  if (new Set(refs).size !== refs.length) faults.push('a child was made twice')

  const suspended = attempts.filter((attempt) => attempt.status === 'suspended').length
  if (suspended > 1) faults.push(`it was suspended ${suspended} times for one wait`)
  if (status === 'waiting' && children.every((child) => isTerminalStatus(child.status)))
    faults.push('it still waits, and all its children have ended')
  const told = events.flatMap((event) => (event.kind === 'child-completed' ? [event.childTaskId] : []))
  if (new Set(told).size !== told.length) faults.push('it was told twice of the end of a child')

  for (const { resumedAt, attempt, children: awaited = [] } of runsOf(id)) {
    if (resumedAt === undefined) continue
    const late = awaited.filter((childId) => !(Date.parse(rows.get(childId)?.terminalAt ?? '') <= resumedAt))
    if (late.length > 0) faults.push(`attempt ${attempt} was woken before ${late.length} of its children had ended`)
  }
  if (status !== 'succeeded') return faults
  const { children: planned = 0 } = row.payload as ChaosPayload
  if (children.length !== planned) faults.push(`it has ${children.length} children, not ${planned}`)
  const expected = children
    .filter((child) => child.status === 'succeeded')
    .map(({ payload }) => (payload as ChaosPayload).ref)
  const { succeeded = [] } = row.result as ChaosResult
  if (JSON.stringify([...expected].sort()) !== JSON.stringify([...succeeded].sort()))
    faults.push(`it was told that ${namesOf(succeeded)} had succeeded, and ${namesOf(expected)} did`)
  return faults
}

const namesOf = (refs: readonly string[]): string => (refs.length === 0 ? 'nobody' : refs.join(', '))
