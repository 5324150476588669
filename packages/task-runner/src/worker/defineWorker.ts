import { defineService, type Token } from '@furystack/inject'

import { TaskRunner } from '../runner/taskRunner.js'
import type { Worker } from './worker.js'
import type { WorkerOptions } from './workerOptions.js'

/**
 * Defines a worker as a service: resolving the token registers it at the `TaskRunner` of the injector, and disposing the
 * injector drains it.
 *
 * @example
 * const MailWorker = defineWorker({ name: 'mail', types: [sendMail], concurrency: 4 })
 * injector.get(MailWorker)
 */
export const defineWorker = (options: WorkerOptions): Token<Worker, 'singleton'> =>
  defineService({
    name: options.name,
    lifetime: 'singleton',
    factory: ({ inject, onDispose }) => {
      const worker = inject(TaskRunner).registerWorker({
        name: options.name,
        handlers: options.types,
        concurrency: options.concurrency ?? 1,
        tags: options.tags ?? [],
        compatibleVersions: options.compatibleVersions ?? {},
      })
      onDispose(async () => {
        // A runner that is not ours may have workers that only know the immediate disposal.
        const { [Symbol.asyncDispose]: disposeGently }: Partial<AsyncDisposable> = worker
        if (disposeGently === undefined) worker[Symbol.dispose]()
        else await disposeGently.call(worker)
      })
      return worker
    },
  })
