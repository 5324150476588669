import type { BusMessage } from '@furystack/cross-node-bus'
import { parseFrozen } from '@furystack/cross-node-bus/adapter'

/** An element of a stream as Redis gives it: its id, and field after value after field. */
export type Entry = { readonly id: string; readonly fields: readonly unknown[] }

/** The entries in a reply of XRANGE, or those of one stream in a reply of XREAD. */
export function decodeEntries(reply: unknown): Entry[] {
  const entries: Entry[] = []
  for (const element of Array.isArray(reply) ? (reply as unknown[]) : []) {
    const [id, fields] = Array.isArray(element) ? (element as unknown[]) : []
    // Old servers may list an entry that was deleted, without its fields.
    if (typeof id === 'string' && Array.isArray(fields)) entries.push({ id, fields })
  }
  return entries
}

/**
 * The message in an entry, frozen.
 *
 * @throws Error for an envelope of another version or with a field missing, SyntaxError for a payload that is not JSON.
 */
export function decodeMessage({ id, fields }: Entry): BusMessage {
  const envelope = new Map<unknown, unknown>()
  for (let index = 0; index < fields.length; index += 2) envelope.set(fields[index], fields[index + 1])
  const version = envelope.get('v')
  if (version !== '1') throw new Error(`Entry ${id} is an envelope of version ${String(version)}, only 1 is known`)
  return Object.freeze({
    v: 1,
    originId: text(id, envelope, 'originId'),
    emittedAt: text(id, envelope, 'emittedAt'),
    seq: id,
    payload: parseFrozen(text(id, envelope, 'payload')),
  })
}

function text(id: string, envelope: ReadonlyMap<unknown, unknown>, field: string): string {
  const value = envelope.get(field)
  if (typeof value !== 'string') throw new Error(`Entry ${id} has no field "${field}"`)
  return value
}
