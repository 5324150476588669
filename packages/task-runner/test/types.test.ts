import type { Token } from '@furystack/inject'
import { of, type Observable } from 'rxjs'
import { describe, expectTypeOf, it } from 'vitest'

import {
  defineTaskHandler,
  TaskRunner,
  TaskStore,
  type AnyTaskHandlerDescriptor,
  type BackoffFunction,
  type ChildHandle,
  type ClaimOutcome,
  type QueueAdapter,
  type ResultOf,
  type RetryPolicy,
  type SettledChildResult,
  type TaskContext,
  type TaskHandlerDescriptor,
  type TaskUpdate,
  type Worker,
} from '../src/index.js'

/** An adapter as one would write it that knows the four operations only, and neither tags nor any optional member. */
interface PlainAdapter extends Disposable {
  readonly capabilities: QueueAdapter['capabilities']
  enqueue(input: { taskId: string; type: string; handlerVersion: number; notBefore?: Date }): Promise<void>
  subscribe(subscription: {
    workerId: string
    concurrency: number
    types: readonly string[]
    compatibleVersions: Readonly<Record<string, readonly number[]>>
    shouldDrain(): boolean
    onClaim(claim: { readonly taskId: string; readonly type: string; readonly receipt: unknown }): Promise<ClaimOutcome>
  }): Disposable
  heartbeat(claim: { readonly taskId: string; readonly type: string; readonly receipt: unknown }): Promise<void>
  acquireIdempotencyLease?(input: { type: string; key: string; taskId: string }): Promise<string>
}

describe('types', () => {
  it('let a plain adapter be used, and ours be used where a plain one is wanted', () => {
    expectTypeOf<PlainAdapter>().toExtend<QueueAdapter>()
    expectTypeOf<QueueAdapter>().toExtend<PlainAdapter>()
  })

  it('infer payload and result of a handler', () => {
    const handler = defineTaskHandler({
      type: 'mail',
      version: 1,
      handler: async (ctx: TaskContext<{ to: string }>, { to }) => Promise.resolve(`${ctx.payload.to} ${to}`),
    })
    expectTypeOf(handler).toEqualTypeOf<TaskHandlerDescriptor<{ to: string }, string>>()
    expectTypeOf(handler).toExtend<AnyTaskHandlerDescriptor>()
  })

  it('infer the result of a handler from a value, a promise, an Observable, and an Observable behind a promise', () => {
    const options = { type: 'mail', version: 1 }
    const plain = defineTaskHandler({ ...options, handler: (_, n: number) => ({ n }) })
    const promised = defineTaskHandler({ ...options, handler: (_, n: number) => Promise.resolve({ n }) })
    const observed = defineTaskHandler({ ...options, handler: (_, n: number) => of({ n }) })
    const late = defineTaskHandler({ ...options, handler: async (_, n: number) => Promise.resolve(of({ n })) })
    const either = defineTaskHandler({
      ...options,
      handler: (_, n: number) => (n > 1 ? of({ n }) : Promise.resolve({ n })),
    })
    const nothing = defineTaskHandler({ ...options, handler: () => undefined })
    type Descriptor = TaskHandlerDescriptor<number, { n: number }>
    expectTypeOf(plain).toEqualTypeOf<Descriptor>()
    expectTypeOf(promised).toEqualTypeOf<Descriptor>()
    expectTypeOf(observed).toEqualTypeOf<Descriptor>()
    expectTypeOf(late).toEqualTypeOf<Descriptor>()
    expectTypeOf(either).toEqualTypeOf<Descriptor>()
    expectTypeOf(nothing).toEqualTypeOf<TaskHandlerDescriptor<unknown, undefined>>()
    expectTypeOf([plain, observed]).toExtend<AnyTaskHandlerDescriptor[]>()
  })

  it('give whoever waits the type that they name', () => {
    expectTypeOf<TaskRunner['waitFor']>().returns.toEqualTypeOf<Promise<unknown>>()
    const wait = (runner: TaskRunner) => runner.waitFor<{ pages: number }>('a', { timeoutMs: 1 })
    expectTypeOf(wait).returns.toEqualTypeOf<Promise<{ pages: number }>>()
    expectTypeOf<TaskRunner['updates$']>().returns.toEqualTypeOf<Observable<TaskUpdate>>()
  })

  it('let a context never return from "not now", and a back-off be a function', () => {
    expectTypeOf<ReturnType<TaskContext<unknown>['notNow']>>().toEqualTypeOf<never>()
    expectTypeOf<BackoffFunction>().toExtend<RetryPolicy['backoff']>()
  })

  it('give the result behind a child handle', () => {
    expectTypeOf<ResultOf<ChildHandle<{ pages: number }>>>().toEqualTypeOf<{ pages: number }>()
  })

  it('keep the results of awaited children apart', () => {
    const use = async (ctx: TaskContext<unknown>) => {
      const page = await ctx.spawnChild<string, { pages: number }>('page', 'a')
      const size = await ctx.spawnChild<string, number>('size', 'a')
      expectTypeOf(page).toEqualTypeOf<ChildHandle<{ pages: number }>>()
      expectTypeOf(await ctx.awaitChildren([page, size])).toEqualTypeOf<[{ pages: number }, number]>()
      const list: Array<ChildHandle<number>> = [size]
      expectTypeOf(await ctx.awaitChildren(list)).toEqualTypeOf<number[]>()
      expectTypeOf(await ctx.awaitChildren<Array<ChildHandle<number>>>(list)).toEqualTypeOf<number[]>()
      const settled = await ctx.awaitChildrenSettled([page, size])
      expectTypeOf(settled).toEqualTypeOf<[SettledChildResult<{ pages: number }>, SettledChildResult<number>]>()
      expectTypeOf(await ctx.spawnChildAndAwait<string, number>('size', 'a')).toEqualTypeOf<number>()
    }
    expectTypeOf(use).toBeFunction()
  })

  it('name tokens like the types behind them', () => {
    expectTypeOf(TaskRunner).toEqualTypeOf<Token<TaskRunner, 'singleton'>>()
    expectTypeOf(TaskStore).toEqualTypeOf<Token<TaskStore | undefined, 'singleton'>>()
    expectTypeOf<Worker>().toExtend<Disposable & AsyncDisposable>()
  })
})
