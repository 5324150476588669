import { defineTaskHandler } from '@furystack/task-runner'

import { deferred } from '../../support/deferred.js'
import type { Service } from '../../support/service.js'

const AT_ONCE = 100

/** The task that is counted: its payload has about 110 bytes, its result about 20. */
export const mail = (index: number) => ({
  type: 'mail',
  payload: { to: `user-${String(index)}@example.com`, subject: 'x'.repeat(50), index },
  handlerVersion: 1,
})

/** Submits so many one by one, 100 in flight. */
export const submitMails = async ({ runner }: Service, count: number): Promise<void> => {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => runner.submit(mail(from + index))))
}

/** Submits so many together. */
export const submitManyMails = ({ runner }: Service, count: number, more: { notBefore?: Date } = {}) =>
  runner.submitMany(Array.from({ length: count }, (_, index) => ({ ...mail(index), ...more })))

/** Has a worker process so many, from its beginning to its end. */
export const processMails = async ({ work }: Service, count: number, concurrency: number): Promise<void> => {
  const done = deferred<undefined>()
  let ran = 0
  const handler = defineTaskHandler({
    type: 'mail',
    version: 1,
    handler: (context) => {
      if (++ran === count) done.resolve(undefined)
      return Promise.resolve({ ok: true, attempt: context.attempt })
    },
  })
  const worker = work([handler], { concurrency })
  await done.promise
  await worker[Symbol.asyncDispose]()
}
