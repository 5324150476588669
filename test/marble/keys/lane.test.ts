import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { lane, parseLaneName } from '../../../src/index.js'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const awkward = fc.oneof(text, fc.constantFrom(':', ',', '%', ':v1', ':tags=', 'a:v1:tags=b', '%2C', '*'))
const type = awkward.filter((name) => name !== '')
const anyLane = fc.record({ type, version: fc.nat(), tags: fc.array(awkward, { maxLength: 4 }) })

describe('lane', () => {
  it('is named after type and version', () => {
    expect(lane('mail', 1)).toEqual({ type: 'mail', handlerVersion: 1, tags: [], name: 'mail:v1' })
  })

  it('sorts its tags, leaves out repetitions, and carries them in its name', () => {
    expect(lane('render', 2, ['gpu', 'eu', 'gpu'])).toEqual({
      type: 'render',
      handlerVersion: 2,
      tags: ['eu', 'gpu'],
      name: 'render:v2:tags=eu,gpu',
    })
  })

  it('leaves the list that it is given alone', () => {
    const tags = ['b', 'a']
    lane('render', 1, tags)

    expect(tags).toEqual(['b', 'a'])
  })

  it('encodes what would be mistaken for its punctuation', () => {
    expect(lane('render', 1, ['a,b', 'c:d']).name).toBe('render:v1:tags=a%2Cb,c%3Ad')
  })

  it('can be read back from its name, whatever characters it holds', () => {
    fc.assert(
      fc.property(anyLane, ({ type, version, tags }) => {
        const made = lane(type, version, tags)

        expect(parseLaneName(made.name)).toEqual(made)
      }),
    )
  })

  it('shares its name with no other', () => {
    fc.assert(
      fc.property(anyLane, anyLane, (one, other) => {
        const [a, b] = [one, other].map(({ type, version, tags }) => lane(type, version, tags))
        const isSame =
          a?.type === b?.type &&
          a?.handlerVersion === b?.handlerVersion &&
          JSON.stringify(a?.tags) === JSON.stringify(b?.tags)

        expect(a?.name === b?.name).toBe(isSame)
      }),
    )
  })
})

describe('parseLaneName', () => {
  it.each(['', 'mail', 'mail:v', 'mail:vx', ':v1', 'mail:v1:', 'mail:v1:tags', 'mail:v1:tags=%', 'mail:v1:tags=a:b'])(
    'answers undefined for %o',
    (name) => {
      expect(parseLaneName(name)).toBeUndefined()
    },
  )

  it('takes the last version for the lane’s', () => {
    expect(parseLaneName('a:v1:v2')).toEqual(lane('a:v1', 2))
  })

  it('tells an empty tag from no tag', () => {
    expect(parseLaneName('mail:v1:tags=')).toEqual(lane('mail', 1, ['']))
  })
})
