import { randomUUID } from 'node:crypto'
import type { CrossNodeBusTelemetry } from '@furystack/cross-node-bus'
import { assertPositiveInteger } from '@furystack/cross-node-bus/adapter'
import { type AnyRedisClient, hashTagOf, kindOf, type KnownClient, objectionTo } from '@furystack/redis-connection'
import { asyncScheduler, type SchedulerLike } from 'rxjs'
import { BusOptionError } from './busOptionError.js'

/**
 * Options of `RedisCrossNodeBus`. Processes that share topics should agree on `replayWindow` and `retentionMs`: whoever
 * publishes last decides.
 *
 * @example
 * ```ts
 * const options: RedisCrossNodeBusOptions = { client, serviceName: 'shop', topicPrefix: '{shop}/' }
 * ```
 */
export type RedisCrossNodeBusOptions = {
  /**
   * A client made by `createClient`, `createClientPool`, `createSentinel` or `createCluster` of `redis` 5 or 6. It tells
   * where the server is and how to sign in there: the bus opens connections of its own like it, and never closes it,
   * reconfigures it or sends it a command of the bus. All but the first kind have to be connected to know that.
   */
  readonly client: AnyRedisClient
  /** Names the connections of the bus in `CLIENT LIST`, and its node. Not empty. */
  readonly serviceName: string
  /**
   * In front of every topic to make its key, so that services on one Redis do not hear each other. With a hash tag
   * (`{shop}/`) all topics lie in one slot of a cluster, which has to be so there. Whole characters. @default ''
   */
  readonly topicPrefix?: string | undefined
  /** About how many messages are kept per topic, a few more at times: a positive integer. @default 10_000 */
  readonly replayWindow?: number | undefined
  /**
   * How long messages are kept, in milliseconds, if there are not too many of them; a topic on which nothing was
   * published for so long vanishes from Redis. A positive integer, or Infinity. @default 86_400_000 (a day)
   */
  readonly retentionMs?: number | undefined
  /** Names the bus among all of them, as `originId` of what it publishes. @default serviceName and a random part */
  readonly nodeId?: string | undefined
  /** Hears what the bus does. @default none: errors that reach nobody else go to `console.error` */
  readonly telemetry?: CrossNodeBusTelemetry | undefined
  /**
   * How long one read waits for messages, in milliseconds; that is how often a quiet bus sends a command. New topics
   * need not wait for it. A positive integer. @default 2_000
   */
  readonly blockTimeoutMs?: number | undefined
  /**
   * How long a reply may be overdue, or connecting take, before the connection is replaced, in milliseconds; looked at
   * four times in that span, and twice before it is given up. A positive integer. @default 5_000
   */
  readonly commandDeadlineMs?: number | undefined
  /**
   * How many messages may wait while Redis is away; beyond that the oldest is dropped, and its `publish` rejects. A
   * positive integer. @default 10_000
   */
  readonly outboxLimit?: number | undefined
  /** The same for the bytes of their payloads, as JSON in UTF-8. A positive integer. @default 16_777_216 (16 MiB) */
  readonly outboxMaxBytes?: number | undefined
  /**
   * How long a message may wait for Redis, in milliseconds, before its `publish` rejects. A positive integer.
   * @default 30_000
   */
  readonly outboxMaxAgeMs?: number | undefined
  /** Where timers come from. @default asyncScheduler */
  readonly scheduler?: SchedulerLike | undefined
}

/** The options with everything filled in. */
export type ResolvedBusOptions = {
  readonly [Name in Exclude<keyof RedisCrossNodeBusOptions, 'client' | 'telemetry'>]-?: NonNullable<
    RedisCrossNodeBusOptions[Name]
  >
} & { readonly client: KnownClient }

/**
 * Checks every option and fills in the defaults.
 *
 * @throws BusOptionError for a client or text that cannot be used, Error for an empty name, RangeError for a number out of
 * its range.
 */
export function resolveBusOptions(options: RedisCrossNodeBusOptions): ResolvedBusOptions {
  const { serviceName, topicPrefix = '' } = options as Partial<RedisCrossNodeBusOptions>
  const client = kindOf(options.client)
  // Whatever was taken for a client, a URL perhaps, may hold a password, and errors are logged.
  if (client === undefined) throw new BusOptionError('client', typeof options.client, CLIENT)
  if (typeof serviceName !== 'string' || serviceName === '') throw new Error('serviceName must be a non-empty string')
  if (options.nodeId === '') throw new Error('nodeId must not be empty')
  for (const name of ['serviceName', 'nodeId', 'topicPrefix'] as const)
    // Redis would put other characters in the place of halves, and the bus would not know its own messages.
    if (options[name]?.isWellFormed() === false)
      throw new BusOptionError(name, JSON.stringify(options[name]), 'a string of whole characters')
  if (client.kind === 'cluster' && hashTagOf(topicPrefix) === undefined)
    throw new BusOptionError('topicPrefix', JSON.stringify(topicPrefix), HASH_TAG)
  const positive = (name: keyof RedisCrossNodeBusOptions, value: number | undefined, preset: number): number => {
    if (value !== undefined) assertPositiveInteger(name, value)
    return value ?? preset
  }
  return {
    client,
    serviceName,
    topicPrefix,
    nodeId: options.nodeId ?? `${serviceName}-${randomUUID().slice(0, 8)}`,
    replayWindow: positive('replayWindow', options.replayWindow, 10_000),
    retentionMs: options.retentionMs === Infinity ? Infinity : positive('retentionMs', options.retentionMs, 86_400_000),
    blockTimeoutMs: positive('blockTimeoutMs', options.blockTimeoutMs, 2_000),
    commandDeadlineMs: positive('commandDeadlineMs', options.commandDeadlineMs, 5_000),
    outboxLimit: positive('outboxLimit', options.outboxLimit, 10_000),
    outboxMaxBytes: positive('outboxMaxBytes', options.outboxMaxBytes, 16_777_216),
    outboxMaxAgeMs: positive('outboxMaxAgeMs', options.outboxMaxAgeMs, 30_000),
    scheduler: options.scheduler ?? asyncScheduler,
  }
}

const CLIENT = 'made by createClient, createClientPool, createSentinel or createCluster of "redis" 5 or 6'
const HASH_TAG =
  'a prefix with a hash tag, as "{shop}/" is: on a cluster all topics of a bus have to lie in one slot, and several buses ' +
  'with tags of their own spread over its nodes'

/**
 * Refuses a client in subscriber mode, which nobody means to pass, and one that has to be connected and is not: a plain
 * client tells where the server is all the same.
 *
 * @throws BusOptionError
 */
export function checkUsable(known: KnownClient): void {
  const objection = objectionTo(known)
  if (objection && (known.kind !== 'single' || known.client.isOpen))
    throw new BusOptionError('client', objection.value, objection.allowed)
}
