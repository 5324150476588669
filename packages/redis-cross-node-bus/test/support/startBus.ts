import { CrossNodeBusTelemetry, type CrossNodeBusTelemetryEvents } from '@furystack/cross-node-bus'
import { createClient as createClient6 } from 'redis'
import { createClient as createClient5 } from 'redis-v5'
import { onTestFinished } from 'vitest'

import { redisUrl, uniquePrefix } from '../../../../test/support/redis.js'
import { until } from '../../../../test/support/until.js'
import { type RedisClient, RedisCrossNodeBus, type RedisCrossNodeBusOptions } from '../../src/index.js'

type Events = CrossNodeBusTelemetryEvents

/** A bus with all that it told. */
export interface StartedBus {
  readonly bus: RedisCrossNodeBus
  readonly prefix: string
  readonly errors: Array<Events['onCrossNodeError']>
  readonly received: Array<Events['onCrossNodeReceived']>
  readonly published: Array<Events['onCrossNodePublished']>
  /** Such as `subscribe ready`. */
  readonly connections: string[]
  /** Listens to a topic; resolves when that is live. */
  readonly listen: (topic: string) => Promise<Ear>
}

/** What was heard. */
export interface Ear extends Disposable {
  readonly payloads: unknown[]
  readonly seqs: string[]
  /** Resolves when this payload has come. */
  readonly heard: (payload: unknown) => Promise<void>
}

/** A client as a template for buses, which is never connected: of the major version that is tested. */
export const templateClient = (url = redisUrl(), settings: object = {}): RedisClient =>
  process.env['REDIS_CLIENT_MAJOR'] === '5' ? createClient5({ url, ...settings }) : createClient6({ url, ...settings })

/** Starts a bus that ends with its test. */
export const startBus = ({
  url,
  topicPrefix = uniquePrefix('bus'),
  ...options
}: Partial<RedisCrossNodeBusOptions> & { url?: string } = {}): StartedBus => {
  const telemetry = new CrossNodeBusTelemetry()
  const log = { errors: [], received: [], published: [], connections: [] } as Pick<
    StartedBus,
    'errors' | 'received' | 'published' | 'connections'
  >
  telemetry.addListener('onCrossNodeError', (event) => log.errors.push(event))
  telemetry.addListener('onCrossNodeReceived', (event) => log.received.push(event))
  telemetry.addListener('onCrossNodePublished', (event) => log.published.push(event))
  telemetry.addListener('onCrossNodeConnection', ({ purpose, state }) => log.connections.push(`${purpose} ${state}`))
  const bus = new RedisCrossNodeBus({
    client: templateClient(url),
    serviceName: 'test',
    topicPrefix,
    telemetry,
    ...options,
  })
  onTestFinished(() => bus[Symbol.asyncDispose]())
  const listen = async (topic: string): Promise<Ear> => {
    const ear = startListening(bus, topic)
    await bus.whenReady(topic)
    return ear
  }
  return { bus, prefix: topicPrefix, ...log, listen }
}

/** Listens without waiting for the subscription to be live. */
export const startListening = (bus: RedisCrossNodeBus, topic: string): Ear => {
  const payloads: unknown[] = []
  const seqs: string[] = []
  const handle = bus.subscribe(topic, ({ payload, seq = '' }) => {
    payloads.push(payload)
    seqs.push(seq)
  })
  return {
    payloads,
    seqs,
    heard: async (payload) => {
      await until(() => payloads.includes(payload), { description: `${String(payload)} was heard` })
    },
    [Symbol.dispose]: () => handle[Symbol.dispose](),
  }
}
