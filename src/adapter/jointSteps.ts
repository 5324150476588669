import type { DeadLetterBox, FinishAttempt, JointSteps } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { lane } from '../keys/lane.js'
import type { Report } from '../events/laneEvent.js'
import { Submissions } from '../redis/submissions.js'
import type { Turns } from '../redis/turns.js'
import { cancelTask } from '../scripts/cancelTask.js'
import { createTasks } from '../scripts/createTasks.js'
import { expireTasks } from '../scripts/expireTasks.js'
import { extendAttempts } from '../scripts/extendAttempts.js'
import { spawnChild } from '../scripts/spawnChild.js'
import { startTask } from '../scripts/startTask.js'
import type { Claim } from '../claim/claim.js'
import type { FinishedClaim } from '../scripts/turn.js'
import { receiptOf } from './claimReceipt.js'

/** What the joint steps work with. */
export interface JointStepsOptions {
  readonly connection: Connection
  readonly turns: Turns
  readonly keys: Keys
  readonly group: string
  readonly deadLetters: DeadLetterBox
  readonly report: Report
}

/**
 * Row and entry in one script each: what makes a submit atomic, and a task cost two scripts on the worker's side.
 *
 * @example
 * const { deadLetters } = store
 * const joint = jointSteps({ connection, turns, keys: keys('svc/'), group: 'runner', deadLetters, report })
 */
export const jointSteps = (options: JointStepsOptions): JointSteps => {
  const { connection, turns, keys, group, deadLetters, report } = options
  const submissions = new Submissions(connection, keys, group)
  return {
    submit: (input) => submissions.submit(input),
    submitMany: (inputs, onResults) => createTasks(connection, keys, group, inputs, 'together', onResults),
    start: (input) => startTask(connection, keys, group, input, true),
    cancel: (input) => cancelTask(connection, keys, group, input),
    deadLetters,
    expireTasks: async ({ limit }) => {
      const failed = await expireTasks(connection, keys, group, limit)
      for (const { stored } of failed) {
        const { id, type, handlerVersion, tags } = stored.task
        report({ kind: 'deadLettered', id, lane: lane(type, handlerVersion, tags).name, reason: 'expired' })
      }
      return failed
    },
    spawn: (input) => spawnChild(connection, keys, group, input),

    finish: (claimed, input) => {
      const receipt = receiptOf(claimed)
      const { claim } = receipt
      const finishing = turns.finish(new ClaimEnd(claim, input))
      // It goes out in this turn, so the slot's next claim can go out in the same write.
      receipt.leave()
      return finishing.then((result) => {
        if (result.kind === 'finished') {
          receipt.isSettled = true
          report({ kind: 'settled', claim })
          if (result.status === 'failed' && result.removed !== true) {
            report({ kind: 'deadLettered', id: input.taskId, lane: claim.lane.name, reason: 'failed' })
          }
        }
        return result
      })
    },

    extend: async (claims) => {
      const attempts = claims.map(({ claim, input }) => ({ receipt: receiptOf(claim), input }))
      const results = await extendAttempts(
        connection,
        keys,
        group,
        attempts.map(({ receipt, input }) => ({ input, claim: receipt.claim })),
      )
      attempts.forEach(({ receipt }, index) => {
        if (results[index]?.kind === 'lost') receipt.markLost()
      })
      return results
    },
  }
}

/** A class, because there is one for each task in work: see "Classes for what is in work" in docs/performance.md. */
class ClaimEnd implements FinishedClaim {
  constructor(
    readonly claim: Claim,
    readonly input: FinishAttempt,
  ) {}
}
