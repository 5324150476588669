import { defineTaskHandler } from '@furystack/task-runner'

/** What the tasks of a soak do: nothing, in every way there is. */
export const soakHandlers = [
  defineTaskHandler({ type: 'plain', version: 1, handler: (_, payload: number) => payload }),
  defineTaskHandler({ type: 'capped', version: 1, handler: (_, payload: number) => payload }),
  defineTaskHandler({
    type: 'replayed',
    version: 1,
    handler: async (ctx, payload: number) => {
      ctx.now()
      return Promise.resolve(payload)
    },
  }),
  defineTaskHandler({
    type: 'retried',
    version: 1,
    retryPolicy: { maxAttempts: 3 },
    handler: (ctx, payload: number) => {
      if (ctx.attempt === 1) throw new Error('not at first')
      return payload
    },
  }),
  defineTaskHandler({
    type: 'failing',
    version: 1,
    retryPolicy: { maxAttempts: 1 },
    handler: () => {
      throw new Error('never')
    },
  }),
  defineTaskHandler({
    type: 'family',
    version: 1,
    handler: async (ctx, payload: number) => {
      const children = await Promise.all([
        ctx.spawnChild<number, number>('plain', payload),
        ctx.spawnChild<number, number>('plain', payload + 1),
      ])
      return ctx.awaitChildren(children)
    },
  }),
] as const
