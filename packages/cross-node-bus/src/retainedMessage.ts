import type { BusMessage } from './busMessage.js'
import type { PayloadSnapshot } from './payloadSnapshot.js'

/** A message that has been accepted. Its envelope is made when the first receiver or replay asks for it. */
export class RetainedMessage {
  readonly #emittedAt = Date.now()
  #payload: PayloadSnapshot | undefined
  #message: BusMessage | undefined

  constructor(
    readonly originId: string,
    readonly seq: number,
    payload: PayloadSnapshot,
  ) {
    this.#payload = payload
  }

  /** The same object for everybody, and frozen. */
  get message(): BusMessage {
    if (!this.#message) {
      this.#message = Object.freeze<BusMessage>({
        v: 1,
        originId: this.originId,
        emittedAt: new Date(this.#emittedAt).toISOString(),
        seq: String(this.seq),
        payload: this.#payload?.parse(),
      })
      this.#payload = undefined
    }
    return this.#message
  }
}
