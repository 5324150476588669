import type { Observable } from 'rxjs'

import type { ListenReply, ListenRequest, PromoteReply, PromoteRequest, RetireRequest } from '../port/lanePort.js'
import { readVirtually } from './virtualClaims.js'
import { capBell, laneBell, scheduleBell, type VirtualLanes, workerBell } from './virtualLanes.js'
import { settleVirtually } from './virtualSettling.js'

/** Waits for the bells of lanes and caps, of the worker and of the schedule, and reads in the moment in which that ends. */
export function listenVirtually(lanes: VirtualLanes, request: ListenRequest): Observable<ListenReply> {
  const { workerId, slots, blockMs } = request
  const own = workerBell(workerId)
  const names = new Set([own])
  if (request.schedule) names.add(scheduleBell)
  for (const { lane, cap } of request.lanes) {
    names.add(laneBell(lane))
    if (cap !== undefined) names.add(capBell(lane.type))
  }
  return lanes.bells.listen([...names], blockMs, {
    answer: (bell): ListenReply => {
      const reply = slots.length > 0 ? readVirtually(lanes, request) : { claims: [], full: [] }
      if (bell === undefined || bell === own) return reply
      return { ...reply, bell: bell === scheduleBell ? 'schedule' : 'lanes' }
    },
    giveBack: ({ claims }, bell) => {
      for (const claim of claims) settleVirtually(lanes, claim, { kind: 'requeue' })
      const isForNothing = slots.length === 0 ? bell !== own : bell === scheduleBell
      if (bell !== undefined && isForNothing) lanes.bells.ring(bell)
    },
  })
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
  if (workerId === undefined) return
  lanes.schedule.giveBackRole(workerId)
  lanes.bells.silence(workerBell(workerId))
}
