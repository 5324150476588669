/**
 * A task with `notBefore` was given to a runner whose queue cannot delay. Thrown before anything is written.
 *
 * @example
 * const notBefore = new Date(Date.now() + 60_000)
 * if (runner.capabilities.delayedDispatch)
 *   await runner.submit({ type: 'send-mail', handlerVersion: 1, payload: {}, notBefore })
 */
export class UnsupportedDelayError extends Error {
  public override readonly name = 'UnsupportedDelayError'

  constructor() {
    super('The queue of this task runner cannot delay tasks: "notBefore" is not supported')
  }
}
