import { parseFrozen } from './parseFrozen.js'
import { serializePayload } from './serializePayload.js'

/**
 * A payload as it was when it was published. Most messages reach nobody, so the text, and the value that is read back
 * from it, are made when somebody first asks: a flat object of plain values needs no more than a copy until then.
 */
export class PayloadSnapshot {
  #json: string | undefined
  /** Stands for the text that has not been made yet. */
  #copy: object | undefined

  private constructor(json: string | undefined, copy: object | undefined) {
    this.#json = json
    this.#copy = copy
  }

  /** @throws whatever `JSON.stringify` throws: for a cycle, a `bigint` or a failing `toJSON`. */
  static of(payload: unknown): PayloadSnapshot {
    const copy = flatCopy(payload)
    return copy ? new PayloadSnapshot(undefined, copy) : new PayloadSnapshot(serializePayload(payload), undefined)
  }

  static ofJson(json: string): PayloadSnapshot {
    return new PayloadSnapshot(json, undefined)
  }

  /** The text that the payload travels as. */
  get json(): string {
    this.#json ??= serializePayload(this.#copy)
    this.#copy = undefined
    return this.#json
  }

  /** What receivers get; the same for all, and frozen. */
  parse(): unknown {
    return parseFrozen(this.json)
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
