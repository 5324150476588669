import type { Lane } from '../keys/lane.js'

/**
 * The schedule's member for a task: JSON of `taskId`, `type` and `handlerVersion`, and for a tagged lane its name.
 *
 * @example
 * parkedMember('a', lane('mail', 1)) // '{"taskId":"a","type":"mail","handlerVersion":1}'
 */
export const parkedMember = (taskId: string, lane: Lane): string =>
  JSON.stringify({
    taskId,
    type: lane.type,
    handlerVersion: lane.handlerVersion,
    ...(lane.tags.length > 0 && { lane: lane.name }),
  })
