import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { lane } from '../../../src/index.js'
import { isRowId, keys } from '../../../src/keys/keys.js'

describe('keys', () => {
  it('names what other programs may look at', () => {
    const of = keys('svc-a/')

    expect(of.queue(lane('mail', 1))).toBe('svc-a/tasks:queue:mail:v1')
    expect(of.queue(lane('mail', 1, ['eu']))).toBe('svc-a/tasks:queue:mail:v1:tags=eu')
    expect(of.idempotency('mail', 'welcome-7')).toBe('svc-a/tasks:idem:mail:welcome-7')
    expect(of.scheduler).toBe('svc-a/tasks:scheduler')
  })

  it('begins each with the prefix', () => {
    const of = keys('{a}/')
    const all = [
      of.root,
      of.scheduler,
      of.lanes,
      of.scheduleBell,
      of.leases,
      of.unqueued,
      of.queue(lane('mail', 1)),
      of.bell(lane('mail', 1)),
      of.capBell('mail'),
      of.workerBell('w'),
      of.row('a'),
      of.idempotency('mail', 'k'),
    ]

    expect(all.filter((key) => !key.startsWith('{a}/tasks:'))).toEqual([])
    expect(new Set(all).size).toBe(all.length)
  })

  it('works without a prefix', () => {
    expect(keys('').row('a')).toBe('tasks:row:a')
  })

  it('gives no two idempotency keys of different types the same name', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom(':', '%', '%3A', 'a:b', 'a'))
    const of = keys('')

    fc.assert(
      fc.property(text, text, text, text, (type, key, otherType, otherKey) => {
        const isSame = type === otherType && key === otherKey

        expect(of.idempotency(type, key) === of.idempotency(otherType, otherKey)).toBe(isSame)
      }),
    )
  })
})

describe('ids of rows', () => {
  const scripts = fileURLToPath(new URL('../../../src/scripts', import.meta.url))

  it('cannot be those of what lies beside a row, all of which is known', () => {
    const used = readdirSync(scripts).flatMap((file) =>
      [...readFileSync(join(scripts, file), 'utf8').matchAll(/(?:row|parent|key) \.\. ':(\w+)'/g)].map(
        ([, name]) => name,
      ),
    )
    expect(new Set(used).size).toBeGreaterThan(1)
    for (const name of [...used, 'steps']) {
      expect(isRowId(`a:${String(name)}`)).toBe(false)
      expect(keys('').row(`a:${String(name)}`)).not.toBe(`tasks:row:a:${String(name)}`)
    }
    expect(isRowId('a:b')).toBe(true)
    expect(keys('').row('a:b')).toBe('tasks:row:a:b')
  })
})
