import type { BusMessage } from '@furystack/cross-node-bus'
import { type BusReporter, callGuarded } from '@furystack/cross-node-bus/adapter'
import { decodeMessage, type Entry } from '../streams/entry.js'
import type { Route } from './route.js'
import type { Subscriber } from './subscriber.js'

/** What deliveries need to know of the bus. */
export type DeliveryContext = {
  readonly nodeId: string
  readonly reporter: BusReporter
}

/** Handlers run for so long at a stretch (milliseconds), if one of them does not take longer by itself. */
const SLICE_MS = 8

/**
 * Delivers entries that were read, one of each topic in turn, for a short while. So a topic with much to deliver, or
 * with slow handlers, does not hold up the others for longer than one of its messages and the slice.
 *
 * @param now a clock in milliseconds
 */
export function deliverSlice(routes: Iterable<Route>, context: DeliveryContext, now: () => number): void {
  const endsAt = now() + SLICE_MS
  let busy = [...routes].filter(({ backlog }) => backlog.length > 0)
  // The time may be over before each has had its turn; then the others come first next time.
  busy.sort((a, b) => a.servedAt - b.servedAt)
  let served = Math.max(0, ...busy.map(({ servedAt }) => servedAt))
  while (busy.length > 0) {
    for (const route of busy) {
      route.servedAt = ++served
      deliverNext(route, context)
      if (now() >= endsAt) return
    }
    busy = busy.filter(({ backlog }) => backlog.length > 0)
  }
}

function deliverNext(route: Route, context: DeliveryContext): void {
  const next = route.next()
  const [first] = next?.subscribers ?? []
  if (next === undefined || first === undefined) return
  const message = decode(next.entry, next.subscribers, context)
  if (message === undefined) return
  context.reporter.received(first.topic, message)
  for (const subscriber of next.subscribers) {
    // It may have left while the others were called.
    if (!route.subscribers.has(subscriber)) continue
    if (subscriber.remoteOnly && message.originId === context.nodeId) continue
    callGuarded(
      () => subscriber.handler(message),
      (error) => context.reporter.failed(subscriber.topic, subscriber.phase, error),
    )
  }
}

function decode(entry: Entry, subscribers: readonly Subscriber[], context: DeliveryContext): BusMessage | undefined {
  try {
    return decodeMessage(entry)
  } catch (error) {
    reportToAll(subscribers, context.reporter, () => error)
    return undefined
  }
}

/** Reports an error that concerns a stream: once under each name that subscribers have for it. */
export function reportToAll(
  subscribers: Iterable<Subscriber>,
  reporter: BusReporter,
  errorOf: (topic: string) => unknown,
): void {
  const told = new Set<string>()
  for (const { topic, phase } of subscribers) {
    const name = `${phase} ${topic}`
    if (!told.has(name)) reporter.failed(topic, phase, errorOf(topic))
    told.add(name)
  }
}
