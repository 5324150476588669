import type { KnownClient } from './anyRedisClient.js'

/**
 * Why a client, or the server it leads to, cannot be used, in two halves of a sentence.
 *
 * @example
 * const sentence = ({ value, allowed }: Objection): string => `client: ${value} is not ${allowed}`
 */
export interface Objection {
  /** What it is, such as `'not connected'`. */
  readonly value: string
  /** What would do instead, such as `'a connected client: …'`. */
  readonly allowed: string
}

/**
 * What shows in a client by itself: one that is not connected, or in subscriber mode.
 *
 * @example
 * import { createClient } from 'redis'
 * const known = kindOf(createClient())
 * if (known) console.log(objectionTo(known)?.value) // 'not connected'
 */
export const objectionTo = ({ kind, client }: KnownClient): Objection | undefined => {
  if (!client.isOpen)
    return {
      value: 'not connected',
      allowed: 'a connected client: await client.connect() before the injector resolves what uses it',
    }
  if (kind === 'single' && isSubscriber(client))
    return {
      value: 'in subscriber mode',
      allowed: 'a client for commands: pass the one that client.duplicate() made it from, or one of its own',
    }
  return undefined
}

/**
 * Under RESP 3 there is no such mode: a client may subscribe and send commands. Where nothing is set, that is what 6
 * speaks, the first to know this command.
 */
const isSubscriber = (client: object): boolean => {
  const { isPubSubActive, options } = client as { isPubSubActive?: boolean; options?: { RESP?: number } }
  return isPubSubActive === true && (options?.RESP ?? ('commandDocs' in client ? 3 : 2)) === 2
}
