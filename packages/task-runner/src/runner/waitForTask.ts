import { concatMap, filter, Subscription, tap } from 'rxjs'

import { checkNumber } from '../argument/checkNumber.js'
import { checkObject } from '../argument/checkObject.js'
import { TaskCancelledError } from '../errors/taskCancelledError.js'
import { TaskFailedError } from '../errors/taskFailedError.js'
import { UnknownTaskError } from '../errors/unknownTaskError.js'
import { WaitTimeoutError } from '../errors/waitTimeoutError.js'
import type { Task } from '../task/task.js'
import { isTerminalStatus, type TaskStatus } from '../task/taskStatus.js'
import type { Clock } from '../time/clock.js'
import { snapshotOf } from './snapshotOf.js'
import type { TaskRunner } from './taskRunner.js'
import type { WaitForOptions } from './waitForOptions.js'

type Runner = Pick<TaskRunner, 'get' | 'updates$'>

/** Resolves with the result of a task, or rejects with the error that its end makes. */
export const waitForTask = async (
  runner: Runner,
  clock: Clock,
  taskId: string,
  options: WaitForOptions,
): Promise<unknown> => {
  const { signal, timeoutMs = Infinity } = checkObject('options', options)
  checkNumber('timeoutMs', timeoutMs, { min: 0, infinity: 'no limit' })
  signal?.throwIfAborted()
  const task = await untilEnded(runner, clock, taskId, timeoutMs, signal)
  if (task === undefined) throw new UnknownTaskError(taskId)
  if (task.status === 'cancelled') throw new TaskCancelledError(taskId, snapshotOf(task).reason)
  if (task.status === 'failed') throw new TaskFailedError(taskId, task.error ?? { name: 'Error', message: 'unknown' })
  return task.result
}

const untilEnded = (
  runner: Runner,
  clock: Clock,
  taskId: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Task | undefined> =>
  new Promise((resolve, reject) => {
    let status: TaskStatus | undefined
    const waiting = new Subscription()
    // The reason of a signal is whatever its owner gave.
    const fail = (error: unknown): void => {
      waiting.unsubscribe()
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was given
      reject(error)
    }
    const onAbort = (): void => fail(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    waiting.add(() => signal?.removeEventListener('abort', onAbort))
    const onTimeout = (): void => fail(new WaitTimeoutError(taskId, timeoutMs, status))
    waiting.add(clock.setTimer(onTimeout, timeoutMs, { keepAlive: true }))
    const task$ = runner.updates$(taskId).pipe(
      filter((update) => update.kind === 'status'),
      tap((update) => (status = update.status)),
      filter((update) => isTerminalStatus(update.status)),
      concatMap(() => runner.get(taskId)),
    )
    waiting.add(
      task$.subscribe({
        next: (task) => {
          waiting.unsubscribe()
          resolve(task)
        },
        error: fail,
      }),
    )
  })
