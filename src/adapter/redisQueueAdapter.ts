import {
  checkQueueInput,
  type DeadLetterBox,
  type EnqueueInput,
  type IdempotencyLeaseInput,
  type QueueAdapter,
  type QueueAdapterCapabilities,
  type TaskStore,
} from '@furystack/task-runner'
import { lastValueFrom, type Observable, Subject } from 'rxjs'

import type { Connection } from '../connection/connection.js'
import { AdapterDisposedError } from '../errors/adapterDisposedError.js'
import { checkRowId, keys as keysOf } from '../keys/keys.js'
import { lane } from '../keys/lane.js'
import type { LaneEvent } from '../events/laneEvent.js'
import { type LanePort } from '../port/lanePort.js'
import { redisDeadLetters } from '../redis/redisDeadLetters.js'
import { redisLanePort } from '../redis/redisLanePort.js'
import { redisTaskStore } from '../redis/redisTaskStore.js'
import { Turns } from '../redis/turns.js'
import { findUnserved } from '../scripts/findUnserved.js'
import { receiptOf } from './claimReceipt.js'
import { connector } from './connector.js'
import { heartbeats } from './heartbeats.js'
import { jointSteps } from './jointSteps.js'
import { checkUsable, type RedisQueueOptions, resolveQueueOptions } from './redisQueueOptions.js'
import { subscribeWorker } from './subscribeWorker.js'

/**
 * The transport over Redis Streams, for any core that keeps the {@link QueueAdapter} contract.
 *
 * @example
 * const adapter: RedisQueueAdapter = redisQueueAdapter({ client, serviceName: 'svc-a' })
 * adapter.events$.subscribe(({ kind }) => console.log(kind))
 * await adapter[Symbol.asyncDispose]()
 */
export interface RedisQueueAdapter extends QueueAdapter, AsyncDisposable {
  /** What happens in the lanes. Hot: it tells what happens from the subscription on; nobody listening costs nothing. */
  readonly events$: Observable<LaneEvent>
  /** Entries that could not be read; with rows in the same Redis failed tasks too. */
  readonly deadLetters: DeadLetterBox
  /** Task rows in the same Redis. A core that is given this store takes row and entry in one step. */
  readonly store: TaskStore
  /** Stops everything, waits until every open claim has been settled or handed back, and closes the connections. */
  [Symbol.asyncDispose](): Promise<void>
}

const CAPABILITIES: QueueAdapterCapabilities = Object.freeze({
  persistent: true,
  distributed: true,
  delayedDispatch: true,
  fleetCapEnforcement: true,
  brokerSideReclaim: true,
})

/**
 * Opens the transport: one connection for commands, and one more a subscribed worker for waiting.
 *
 * @throws {InvalidOptionError} for an option out of its range, or a client that is not connected
 *
 * @example
 * await using adapter = redisQueueAdapter({ client, serviceName: 'svc-a', topicPrefix: 'svc-a/' })
 * await adapter.enqueue({ taskId: 'a', type: 'mail', handlerVersion: 1 })
 */
export const redisQueueAdapter = (options: RedisQueueOptions): RedisQueueAdapter => {
  const resolved = resolveQueueOptions(options)
  checkUsable(resolved.client)
  const { consumerGroup: group, idempotencyTtlSec } = resolved
  const keys = keysOf(resolved.topicPrefix)
  const events$ = new Subject<LaneEvent>()
  const report = (event: LaneEvent): void => {
    if (events$.observed) events$.next(event)
  }

  const usable$ = new Subject<void>()
  const connect = connector(resolved, report, () => {
    usable$.next()
  })
  const commands = connect('commands', false)
  const store = redisTaskStore({ connection: commands, keys })
  const workers = new Set<AsyncDisposable>()
  let isJoint = false
  let disposal: Promise<void> | undefined

  const holds = () => (isJoint ? 'all' : 'entry')
  const deadLetters = redisDeadLetters({ connection: commands, keys, group, holds })
  const turns = new Turns(commands, keys, {
    group,
    get isJoint() {
      return isJoint
    },
  })
  const portWith = (reader: Connection): LanePort =>
    redisLanePort({ commands, turns, reader, keys, group, isJoint, idempotencyTtlSec })
  const port = portWith(commands)
  const beats = heartbeats(port, report)

  const alive = (operation: string): void => {
    if (disposal) throw new AdapterDisposedError(operation)
  }

  const dispose = async (): Promise<void> => {
    await Promise.all([...workers].map((worker) => worker[Symbol.asyncDispose]()))
    await commands[Symbol.asyncDispose]()
    events$.complete()
  }

  return {
    capabilities: CAPABILITIES,
    scope: resolved.topicPrefix,
    idempotencyTtlSec,
    events$: events$.asObservable(),
    deadLetters,
    store,

    enqueue: async (input: EnqueueInput) => {
      alive('enqueue')
      const { taskId, type, handlerVersion, tags, notBefore } = checkQueueInput.enqueue(input)
      const entry = {
        taskId,
        lane: lane(type, handlerVersion, tags),
        ...(notBefore && { notBefore: notBefore.getTime() }),
      }
      await lastValueFrom(port.enqueue(entry), { defaultValue: undefined })
    },

    subscribe: (subscription) => {
      alive('subscribe')
      checkQueueInput.subscribe(subscription)
      const reader = connect(`reader of ${subscription.workerId}`, true)
      const worker = subscribeWorker({
        subscription,
        port: portWith(reader),
        reader,
        options: resolved,
        usable$,
        report,
      })
      workers.add(worker)
      worker.ended.then(
        () => workers.delete(worker),
        (error: unknown) => {
          workers.delete(worker)
          report({ kind: 'brokerError', activity: 'worker', error, restMs: 0 })
        },
      )
      return worker
    },

    heartbeat: async (claim) => {
      if (disposal) return
      const receipt = receiptOf(claim)
      if (!receipt.isSettled) await lastValueFrom(beats.renew(receipt), { defaultValue: undefined })
    },

    acquireIdempotencyLease: async (input: IdempotencyLeaseInput) => {
      alive('acquireIdempotencyLease')
      checkQueueInput.lease(input)
      checkRowId(input.taskId)
      return lastValueFrom(port.lease(input), { defaultValue: input.taskId })
    },

    findUnserved: ({ olderThanMs }) => {
      alive('findUnserved')
      return findUnserved(commands, keys, olderThanMs)
    },

    joint: (of) => {
      if (of !== store) return undefined
      isJoint = true
      return jointSteps({ connection: commands, turns, keys, group, deadLetters, report })
    },

    [Symbol.dispose]: () => {
      disposal ??= dispose()
      disposal.catch((error: unknown) => {
        report({ kind: 'brokerError', activity: 'dispose', error, restMs: 0 })
      })
    },
    [Symbol.asyncDispose]: () => (disposal ??= dispose()),
  }
}
