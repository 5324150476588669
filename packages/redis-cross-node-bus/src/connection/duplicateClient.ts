import type { RedisClient } from './redisClient.js'

/**
 * A client like the template, not yet connected, with what the bus needs to be otherwise:
 *
 * - it does not reconnect: a lost connection is replaced by another client, so that nobody has to tell apart which of
 *   its connections an answer belongs to;
 * - no queue while there is no connection, no limit to what is on its way, and no timer for each command: the bus has
 *   limits and a watchdog of its own;
 * - nothing of its own that speaks on, or gives up, a connection which is blocked on purpose;
 * - maps arrive as arrays: as objects they lose a key named `__proto__`.
 */
export function duplicateClient(template: RedisClient, name: string): RedisClient {
  return template.duplicate({
    name: name.replace(/[^!-~]/g, '-'),
    socket: { ...socketOf(template), socketTimeout: undefined, reconnectStrategy: false },
    commandOptions: { timeout: undefined, typeMapping: { [RESP_MAP]: Array } },
    commandsQueueMaxLength: undefined,
    disableOfflineQueue: true,
    pingInterval: undefined,
    clientSideCache: undefined,
    emitInvalidate: undefined,
  })
}

/** The type byte of a map in RESP3, by which the client knows its type mappings. */
const RESP_MAP = '%'.charCodeAt(0)

function socketOf(client: RedisClient): object {
  return (client as { options?: { socket?: object } }).options?.socket ?? {}
}
