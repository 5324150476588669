import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { Deque } from '../../src/collections/deque.js'
import { DueQueue } from '../../src/collections/dueQueue.js'

describe('DueQueue', () => {
  it('gives what is due, earliest first, in the order of arrival', () => {
    const set = fc.record({ kind: fc.constant('set' as const), key: fc.nat(20), due: fc.nat(10) })
    const remove = fc.record({ kind: fc.constant('delete' as const), key: fc.nat(20) })
    const take = fc.record({ kind: fc.constant('take' as const), now: fc.nat(10) })
    fc.assert(
      fc.property(fc.array(fc.oneof(set, remove, take), { maxLength: 200 }), (steps) => {
        const queue = new DueQueue<number, string>()
        let model: Array<{ key: number; value: string; due: number; order: number }> = []
        for (const [order, step] of steps.entries()) {
          if (step.kind === 'set') {
            const value = `${step.key}@${order}`
            queue.set(step.key, value, step.due)
            model = [...model.filter(({ key }) => key !== step.key), { ...step, value, order }]
          } else if (step.kind === 'delete') {
            queue.delete(step.key)
            model = model.filter(({ key }) => key !== step.key)
          } else {
            const [first] = model.filter(({ due }) => due <= step.now)
            expect(queue.takeDue(step.now)).toBe(first?.value)
            model = model.filter((entry) => entry !== first)
          }
          model.sort((a, b) => a.due - b.due || a.order - b.order)
          expect(queue.nextDue).toBe(model[0]?.due)
          expect(queue.size).toBe(model.length)
        }
      }),
    )
  })
})

describe('Deque', () => {
  it('is first in, first out, and lets go of what was taken', () => {
    const deque = new Deque<number>()
    let next = 0
    let expected = 0
    for (let round = 0; round < 50; round++) {
      for (let count = 0; count < 200; count++) deque.push(next++)
      for (let count = 0; count < 190; count++) expect(deque.shift()).toBe(expected++)
      expect(deque.length).toBe(next - expected)
    }
    while (deque.length > 0) expect(deque.shift()).toBe(expected++)
    expect(deque.shift()).toBeUndefined()
    expect(expected).toBe(next)
  })
})
