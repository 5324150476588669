import { describe, expect, it } from 'vitest'

import { lane, laneBook, type LaneBook, type LaneBookOptions } from '../../../src/index.js'

const open = (options: Partial<LaneBookOptions> = {}): LaneBook =>
  laneBook({
    types: ['mail', 'scan'],
    compatibleVersions: {},
    tags: [],
    visibilityTimeoutMs: () => 60_000,
    cap: () => undefined,
    ...options,
  })

const namesOf = (book: LaneBook): string[] => book.lanes().map(({ lane }) => lane.name)

describe('laneBook', () => {
  it('begins with the untagged lanes of its types, version 1 unless it is told others', () => {
    expect(namesOf(open({ compatibleVersions: { mail: [1, 2], scan: [] } }))).toEqual(['mail:v1', 'mail:v2', 'scan:v1'])
  })

  it('has each lane once', () => {
    expect(namesOf(open({ types: ['mail', 'mail'], compatibleVersions: { mail: [2, 2] } }))).toEqual(['mail:v2'])
  })

  it('notes visibility and cap of the type', () => {
    const book = open({
      visibilityTimeoutMs: (type) => (type === 'mail' ? 100 : 200),
      cap: (type) => (type === 'mail' ? 3 : undefined),
    })

    expect(book.lanes()).toEqual([
      { lane: lane('mail', 1), visibilityTimeoutMs: 100, cap: 3 },
      { lane: lane('scan', 1), visibilityTimeoutMs: 200 },
    ])
    expect(book.lanes()[1]).not.toHaveProperty('cap')
  })

  it('takes up lanes whose tags it offers, and answers the new ones', () => {
    const book = open({ tags: ['eu', 'gpu'] })
    const [eu, both] = [lane('mail', 1, ['eu']), lane('mail', 1, ['gpu', 'eu'])]

    expect(book.learn([lane('mail', 1), eu, lane('mail', 1, ['eu', 'us']), both])).toEqual([eu, both])
    expect(namesOf(book)).toEqual(['mail:v1', 'scan:v1', eu.name, both.name])
    expect(book.learn([eu, both])).toEqual([])
  })

  it('takes up no lane of a type that is not its own', () => {
    expect(open().learn([lane('zip', 1), lane('mailing', 1), lane('mail:v1', 1)])).toEqual([])
  })

  it('takes up any version of a type that names none, and no others of one that does', () => {
    const book = open({ compatibleVersions: { mail: [1, 3] } })

    expect(book.learn([lane('mail', 2), lane('scan', 2)])).toEqual([lane('scan', 2)])
  })

  it('gives the same list until it learns of a lane, so that it can be compared', () => {
    const book = open()
    const before = book.lanes()
    book.learn([lane('zip', 1)])
    expect(book.lanes()).toBe(before)

    book.learn([lane('mail', 2)])
    expect(book.lanes()).not.toBe(before)
  })

  it('is not misled by types that are called like members of every object', () => {
    expect(namesOf(open({ types: ['constructor', '__proto__'] }))).toEqual(['constructor:v1', '__proto__:v1'])
  })
})
