import type { RedisClient } from './redisClient.js'
import { socketOf } from './socketOf.js'

/**
 * How a duplicate differs from its template, besides what it always does.
 *
 * @example
 * const cut = new AbortController()
 * const options: DuplicateClientOptions = { name: 'svc-a:reader', signal: cut.signal }
 */
export interface DuplicateClientOptions {
  /** What `CLIENT LIST` calls it; characters that Redis does not take in a name become `-`. */
  readonly name?: string | undefined
  /** Ends its socket at once, also one that is still being opened, which `destroy` does not reach. */
  readonly signal?: AbortSignal
  /** As which JavaScript types replies arrive, by the type byte of the protocol. Default: as with the template. */
  readonly typeMapping?: object
}

/**
 * A client like the template, not yet connected, with what a library needs to be otherwise:
 *
 * - no per-command timer: it costs more than the command, and covers only the time until the command is written;
 * - no queue while there is no connection: what cannot be sent is refused; and no limit to what is on its way;
 * - it lives as long as its socket: whoever connects again decides where to;
 * - nothing of its own that speaks on, or gives up, a connection which is blocked on purpose, and no cache.
 *
 * @example
 * const reader = duplicateClient(client, { name: 'svc-a:reader' })
 */
export const duplicateClient = (
  template: RedisClient,
  { name, signal, typeMapping }: DuplicateClientOptions = {},
): RedisClient =>
  template.duplicate({
    commandOptions: { timeout: undefined, ...(typeMapping && { typeMapping }) },
    disableOfflineQueue: true,
    commandsQueueMaxLength: undefined,
    pingInterval: undefined,
    clientSideCache: undefined,
    emitInvalidate: undefined,
    socket: { ...socketOf(template), socketTimeout: undefined, reconnectStrategy: false, ...(signal && { signal }) },
    ...(name !== undefined && { name: name.replace(/[^!-~]/g, '-') }),
  })
