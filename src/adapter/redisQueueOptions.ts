import { type AnyRedisClient, hashTagOf, kindOf, type KnownClient, objectionTo } from '@furystack/redis-connection'
import { quoted } from '@furystack/task-runner'
import type { SchedulerLike } from 'rxjs'

import { InvalidOptionError } from '../errors/invalidOptionError.js'

/**
 * How lanes on Redis behave. Durations are milliseconds unless the name says otherwise.
 *
 * @example
 * const options: RedisQueueOptions = {
 *   client,
 *   serviceName: 'svc-a',
 *   topicPrefix: 'svc-a/',
 *   concurrencyLimits: { 'send-mail': 10 },
 * }
 */
export interface RedisQueueOptions {
  /**
   * A connected client of `redis` 5 or 6, made by `createClient`, `createClientPool`, `createSentinel` or `createCluster`.
   * It stays the caller's: it tells where the server is and how to sign in there, and is never closed or reconfigured.
   * Commands go over connections of the library's own.
   */
  client: AnyRedisClient
  /** Names the library's connections in `CLIENT LIST`. 1 to 512 characters. */
  serviceName: string
  /**
   * In front of every key, at most 512 characters. With a hash tag (`{svc-a}/`) all keys lie in one slot, as a cluster
   * needs it. @default ''
   */
  topicPrefix?: string
  /** 1 to 512 characters. @default 'runner' */
  consumerGroup?: string
  /**
   * After how long without a heartbeat a claim may be taken over, 100 to 86,400,000. A worker heartbeats at a third of it
   * while its event loop turns; higher values make recovery from a dead worker later, lower ones cost heartbeats.
   * @default 60_000
   */
  visibilityTimeoutMs?: number
  /** The same for single types; wins over what handlers declare. @default {} */
  visibilityTimeoutByType?: Readonly<Record<string, number>>
  /**
   * After how long an idle worker looks by itself although nothing has called it, 1 to 60,000; what is below 1,000 counts as
   * 1,000. Higher values cost an idle worker fewer commands, and a task wakes it as fast. @default 200
   */
  blockTimeoutMs?: number
  /** The first rest after a fault of Redis, and the delay of a task that a worker could not take, 1 to 60,000. @default 250 */
  retryBackoffMs?: number
  /**
   * How long an idempotency key belongs to its task in any case, from its submission, whole seconds from 1 to 31,536,000.
   * Beyond that it does as long as the task is not over. @default 86_400
   */
  idempotencyTtlSec?: number
  /** How often to look for due tasks when none is known to be due sooner, 10 to 60,000. @default 250 */
  schedulerIntervalMs?: number
  /** How many tasks of a type may run at once in the whole fleet. @default {} */
  concurrencyLimits?: Readonly<Record<string, number>>
  /**
   * How often a task may be delivered whose worker dies or stands still each time, a whole number from 1 to 1,000,000, or
   * Infinity; after that it is not run again. Handlers may have a limit of their own. @default 5
   */
  maxDeliveries?: number
  /**
   * How long a call waits for a connection, and for a reply before the connection is replaced, 100 to 600,000. Looked at
   * four times in that span, and twice before a connection is given up, so it may take half as long again.
   * @default 5_000
   */
  commandDeadlineMs?: number
  /** Where timers come from; a `TestScheduler` in tests. @default asyncScheduler */
  scheduler?: SchedulerLike
}

/** The options with everything filled in. */
export type ResolvedQueueOptions = Readonly<Required<Omit<RedisQueueOptions, 'client' | 'scheduler'>>> & {
  readonly client: KnownClient
  readonly scheduler?: SchedulerLike
}

/**
 * Checks every option and fills in the defaults.
 *
 * @throws {InvalidOptionError} naming option, value and what is allowed
 *
 * @example
 * resolveQueueOptions({ client, serviceName: 'svc-a' }).visibilityTimeoutMs // 60000
 */
