import { concatMap, filter, Subscription, tap } from 'rxjs'

import { checkNumber } from '../argument/checkNumber.js'
import { checkObject } from '../argument/checkObject.js'
import { TaskCancelledError } from '../errors/taskCancelledError.js'
import { TaskFailedError } from '../errors/taskFailedError.js'
import { UnknownTaskError } from '../errors/unknownTaskError.js'
import { WaitTimeoutError } from '../errors/waitTimeoutError.js'
import { isTerminalStatus, type TaskStatus } from '../task/taskStatus.js'
import type { Clock } from '../time/clock.js'
import type { RemovedTask } from '../task/taskUpdate.js'
import { onAbort } from '../time/onAbort.js'
import { snapshotOf, type StatusUpdate } from './snapshotOf.js'
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
  const { status, reason, result, error } = await untilEnded(runner, clock, taskId, timeoutMs, signal)
  if (status === 'cancelled') throw new TaskCancelledError(taskId, reason)
  if (status === 'failed') throw new TaskFailedError(taskId, error ?? { name: 'Error', message: 'unknown' })
  return result
}

/** How a task ended: read from its row, or told by its last update where there is no row any more. */
type End = RemovedTask & Pick<StatusUpdate, 'status' | 'reason'>

const endOf = async (runner: Runner, { taskId, status, reason, removed }: StatusUpdate): Promise<End> => {
  if (removed !== undefined) return { status, ...(reason !== undefined && { reason }), ...removed }
  const task = await runner.get(taskId)
  if (task === undefined) throw new UnknownTaskError(taskId)
  return { ...task, ...snapshotOf(task) }
}

const untilEnded = (
  runner: Runner,
  clock: Clock,
  taskId: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<End> =>
  new Promise((resolve, reject) => {
    let status: TaskStatus | undefined
    const waiting = new Subscription()
    // The reason of a signal is whatever its owner gave.
    const fail = (error: unknown): void => {
      waiting.unsubscribe()
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was given
      reject(error)
    }
    if (signal !== undefined) waiting.add(onAbort(signal, () => fail(signal.reason)))
    const onTimeout = (): void => fail(new WaitTimeoutError(taskId, timeoutMs, status))
    waiting.add(clock.setTimer(onTimeout, timeoutMs, { keepAlive: true }))
    const end$ = runner.updates$(taskId).pipe(
      filter((update) => update.kind === 'status'),
      tap((update) => (status = update.status)),
      filter((update) => isTerminalStatus(update.status)),
      concatMap((update) => endOf(runner, update)),
    )
    waiting.add(
      end$.subscribe({
        next: (end) => {
          waiting.unsubscribe()
          resolve(end)
        },
        error: fail,
      }),
    )
  })
