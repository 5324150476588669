import type { Lane } from '../keys/lane.js'

/**
 * An entry that was delivered and not yet settled.
 *
 * @example
 * port.pending(lane('mail', 1))[0]?.consumer // 'w-slot-0'
 */
export interface PendingEntry {
  /** Where it is. */
  readonly lane: Lane
  /** Its id in the stream. */
  readonly entryId: string
  /** The task. */
  readonly taskId: string
  /** The slot that it was read by. */
  readonly consumer: string
  /** How often it was delivered, from 1. */
  readonly deliveryCount: number
  /** When it was last delivered or renewed, by the scheduler's clock. */
  readonly idleSince: number
}

/** Which delivery somebody claims to own: consumer and delivery count are the fence. */
export interface Fence {
  readonly entryId: string
  readonly consumer: string
  readonly deliveryCount: number
}

interface StoredEntry {
  readonly entryId: string
  readonly taskId: string
}

interface Group {
  /** Behind this index nothing has been delivered yet. */
  next: number
  readonly order: StoredEntry[]
  readonly pending: Map<string, PendingEntry>
  /** When each consumer last asked for something. */
  readonly consumers: Map<string, number>
}

/** How far one walk over the pending entries goes, as on the server: ten pages of a hundred. */
const WALK = 1_000

/** The stream of one lane with its one consumer group. */
export interface VirtualStream {
  append(taskId: string): void
  /** Delivers the next new entry; makes the group, from the beginning, if it is missing. */
  readNext(consumer: string): StoredEntry | undefined
  hasGroup(): boolean
  owns(fence: Fence): boolean
  /** Gives a pending entry to another consumer; `undefined` if the entry was deleted, which ends its pending too. */
  takeOver(entryId: string, consumer: string): PendingEntry | undefined
  renew(entryId: string): void
  settle(entryId: string): void
  /** The pending entries behind a position, oldest first, and where to go on (`-`: at the beginning). */
  walk(position: string): { readonly entries: readonly PendingEntry[]; readonly position: string }
  pending(): readonly PendingEntry[]
  /** How many entries there are, delivered or not. */
  length(): number
  consumers(): ReadonlyMap<string, number>
  removeConsumer(consumer: string): void
  destroyGroup(): void
  deleteEntry(entryId: string): void
}

/** A stream that nobody has written to yet. Its first entry brings its group, or whoever reads before that. */
export const virtualStream = (lane: Lane, now: () => number): VirtualStream => {
  const entries = new Map<string, StoredEntry>()
  let lastMs = 0
  let lastSerial = 0
  let hadGroup = false
  let group: Group | undefined

  const makeGroup = (): Group => {
    hadGroup = true
    return newGroup([...entries.values()])
  }

  const nextId = (): string => {
    const ms = now()
    lastSerial = ms > lastMs ? 0 : lastSerial + 1
    lastMs = Math.max(lastMs, ms)
    return `${String(lastMs)}-${String(lastSerial)}`
  }

  const deliver = ({ entryId, taskId }: StoredEntry, to: Group, consumer: string, count: number): PendingEntry => {
    const pending = { lane, entryId, taskId, consumer, deliveryCount: count, idleSince: now() }
    to.pending.set(entryId, pending)
    to.consumers.set(consumer, now())
    return pending
  }

  return {
    append: (taskId) => {
      // A group that was lost is made again by the next read only.
      if (!hadGroup) group = makeGroup()
      const entry = { entryId: nextId(), taskId }
      entries.set(entry.entryId, entry)
      group?.order.push(entry)
    },

    readNext: (consumer) => {
      group ??= makeGroup()
      group.consumers.set(consumer, now())
      let entry = group.order[group.next]
      while (entry && !entries.has(entry.entryId)) entry = group.order[++group.next]
      if (!entry) return undefined
      group.next++
      forgetDelivered(group)
      return deliver(entry, group, consumer, 1)
    },

    hasGroup: () => group !== undefined,

    owns: ({ entryId, consumer, deliveryCount }) => {
      const pending = group?.pending.get(entryId)
      return pending?.consumer === consumer && pending.deliveryCount === deliveryCount
    },

    takeOver: (entryId, consumer) => {
      const pending = group?.pending.get(entryId)
      if (!group || !pending) return undefined
      if (entries.has(entryId)) return deliver(pending, group, consumer, pending.deliveryCount + 1)
      group.pending.delete(entryId)
      return undefined
    },

    renew: (entryId) => {
      const pending = group?.pending.get(entryId)
      if (!group || !pending) return
      if (entries.has(entryId)) deliver(pending, group, pending.consumer, pending.deliveryCount)
      else group.pending.delete(entryId)
    },

    settle: (entryId) => {
      group?.pending.delete(entryId)
      entries.delete(entryId)
    },

    walk: (position) => {
      const from = position === '-' ? undefined : position.slice(1)
      const found = [...(group?.pending.values() ?? [])].filter(
        ({ entryId }) => from === undefined || isBehind(entryId, from),
      )
      const walked = found.slice(0, WALK)
      const last = walked[WALK - 1]
      return { entries: walked, position: last ? `(${last.entryId}` : '-' }
    },

    pending: () => [...(group?.pending.values() ?? [])],
    length: () => entries.size,
    consumers: () => group?.consumers ?? new Map<string, number>(),
    removeConsumer: (consumer) => group?.consumers.delete(consumer),
    destroyGroup: () => {
      group = undefined
    },
    deleteEntry: (entryId) => entries.delete(entryId),
  }
}

const newGroup = (order: StoredEntry[]): Group => ({ next: 0, order, pending: new Map(), consumers: new Map() })

/** Keeps the list as short as what is still to be delivered, at little cost an entry. */
const forgetDelivered = (group: Group): void => {
  if (group.next < 1_000 || group.next * 2 < group.order.length) return
  group.order.splice(0, group.next)
  group.next = 0
}

/** Entry ids are milliseconds and a serial number. */
const isBehind = (entryId: string, other: string): boolean => {
  const [ms = 0, serial = 0] = entryId.split('-').map(Number)
  const [otherMs = 0, otherSerial = 0] = other.split('-').map(Number)
  return ms > otherMs || (ms === otherMs && serial > otherSerial)
}
