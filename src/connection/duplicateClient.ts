import { reconnectDelayMs } from './reconnectDelayMs.js'
import type { RedisClient } from './redisClient.js'

/**
 * A client like the template, not yet connected, with what the library needs to be otherwise:
 *
 * - no per-command timer: it costs more than the command, and covers only the time until the command is written;
 * - no queue while there is no connection: what cannot be sent is refused;
 * - it reconnects for ever, with growing and partly random pauses;
 * - nothing of its own that speaks on, or gives up, a connection which is blocked on purpose.
 *
 * @param name what \`CLIENT LIST\` calls it; characters that Redis does not take in a name become \`-\`
 *
 * @example
 * const reader = duplicateClient(client, 'svc-a:reader')
 */
export const duplicateClient = (template: RedisClient, name?: string): RedisClient =>
  template.duplicate({
    commandOptions: { timeout: undefined },
    disableOfflineQueue: true,
    pingInterval: undefined,
    socket: { ...socketOf(template), socketTimeout: undefined, reconnectStrategy: reconnectDelayMs },
    ...(name !== undefined && { name: name.replace(/[^!-~]/g, '-') }),
  })

const socketOf = (client: RedisClient): object => (client as { options?: { socket?: object } }).options?.socket ?? {}
