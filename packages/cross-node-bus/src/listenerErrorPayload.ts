/**
 * What `onListenerError` of an `EventHub` tells: which event's listener failed, and how.
 *
 * @example
 * ```ts
 * const hub = new EventHub<{ tick: number }>()
 * hub.subscribe('onListenerError', ({ event, error }: ListenerErrorPayload) => console.error(event, error))
 * ```
 */
export type ListenerErrorPayload = {
  /** Name of the event whose listener failed. */
  readonly event: string
  /** What it threw, or what its promise rejected with. */
  readonly error: unknown
}
