import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { canonicalJson } from '../json/canonicalJson.js'
import type { CreateTask } from '../store/createTask.js'
import { keyOfScope } from './idempotencyScope.js'

/** Throws for a list in which an idempotency key comes with two payloads. */
export const checkKeys = (creates: readonly CreateTask[]): void => {
  const payloads = new Map<string, string>()
  for (const [index, { type, idempotencyKey, payloadJson }] of creates.entries()) {
    if (idempotencyKey === undefined) continue
    const name = JSON.stringify([type, idempotencyKey])
    const payload = payloadJson === undefined ? '' : canonicalJson(JSON.parse(payloadJson))
    if ((payloads.get(name) ?? payload) !== payload) {
      const property = `list[${String(index)}].idempotencyKey`
      throw new InvalidArgumentError(property, keyOfScope(idempotencyKey), 'the key of one payload only')
    }
    payloads.set(name, payload)
  }
}
