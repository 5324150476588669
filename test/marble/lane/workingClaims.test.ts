import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { type WorkingClaim, WorkingClaims } from '../../../src/claim/workingClaims.js'
import { claimOf } from '../../../src/testing/index.js'

describe('WorkingClaims', () => {
  it('holds what was added and not removed, in whatever order these come', () => {
    const steps = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(20)), { maxLength: 60 })
    fc.assert(
      fc.property(steps, (given) => {
        const working = new WorkingClaims()
        const held: WorkingClaim[] = []
        for (const [step, what] of given.entries()) {
          if (what === 'add') held.push(working.add(claimOf('w-slot-0', { taskId: String(step) })))
          else if (held.length > 0) {
            const [removed] = held.splice(what % held.length, 1)
            if (removed) working.remove(removed)
          }
          expect(working.size).toBe(held.length)
          expect(new Set(working)).toEqual(new Set(held.map(({ claim }) => claim)))
        }
      }),
    )
  })
})
