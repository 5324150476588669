/** One connection to Redis, from the moment it is ready until it is lost. */
export type Link = {
  /**
   * Sends a command; those of one turn of the event loop share one write. Rejects with what the client rejects with.
   *
   * @param graceMs how much longer than usual the reply may take, for commands that block
   */
  send(args: readonly string[], graceMs?: number): Promise<unknown>
  /** Gives the connection up, so that another one is opened. */
  abandon(reason: unknown): void
}

/** Whether there is a connection at the moment; if not, why. */
export type LinkState = { readonly link: Link } | { readonly link?: undefined; readonly error: unknown }
