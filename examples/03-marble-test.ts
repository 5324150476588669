/**
 * The third way: test lanes in virtual time. Nothing here waits, and no Redis is needed.
 *
 *     npx tsx examples/03-marble-test.ts
 *
 * In a test runner, give `TestScheduler` that runner's way to compare: `(a, b) => expect(a).toEqual(b)`.
 */
import { deepStrictEqual } from 'node:assert'

import { type Claim, fillSlots, lane, readNew, readWhenCalled, waitWhenEmpty } from '@furystack/redis-task-runner'
import { claimOf, marbleLanePort, readReply, virtualLanePort } from '@furystack/redis-task-runner/testing'
import { concatMap, delay, map, of } from 'rxjs'
import { TestScheduler } from 'rxjs/testing'

const compare = (actual: unknown, expected: unknown): void => {
  deepStrictEqual(actual, expected)
}
const mail = lane('mail', 1)
const lanes = () => [{ lane: mail, visibilityTimeoutMs: 60_000 }]

// 1. Each operation of the port can be a marble. Here Redis answers after 2 ms, and the tasks take 5 and 9 ms. The slots
//    start together; the one that is free first is asked for alone, and nothing is claimed for the busy one.
const asked = new TestScheduler(compare).run(({ cold, expectObservable }) => {
  const first = [claimOf('w-slot-0', { taskId: 'a' }), claimOf('w-slot-1', { taskId: 'b' })]
  const second = [claimOf('w-slot-0', { taskId: 'c' })]
  const answers = [cold('--(r|)', { r: readReply(first) }), cold('--(r|)', { r: readReply(second) })]
  const port = marbleLanePort({ read: () => answers.shift() ?? cold('-') })

  const source = readNew(port, { workerId: 'w', lanes })
  const work = ({ taskId }: Claim) => of(taskId).pipe(delay(taskId === 'b' ? 9 : 5))
  const lane$ = fillSlots(source, work, { slots: ['w-slot-0', 'w-slot-1'] })

  expectObservable(lane$, '20ms !').toBe('-------a---b--c')
  return port
})
deepStrictEqual(asked.demands('read'), [['w-slot-0', 'w-slot-1'], ['w-slot-0'], ['w-slot-1']])

// 2. Or take the model, which keeps streams, claims and bells in memory, in the same virtual time. The slot is idle when
//    a task comes after 30 ms; the bell wakes it.
new TestScheduler(compare).run(({ expectObservable, cold }) => {
  const model = virtualLanePort()
  const source = waitWhenEmpty(
    readNew(model, { workerId: 'w', lanes }),
    readWhenCalled(model, { workerId: 'w', lanes, waitMs: () => 1_000 }),
  )
  const work = (claim: Claim) => model.settle(claim, { kind: 'done' }).pipe(map((reply) => `${claim.taskId} ${reply}`))

  const comes$ = cold('30ms (a|)').pipe(concatMap((taskId) => model.enqueue({ taskId, lane: mail })))
  expectObservable(comes$).toBe('30ms (x|)', { x: undefined })
  expectObservable(fillSlots(source, work, { slots: ['w-slot-0'] }), '100ms !').toBe('30ms x', { x: 'a settled' })
})

console.log('both marble tests hold')
