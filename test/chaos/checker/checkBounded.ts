import type { Check } from './check.js'

/** G8. Nothing lies about once all tasks are over; a worker that has drained leaves no consumer. */
export const checkBounded: Check = ({ state, workerOf, of, wasDisturbed }) => {
  const drained = new Map(of('drained').map(({ by, at }) => [by, at]))
  const left = state.consumers.flatMap((name) => {
    const by = workerOf.get(name.replace(/-slot-\d+$/, ''))?.by ?? ''
    const at = drained.get(by)
    // Who drains while Redis is away cannot take its consumers along; others do that later.
    return at === undefined || wasDisturbed(at - 1_000, at, by)
      ? []
      : [{ at, message: `${by} has left the consumer ${name}` }]
  })
  return [...state.leftovers.map((what) => ({ message: `left in the end: ${what}` })), ...left]
}
