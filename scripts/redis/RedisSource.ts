/**
 * What `ensureRedis` found: a server binary to start as often as wanted, or the URL of one that is already running.
 * `stop` ends the running one if looking for it is what started it, and does nothing otherwise.
 */
export type RedisSource =
  | { readonly kind: 'binary'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string; readonly stop: () => Promise<void> }
