import type { BusMessage } from './busMessage.js'
import { parseFrozen } from './parseFrozen.js'
import { serializePayload } from './serializePayload.js'

/**
 * A message as the broker keeps it. Most messages reach nobody, so text, value and envelope are made when somebody first
 * asks for them: of a flat payload of plain values no more than a copy is needed until then.
 */
export class RetainedMessage {
  /** Position within the topic; set once the message has been accepted. */
  seq = 0
  readonly #emittedAt = Date.now()
  #json: string | undefined
  /** Stands for the text that has not been made yet. */
  #copy: object | undefined
  #message: BusMessage | undefined

  private constructor(
    readonly originId: string,
    json: string | undefined,
    copy: object | undefined,
  ) {
    this.#json = json
    this.#copy = copy
  }

  /** @throws whatever `JSON.stringify` throws: for a cycle, a `bigint` or a failing `toJSON`. */
  static of(originId: string, payload: unknown): RetainedMessage {
    const copy = flatCopy(payload)
    return new RetainedMessage(originId, copy ? undefined : serializePayload(payload), copy)
  }

  /** @throws SyntaxError if `json` is not JSON. */
  static ofJson(originId: string, json: string): RetainedMessage {
    JSON.parse(json)
    return new RetainedMessage(originId, json, undefined)
  }

  /** The text that the payload travels as. */
  get json(): string {
    this.#json ??= serializePayload(this.#copy)
    this.#copy = undefined
    return this.#json
  }

  /** What receivers get: the same object for everybody, and frozen. */
  get message(): BusMessage {
    this.#message ??= Object.freeze<BusMessage>({
      v: 1,
      originId: this.originId,
      emittedAt: new Date(this.#emittedAt).toISOString(),
      seq: String(this.seq),
      payload: parseFrozen(this.json),
    })
    return this.#message
  }
}

/** A copy that nothing can change later, and that JSON will not refuse; `undefined` where that takes a closer look. */
function flatCopy(payload: unknown): object | undefined {
  if (typeof payload !== 'object' || payload === null || Object.getPrototypeOf(payload) !== Object.prototype) return
  const copy: Record<string, unknown> = { ...payload }
  for (const key in copy) {
    const value = copy[key]
    const kind = typeof value
    if (kind !== 'string' && kind !== 'number' && kind !== 'boolean' && value !== undefined && value !== null) return
  }
  return copy
}
