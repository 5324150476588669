/**
 * Whether an answer means "not now" or "not here": the server is starting, failing over or busy, or the slot has moved or
 * is on its way, and nothing was done.
 */
export function isTransient(code: string | undefined): boolean {
  return code !== undefined && TRANSIENT.has(code)
}

const TRANSIENT = new Set([
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'BUSY',
  // While a slot moves, no node has all of its keys, so there is none that could be asked instead.
  'MOVED',
  'ASK',
  'TRYAGAIN',
  'CLUSTERDOWN',
])
