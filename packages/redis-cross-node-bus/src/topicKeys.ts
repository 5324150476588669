import { InvalidTopicError } from '@furystack/cross-node-bus'
import { wireTopicOf } from '@furystack/cross-node-bus/adapter'
import { hashSlot } from '@furystack/redis-connection'
import type { ResolvedBusOptions } from './redisCrossNodeBusOptions.js'

/** Names the stream of a topic; of a topic of the bus itself, if no prefix is given. */
export type TopicKeys = (topic: string, prefix?: string) => string

/**
 * How the streams of a bus are named. On a cluster its connections lead to one node, so no topic may lie elsewhere.
 *
 * The function throws an `InvalidTopicError` for a topic that the bus does not take.
 */
export function topicKeys({ client, topicPrefix }: Pick<ResolvedBusOptions, 'client' | 'topicPrefix'>): TopicKeys {
  const slot = client.kind === 'cluster' ? hashSlot(topicPrefix) : undefined
  return (topic, prefix = topicPrefix) => {
    const key = wireTopicOf(prefix, topic)
    if (slot !== undefined && hashSlot(key) !== slot)
      throw new InvalidTopicError(
        topic,
        `with the prefix "${prefix}" lies in another slot of the cluster than those with "${topicPrefix}": ` +
          'prefixes of buses that hear each other have to share their hash tag',
      )
    return key
  }
}
