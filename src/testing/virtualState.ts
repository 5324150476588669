import type { Lane } from '../keys/lane.js'
import type { VirtualLanes } from './virtualLanes.js'
import type { ParkedEntry } from './virtualSchedule.js'
import type { PendingEntry } from './virtualStream.js'

/**
 * A view on the state of virtual lanes, and what an operator or a misfortune may do to it.
 *
 * @example
 * port.pending(lane('mail', 1)).map(({ consumer }) => consumer) // ['w-slot-0']
 * port.pause(lane('mail', 1))
 */
export interface VirtualState {
  /** What was delivered and not yet settled, in one lane or in all of them, oldest first within a lane. */
  pending(lane?: Lane): readonly PendingEntry[]
  /** How many entries a lane has, delivered or not. */
  length(lane: Lane): number
  /** Parked tasks, earliest first. */
  parked(): readonly ParkedEntry[]
  /** Names of the consumers of a lane's group. */
  consumers(lane: Lane): readonly string[]
  /** How many claims of a type hold a place under its cap. */
  holders(type: string): number
  /** Who promotes at the moment. */
  promoter(): string | undefined
  /** Pauses a lane, or without one the fleet. */
  pause(lane?: Lane): void
  /** Ends the pause of a lane, or without one of the fleet. */
  resume(lane?: Lane): void
  /** Loses a lane's group with all that is pending, as `XGROUP DESTROY` does. */
  destroyGroup(lane: Lane): void
  /** Deletes an entry, pending or not, as `XDEL` does. */
  deleteEntry(lane: Lane, entryId: string): void
}

/** The view on these lanes. */
export const virtualState = (lanes: VirtualLanes): VirtualState => ({
  pending: (lane) => (lane ? [lane] : lanes.known()).flatMap((each) => lanes.find(each)?.pending() ?? []),
  length: (lane) => lanes.find(lane)?.length() ?? 0,
  parked: () => lanes.schedule.parked(),
  consumers: (lane) => [...(lanes.find(lane)?.consumers().keys() ?? [])],
  holders: (type) => lanes.caps.count(type),
  promoter: () => lanes.schedule.promoter(),
  pause: (lane) => {
    lanes.paused.add(lane?.name ?? '*')
  },
  resume: (lane) => {
    lanes.paused.delete(lane?.name ?? '*')
  },
  destroyGroup: (lane) => {
    lanes.find(lane)?.destroyGroup()
  },
  deleteEntry: (lane, entryId) => {
    lanes.find(lane)?.deleteEntry(entryId)
  },
})
