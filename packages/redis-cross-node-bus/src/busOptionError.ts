/**
 * An option was refused, or the server that the client leads to: it is none that the bus could ever use. The message says
 * what would do instead.
 *
 * @example
 * ```ts
 * new BusOptionError('client', 'not connected', 'a connected client').message // 'client: not connected is not a connected client'
 * ```
 */
export class BusOptionError extends TypeError {
  override readonly name = 'BusOptionError'

  constructor(
    /** The name of the option. */
    readonly option: string,
    /** What it is; of what may hold a password, only its kind. */
    readonly value: string,
    /** What it has to be. */
    readonly allowed: string,
  ) {
    super(`${option}: ${value} is not ${allowed}`)
  }
}
