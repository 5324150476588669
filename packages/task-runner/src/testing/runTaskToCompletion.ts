import { checkNumber } from '../argument/checkNumber.js'
import { UnknownTaskError } from '../errors/unknownTaskError.js'
import { WaitTimeoutError } from '../errors/waitTimeoutError.js'
import type { TaskRunner } from '../runner/taskRunner.js'
import { isTerminalStatus } from '../task/taskStatus.js'
import type { Task } from '../task/task.js'
import { longTimeout } from '../time/longTimeout.js'
import type { ClockDriver } from './clockDriver.js'
import { driverOf } from './driverOf.js'

/**
 * What {@link runTaskToCompletion} takes.
 *
 * @example
 * const options: RunTaskToCompletionOptions = { runner, taskId, timeoutMs: 2_000 }
 * const task = await runTaskToCompletion(options)
 */
export interface RunTaskToCompletionOptions {
  /** Where the task is. */
  runner: Pick<TaskRunner, 'get'>
  /** The task. */
  taskId: string
  /** Milliseconds of real time, at least 0. @default 10_000 */
  timeoutMs?: number
  /** Milliseconds between two looks at the row, at least 1. @default 50 */
  pollIntervalMs?: number
}

/**
 * Looks at a task until it has ended, and resolves with its row, however it ended. Rejects with a `WaitTimeoutError` that
 * names the task, the time and the last status; and with an `UnknownTaskError` if the row was there and is no more, as with
 * a task that keeps nothing. It asks for nothing but rows, so it works whatever the bus does. Virtual time it moves on, from
 * one thing that is due to the next.
 *
 * @example
 * import { expect } from 'vitest'
 * const task = await runTaskToCompletion({ runner, taskId })
 * expect(task).toMatchObject({ status: 'failed', error: { name: 'RangeError' } })
 */
export const runTaskToCompletion = async (options: RunTaskToCompletionOptions): Promise<Task> => {
  const { runner, taskId, timeoutMs = 10_000, pollIntervalMs = 50 } = options
  checkNumber('timeoutMs', timeoutMs, { min: 0, infinity: 'no limit' })
  checkNumber('pollIntervalMs', pollIntervalMs, { min: 1 })
  const driver = driverOf.get(runner)
  if (driver !== undefined) return runVirtually(driver, runner, taskId, timeoutMs)
  const endsAt = performance.now() + timeoutMs
  let hasBeen = false
  for (;;) {
    const task = await runner.get(taskId)
    if (task !== undefined && isTerminalStatus(task.status)) return task
    if (hasBeen && task === undefined) throw new UnknownTaskError(taskId)
    hasBeen ||= task !== undefined
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) throw new WaitTimeoutError(taskId, timeoutMs, task?.status)
    await new Promise<void>((resolve) => longTimeout(resolve, Math.min(pollIntervalMs, leftMs), { keepAlive: true }))
  }
}

const runVirtually = async (
  driver: ClockDriver,
  runner: Pick<TaskRunner, 'get'>,
  taskId: string,
  timeoutMs: number,
): Promise<Task> => {
  let task = await runner.get(taskId)
  const hasEnded = await driver.runUntil(async () => {
    const hasBeen = task !== undefined
    task = await runner.get(taskId)
    if (hasBeen && task === undefined) throw new UnknownTaskError(taskId)
    return task !== undefined && isTerminalStatus(task.status)
  }, timeoutMs)
  if (!hasEnded || task === undefined) throw new WaitTimeoutError(taskId, timeoutMs, task?.status)
  return task
}
