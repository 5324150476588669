import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { type AnyTaskHandlerDescriptor, defineTaskHandler, type TaskContext } from '@furystack/task-runner'
import { finalize, map, type Observable, tap, timer } from 'rxjs'

import type { Note } from '../history/historyFile.js'
import { FLAKY_ATTEMPTS, FLAKY_DELAY_MS, POISON_DELIVERIES } from '../run/settings.js'
import type { ChaosPayload, TaskType } from './planTask.js'

/** What every handler returns: whose work it was, and of which run. */
export interface ChaosResult {
  readonly ref: string
  readonly nonce: string
  /** Of a family: refs of the children that have succeeded. */
  readonly succeeded?: readonly string[]
}

type Context = TaskContext<ChaosPayload>
type Work = (ctx: Context, payload: ChaosPayload) => Promise<Partial<ChaosResult> | undefined>

/** The handlers of a worker process, which write down what they do before and after they do it. */
export const chaosHandlers = (note: (note: Note) => void): AnyTaskHandlerDescriptor[] => {
  /** Writes down that a run has begun, and when it is told to stop. */
  const begin = (type: TaskType, { taskId, attempt, cancellationSignal }: Context, { ref }: ChaosPayload) => {
    const nonce = randomUUID()
    const run = { taskId, attempt }
    note({ kind: 'run', ...run, type, ref, nonce })
    const onSignal = (): void => note({ kind: 'signal', ...run, reason: nameOf(cancellationSignal.reason) })
    if (cancellationSignal.aborted) onSignal()
    else cancellationSignal.addEventListener('abort', onSignal, { once: true })
    return {
      result: { ref, nonce },
      end: (how: 'returned' | 'threw' | 'stopped'): void => note({ kind: 'end', ...run, how }),
    }
  }

  const logged =
    (type: TaskType, work: Work) =>
    async (ctx: Context, payload: ChaosPayload): Promise<ChaosResult> => {
      const { result, end } = begin(type, ctx, payload)
      try {
        const more = await work(ctx, payload)
        end('returned')
        return { ...result, ...more }
      } catch (error) {
        end(ctx.cancellationSignal.aborted ? 'stopped' : 'threw')
        throw error
      }
    }

  /** Gives its result after a while. It has no ear for its signal: the runner stops it, by leaving it. */
  function observe(ctx: Context, payload: ChaosPayload): Observable<ChaosResult> {
    const { result, end } = begin('observed', ctx, payload)
    let how: 'returned' | 'stopped' = 'stopped'
    return timer(payload.ms).pipe(
      map(() => result),
      tap({
        complete: () => {
          how = 'returned'
        },
      }),
      finalize(() => {
        end(how)
      }),
    )
  }

  const wait: Work = async ({ cancellationSignal }, { ms, isStubborn = false }) => {
    await pause(ms, undefined, isStubborn ? {} : { signal: cancellationSignal })
    return undefined
  }

  const fail: Work = async (ctx, payload) => {
    await wait(ctx, payload)
    if (ctx.attempt <= (payload.failures ?? 0)) throw new Error(`run ${ctx.attempt} of ${payload.ref} is to fail`)
    return undefined
  }

  const raise: Work = async (ctx, { ref, children = 0, generations = 1 }) => {
    const handles = []
    for (let n = 1; n <= children; n++) {
      const child = { ref: `${ref}/${n}`, ms: n * 60 }
      handles.push(
        generations > 1
          ? await ctx.spawnChild<ChaosPayload, ChaosResult>('family', { ...child, children: 2, generations: 1 })
          : // Every third one fails, which its parent does not mind.
            await ctx.spawnChild<ChaosPayload, ChaosResult>('child', {
              ...child,
              ...(n % 3 === 0 && { failures: 99 }),
            }),
      )
    }
    const run = { taskId: ctx.taskId, attempt: ctx.attempt }
    note({ kind: 'awaiting', ...run, children: handles.map(({ taskId }) => taskId) })
    const ends = await ctx.awaitChildrenSettled(handles)
    note({ kind: 'resumed', ...run })
    return { succeeded: ends.flatMap((end) => (end.status === 'succeeded' ? [end.result.ref] : [])) }
  }

  const die: Work = () => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => undefined)
  }

  const handler = (type: TaskType, work: Work, more: object = {}): AnyTaskHandlerDescriptor =>
    defineTaskHandler({ type, version: 1, handler: logged(type, work), ...more })

  return [
    handler('quick', wait),
    handler('slow', wait),
    handler('capped', wait),
    handler('tagged', wait),
    handler('endless', wait),
    handler('late', wait),
    defineTaskHandler({ type: 'observed', version: 1, handler: observe }),
    handler('child', fail),
    handler('family', raise),
    handler('fleeting', wait, { retentionPolicy: { keepRowDays: 0 } }),
    handler('poison', die, { maxDeliveries: POISON_DELIVERIES }),
    handler('flaky', fail, {
      retryPolicy: { maxAttempts: FLAKY_ATTEMPTS, backoff: 'linear', baseDelayMs: FLAKY_DELAY_MS, jitter: 0 },
    }),
  ]
}

const nameOf = (reason: unknown): string => (reason instanceof Error ? reason.name : String(reason))
