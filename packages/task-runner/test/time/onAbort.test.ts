import { getEventListeners } from 'node:events'

import { describe, expect, it } from 'vitest'

import { onAbort } from '../../src/time/onAbort.js'

describe('onAbort', () => {
  it('has one listener for all who listen to a signal, and none for nobody', () => {
    const { signal } = new AbortController()
    const ends = Array.from({ length: 100 }, () => onAbort(signal, () => undefined))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    for (const end of ends.slice(1)) end()
    for (const end of ends.slice(1)) end()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    ends[0]?.()
    expect(getEventListeners(signal, 'abort')).toEqual([])
    onAbort(signal, () => undefined)()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('calls each back once, in order, and nobody who has ended, also in the midst of it', () => {
    const controller = new AbortController()
    const called: string[] = []
    const call = (name: string) => () => void called.push(name)
    const twice = call('twice')
    const endOf = new Map<string, () => void>()
    onAbort(controller.signal, call('first'))
    onAbort(controller.signal, () => endOf.get('late')?.())
    onAbort(controller.signal, twice)
    onAbort(controller.signal, twice)
    endOf.set('late', onAbort(controller.signal, call('late')))
    onAbort(controller.signal, call('gone'))()
    controller.abort()
    expect(called).toEqual(['first', 'twice', 'twice'])
  })
})