export const resolveQueueOptions = (options: RedisQueueOptions): ResolvedQueueOptions => {
  if (typeof options !== 'object' || (options as unknown) === null)
    throw new InvalidOptionError('options', typeNameOf(options), 'an object')
  const { scheduler } = options
  const client = kindOf(options.client)
  // Whatever was taken for a client, a URL perhaps, may hold a password, and errors are logged.
  if (client === undefined) throw new InvalidOptionError('client', typeNameOf(options.client), CLIENT)
  const resolved = {
    client,
    serviceName: text('serviceName', options.serviceName),
    topicPrefix: (options.topicPrefix ?? '') === '' ? '' : text('topicPrefix', options.topicPrefix),
    consumerGroup: text('consumerGroup', options.consumerGroup ?? 'runner'),
    visibilityTimeoutMs: whole('visibilityTimeoutMs', options.visibilityTimeoutMs ?? 60_000, 100, DAY_MS),
    visibilityTimeoutByType: byType('visibilityTimeoutByType', options.visibilityTimeoutByType, 100, DAY_MS),
    blockTimeoutMs: whole('blockTimeoutMs', options.blockTimeoutMs ?? 200, 1, 60_000),
    retryBackoffMs: whole('retryBackoffMs', options.retryBackoffMs ?? 250, 1, 60_000),
    idempotencyTtlSec: whole('idempotencyTtlSec', options.idempotencyTtlSec ?? 86_400, 1, 31_536_000, 'seconds'),
    schedulerIntervalMs: whole('schedulerIntervalMs', options.schedulerIntervalMs ?? 250, 10, 60_000),
    concurrencyLimits: byType('concurrencyLimits', options.concurrencyLimits, 1, 1_000_000, 'tasks'),
    maxDeliveries:
      options.maxDeliveries === Infinity
        ? Infinity
        : whole('maxDeliveries', options.maxDeliveries ?? 5, 1, 1_000_000, 'deliveries'),
    commandDeadlineMs: whole('commandDeadlineMs', options.commandDeadlineMs ?? 5_000, 100, 600_000),
  }
  if (client.kind === 'cluster' && hashTagOf(resolved.topicPrefix) === undefined)
    throw new InvalidOptionError('topicPrefix', resolved.topicPrefix, HASH_TAG)
  return scheduler ? { ...resolved, scheduler } : resolved
}

const DAY_MS = 86_400_000

const CLIENT = 'made by createClient, createClientPool, createSentinel or createCluster of "redis" 5 or 6'
const HASH_TAG =
  'a prefix with a hash tag, as "{svc-a}/" is: on a cluster all keys of a runner have to lie in one slot, and several ' +
  'runners with tags of their own spread over its nodes'

/**
 * Refuses a client that is not connected: nothing would ever happen, and nobody would know why. And one in subscriber
 * mode, which nobody means to pass.
 *
 * @throws {InvalidOptionError}
 *
 * @example
 * checkUsable({ kind: 'single', client })
 */
export const checkUsable = (known: KnownClient): void => {
  const objection = objectionTo(known)
  if (objection) throw new InvalidOptionError('client', objection.value, objection.allowed)
}

/** UTF-16 units. */
const MAX_TEXT = 512

const typeNameOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const text = (option: string, value: unknown): string => {
  if (typeof value !== 'string' || value === '' || !value.isWellFormed() || value.length > MAX_TEXT)
    throw new InvalidOptionError(option, value, `a string of 1 to ${String(MAX_TEXT)} well-formed characters`)
  return value
}

const whole = (option: string, value: unknown, min: number, max: number, unit = 'milliseconds'): number => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw new InvalidOptionError(option, value, `a whole number of ${unit} from ${String(min)} to ${String(max)}`)
  return value
}

const byType = (
  option: string,
  values: unknown,
  min: number,
  max: number,
  unit?: string,
): Readonly<Record<string, number>> => {
  if (values === undefined) return {}
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw new InvalidOptionError(option, values, 'an object from task type to number')
  return Object.fromEntries(
    Object.entries(values).map(([type, value]) => [type, whole(`${option}[${quoted(type)}]`, value, min, max, unit)]),
  )
}
