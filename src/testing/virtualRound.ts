import { map, type Observable } from 'rxjs'

import type { Bell, ListenRequest, PromoteReply, PromoteRequest, RetireRequest } from '../port/lanePort.js'
import { capBell, laneBell, scheduleBell, type VirtualLanes } from './virtualLanes.js'

/** Waits for the bells of lanes and caps, and of the schedule. */
export function listenVirtually({ bells }: VirtualLanes, request: ListenRequest): Observable<Bell> {
  const names = new Set(request.schedule ? [scheduleBell] : [])
  for (const { lane, cap } of request.lanes) {
    names.add(laneBell(lane))
    if (cap !== undefined) names.add(capBell(lane.type))
  }
  return bells.listen([...names], request.blockMs).pipe(map((bell) => (bell === scheduleBell ? 'schedule' : 'lanes')))
}

/** Moves due tasks to their lanes, for the one that has the role. */
export const promoteVirtually = (lanes: VirtualLanes, request: PromoteRequest): PromoteReply => {
  const reply = lanes.schedule.promote(request, ({ lane, taskId }) => {
    lanes.enqueue(lane, taskId)
  })
  return { ...reply, knownLanes: lanes.known().length }
}

/** Removes consumers without pending entries: the given ones, and those gone for long. Gives the role back. */
export const retireVirtually = (lanes: VirtualLanes, request: RetireRequest): void => {
  const { workerId, slots, goneMs } = request
  for (const lane of request.lanes) {
    const stream = lanes.find(lane)
    const owners = new Set(stream?.pending().map(({ consumer }) => consumer))
    for (const [consumer, seenAt] of stream?.consumers() ?? []) {
      const isGone = goneMs > 0 && lanes.now() - seenAt > goneMs
      if (!owners.has(consumer) && (slots.includes(consumer) || isGone)) stream?.removeConsumer(consumer)
    }
  }
  if (workerId !== undefined) lanes.schedule.giveBackRole(workerId)
}
