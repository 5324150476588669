import type { Token } from '@furystack/inject'
import { describe, expectTypeOf, it } from 'vitest'

import {
  defineTaskHandler,
  TaskRunner,
  TaskStore,
  type AnyTaskHandlerDescriptor,
  type ChildHandle,
  type ClaimOutcome,
  type QueueAdapter,
  type ResultOf,
  type TaskContext,
  type TaskHandlerDescriptor,
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

  it('give the result behind a child handle', () => {
    expectTypeOf<ResultOf<ChildHandle<{ pages: number }>>>().toEqualTypeOf<{ pages: number }>()
  })

  it('name tokens like the types behind them', () => {
    expectTypeOf(TaskRunner).toEqualTypeOf<Token<TaskRunner, 'singleton'>>()
    expectTypeOf(TaskStore).toEqualTypeOf<Token<TaskStore | undefined, 'singleton'>>()
    expectTypeOf<Worker>().toExtend<Disposable & AsyncDisposable>()
  })
})
