import type { StoredTask } from '@furystack/task-runner'
import { expect } from 'vitest'

import { checkRecovered } from '../crashPoints/checkRecovered.js'
import type { LogLine } from '../crashPoints/scenario.js'
import { type Answer, BACKOFF_MS, LIMIT, type Plan, resultOf } from './plan.js'

/** What was asked of a world, beside its plans. */
export interface Asked {
  /** Tasks that somebody asked to cancel, whatever came of it. */
  readonly cancels: ReadonlySet<string>
  /** Tasks that had to end as cancelled, because they had not ended when the request was answered. */
  readonly doomed: ReadonlySet<string>
  /** Before when tasks must not begin, in epoch milliseconds. */
  readonly earliest: ReadonlyMap<string, number>
  /** Dead letters that somebody asked to send again, whatever came of it. */
  readonly resent: ReadonlySet<string>
  /** How tasks had ended when somebody looked. */
  readonly ends: ReadonlyMap<string, string>
}

/** Compares what a world has come to with what it had to come to. */
export const checkWorld = (rows: readonly StoredTask[], log: readonly LogLine[], asked: Asked): void => {
  checkRecovered({ rows, log })
  const byId = new Map(rows.map((row) => [row.task.id, row] as const))
  for (const row of rows) {
    const { id, status } = row.task
    const children = row.task.childTaskIds.flatMap((childId) => byId.get(childId) ?? [])
    expect(mayEnd(row, children, byId, asked), `${tell(row)} may end as it did`).toBe(true)
    if (asked.doomed.has(id)) expect(status, tell(row)).toBe('cancelled')
    if (!asked.resent.has(id)) expect(asked.ends.get(id) ?? status, `the end of ${tell(row)} is final`).toBe(status)
    checkAttempts(row)
    checkFailures(row)
    checkChildren(row, children)
    checkStart(row, asked)
    const chances = log.flatMap((line) =>
      line.kind === 'did' && line.taskId === id ? [line.what.split(' ').at(-1)] : [],
    )
    expect(new Set(chances).size, `numbers drawn by ${tell(row)}`).toBeLessThanOrEqual(1)
  }
}

const planOf = ({ task }: StoredTask): Plan => task.payload as Plan

const tell = ({ task, failures, losses }: StoredTask): string =>
  `${task.id} (${JSON.stringify(task.payload)}, ${task.status}, ${String(failures)} failures, ${String(losses)} losses)`

const mayEnd = (
  row: StoredTask,
  children: readonly StoredTask[],
  byId: ReadonlyMap<string, StoredTask>,
  asked: Asked,
): boolean => {
  const { status, result, type } = row.task
  const plan = planOf(row)
  if (status === 'cancelled') return wasCancelled(row, byId, asked)
  const planned = resultOf(plan)
  if (status === 'succeeded') return planned !== undefined && (result as Answer).value === planned
  if (planned === undefined) return true
  if (type === 'job' && row.losses >= LIMIT) return true
  const isWaiting = plan.does === 'beside' || plan.does === 'after'
  return isWaiting && children.some(({ task }) => task.status !== 'succeeded')
}

/** Somebody asked for it, for the task or for one above it, or its parent ended without it. */
const wasCancelled = ({ task }: StoredTask, byId: ReadonlyMap<string, StoredTask>, asked: Asked): boolean => {
  if (asked.cancels.has(task.id)) return true
  const parent = byId.get(task.parentTaskId ?? '')
  if (parent === undefined) return false
  // It has ended once before.
  if (asked.resent.has(parent.task.id)) return true
  return parent.task.status !== 'succeeded' || planOf(parent).does === 'leave' || wasCancelled(parent, byId, asked)
}

/** The result is that of the last run, and no run was early. */
const checkAttempts = (row: StoredTask): void => {
  const { attempts, status, result } = row.task
  if (status === 'succeeded') expect((result as Answer).workerId, tell(row)).toBe(attempts.at(-1)?.workerId)
  const resentAt = new Set(row.task.events.flatMap((event) => (event.kind === 'resent' ? [event.attempts] : [])))
  let failures = 0
  for (const [index, { status: was, finishedAt = '' }] of attempts.entries()) {
    if (resentAt.has(index + 1)) {
      failures = 0
      continue
    }
    const next = attempts[index + 1]
    if (was !== 'failed' || next === undefined) continue
    const pauseMs = BACKOFF_MS * 2 ** failures++
    expect(Date.parse(next.startedAt) - Date.parse(finishedAt), `the pause of ${tell(row)}`).toBeGreaterThanOrEqual(
      pauseMs,
    )
  }
}

const checkFailures = (row: StoredTask): void => {
  const { failures, losses, task } = row
  const plan = planOf(row)
  if (plan.does === 'fail') {
    expect(failures, tell(row)).toBeLessThanOrEqual(plan.times)
    if (task.status === 'failed') expect(failures, tell(row)).toBe(LIMIT)
  }
  if (plan.does === 'refuse' && task.status === 'failed') expect(failures, tell(row)).toBe(1)
  if (task.type === 'job') expect(losses, tell(row)).toBeLessThanOrEqual(LIMIT)
  if (task.status === 'failed' && plan.does === 'kill') expect(task.error?.name).toBe('MaxDeliveriesExceededError')
}

/** No child is spawned twice for the same step, unless it had not succeeded when its parent began anew. */
const checkChildren = (row: StoredTask, children: readonly StoredTask[]): void => {
  const plan = planOf(row)
  const steps = 'children' in plan ? plan.children.length : 0
  const beginnings = 1 + row.task.attempts.filter(({ status }) => status === 'failed').length
  const succeeded = children.filter(({ task }) => task.status === 'succeeded')
  expect(succeeded.length, `children of ${tell(row)} that succeeded`).toBeLessThanOrEqual(steps)
  expect(children.length, `children of ${tell(row)}`).toBeLessThanOrEqual(steps * beginnings)
  if (row.task.status !== 'succeeded' || plan.does === 'leave') return
  expect(succeeded.length, `children of ${tell(row)} that succeeded`).toBe(steps)
}

const checkStart = (row: StoredTask, { earliest }: Asked): void => {
  const [first] = row.task.attempts
  if (first === undefined) return
  const startedAt = Date.parse(first.startedAt)
  expect(startedAt, `the start of ${tell(row)}`).toBeGreaterThanOrEqual(earliest.get(row.task.id) ?? 0)
}
