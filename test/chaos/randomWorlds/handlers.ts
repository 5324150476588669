import {
  type AnyTaskHandlerDescriptor,
  defineTaskHandler,
  NonRetryableError,
  type TaskContext,
} from '@furystack/task-runner'

import type { Link } from '../../support/link.js'
import type { HandlerStage } from '../crashPoints/scenario.js'
import { type Answer, BACKOFF_MS, LIMIT, type Plan, TYPES } from './plan.js'

/** What handlers know beside their tasks. */
export interface Surroundings {
  readonly link: Link
  readonly workerId: () => string
  /** How often a task has failed, or killed its process; known to all processes. */
  readonly misdeeds: Map<string, number>
}

/** Handlers that do what the payload of their task says. */
export const planHandlers = (
  stage: HandlerStage,
  { link, workerId, misdeeds }: Surroundings,
): AnyTaskHandlerDescriptor[] => {
  const did = (taskId: string, what: string): void => {
    stage.log({ kind: 'did', taskId, what })
  }

  /** Whether it is to happen once more. */
  const again = (taskId: string, times: number): boolean => {
    const before = misdeeds.get(taskId) ?? 0
    // What a dead process does has not happened.
    if (!link.isDead) misdeeds.set(taskId, before + 1)
    return times >= LIMIT || before < times
  }

  const family = async (ctx: TaskContext<Plan>, plan: Extract<Plan, { children: unknown }>): Promise<number> => {
    const { does, children, value } = plan
    const chance = ctx.random()
    const told = (what: string): void => {
      did(ctx.taskId, `${what} ${String(chance)}`)
    }
    if (does === 'after') {
      let sum = value
      for (const child of children) {
        sum += (await ctx.spawnChildAndAwait<Plan, Answer>(typeOf(child), child)).value
        told(`sum ${sum}`)
      }
      return sum
    }
    const handles = await Promise.all(children.map((child) => ctx.spawnChild<Plan, Answer>(typeOf(child), child)))
    told('spawned')
    if (does === 'leave') return value
    return (await ctx.awaitChildren(handles)).reduce((sum, answer) => sum + answer.value, value)
  }

  const run = async (ctx: TaskContext<Plan>, plan: Plan): Promise<number> => {
    stage.log({ kind: 'ran', taskId: ctx.taskId })
    const { taskId, cancellationSignal: signal } = ctx
    switch (plan.does) {
      case 'work':
        await pause(plan.ms, signal)
        break
      case 'wait':
        await pause(undefined, signal)
        break
      case 'ignore':
        await pause(plan.ms)
        break
      case 'sleep':
        await ctx.sleep(plan.ms)
        break
      case 'fail':
        if (again(taskId, plan.times)) throw new Error('no')
        break
      case 'refuse':
        throw new NonRetryableError('never')
      case 'kill':
        if (again(taskId, plan.times)) {
          link.die()
          await new Promise(() => undefined)
        }
        break
      case 'postpone':
        if (again(taskId, 1)) ctx.notNow(50)
        break
      default:
        return family(ctx, plan)
    }
    return plan.value
  }

  return TYPES.map((type) =>
    defineTaskHandler<Plan, Answer>({
      type,
      version: 1,
      visibilityTimeoutMs: stage.visibilityMs,
      retryPolicy: { maxAttempts: LIMIT, backoff: 'exponential', baseDelayMs: BACKOFF_MS, jitter: 0 },
      // Processes die of other reasons, too.
      maxDeliveries: type === 'job' ? LIMIT : 1_000,
      handler: async (ctx, plan) => ({ value: await run(ctx, plan), workerId: workerId() }),
    }),
  )
}

/** What kills its process is a type of its own, with a limit of its own. */
export const typeOf = ({ does }: Plan): (typeof TYPES)[number] => (does === 'kill' ? 'job' : 'task')

const pause = (ms: number | undefined, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal?.reason as Error)
    }
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort, { once: true })
    if (ms !== undefined) setTimeout(resolve, ms)
  })
