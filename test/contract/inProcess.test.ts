import { InMemoryBlobStore } from '@furystack/blob-store'
import { InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import {
  InProcessQueueAdapter,
  MemoryTaskStore,
  TaskRunnerCore,
  TaskRunnerTelemetry,
  type TaskStore,
} from '@furystack/task-runner'

import { overLink } from '../support/link.js'
import { queueAdapterSuite } from './queueAdapterSuite.js'
import { runnerSuite } from './runnerSuite.js'

queueAdapterSuite('InProcessQueueAdapter', ({ nodes, concurrencyLimits, idempotencyTtlSec }) => {
  const adapter = new InProcessQueueAdapter({ concurrencyLimits, idempotencyTtlSec })
  return Promise.resolve({
    adapters: Array.from({ length: nodes }, () => adapter),
    dispose: async () => adapter[Symbol.asyncDispose](),
  })
})

// Several cores over one queue, one store and one bus stand for several processes.
runnerSuite(
  'TaskRunnerCore over a queue in this process',
  (count, { blobStore = new InMemoryBlobStore(), idempotencyTtlSec, link, busLink: _, ...options } = {}) => {
    const queueAdapter = new InProcessQueueAdapter(idempotencyTtlSec === undefined ? {} : { idempotencyTtlSec })
    const bus = new InProcessCrossNodeBus()
    const injector = createInjector()
    const parts = {
      injector,
      bus,
      blobStore,
      store: link ? overLink<TaskStore>(new MemoryTaskStore(), link) : new MemoryTaskStore(),
      telemetry: new TaskRunnerTelemetry(),
      queueAdapter,
    }
    const runners = Array.from(
      { length: count },
      () =>
        new TaskRunnerCore(parts, {
          sweepIntervalMs: 50,
          expiryIntervalMs: 50,
          ...options,
        }),
    )
    return Promise.resolve({
      runners,
      telemetry: parts.telemetry,
      dispose: async () => {
        await Promise.all(runners.map((runner) => runner[Symbol.asyncDispose]()))
        await queueAdapter[Symbol.asyncDispose]()
        bus[Symbol.dispose]()
        await injector[Symbol.asyncDispose]()
      },
    })
  },
)
