import { afterEach, describe, expect, it, vi } from 'vitest'
import { EventHub } from '../src/index.js'

type Events = { onSold: { article: string }; onClosed: undefined }

afterEach(() => {
  vi.restoreAllMocks()
})

describe('EventHub', () => {
  it('calls the listeners before emit returns, in the order of registration', () => {
    const hub = new EventHub<Events>()
    const calls: string[] = []
    hub.addListener('onSold', ({ article }) => calls.push(`first ${article}`))
    hub.subscribe('onSold', ({ article }) => calls.push(`second ${article}`))
    hub.addListener('onClosed', () => calls.push('closed'))

    hub.emit('onSold', { article: 'tea' })

    expect(calls).toEqual(['first tea', 'second tea'])
  })

  it('leaves listeners added during an emission to the next one', () => {
    const hub = new EventHub<Events>()
    const late = vi.fn()
    using first = hub.subscribe('onClosed', () => hub.addListener('onClosed', late))

    hub.emit('onClosed', undefined)
    expect(late).not.toHaveBeenCalled()

    first[Symbol.dispose]()
    hub.emit('onClosed', undefined)
    expect(late).toHaveBeenCalledTimes(1)
  })

  it('spares a listener that is removed during the emission, and still calls the one after it', () => {
    const hub = new EventHub<Events>()
    const removed = vi.fn()
    const last = vi.fn()
    hub.addListener('onClosed', () => hub.removeListener('onClosed', removed))
    hub.addListener('onClosed', removed)
    hub.addListener('onClosed', last)

    hub.emit('onClosed', undefined)

    expect(removed).not.toHaveBeenCalled()
    expect(last).toHaveBeenCalledTimes(1)
  })

  it('counts every registration of the same function', () => {
    const hub = new EventHub<Events>()
    const listener = vi.fn()
    const first = hub.subscribe('onClosed', listener)
    hub.subscribe('onClosed', listener)

    first[Symbol.dispose]()
    first[Symbol.dispose]()
    hub.emit('onClosed', undefined)
    expect(listener).toHaveBeenCalledTimes(1)

    hub.removeListener('onClosed', listener)
    hub.removeListener('onClosed', listener)
    hub.emit('onClosed', undefined)
    expect(listener).toHaveBeenCalledTimes(1)
  })

  it('takes back the latest registration of a function that was added twice', () => {
    const hub = new EventHub<Events>()
    const calls: string[] = []
    const twice = () => calls.push('twice')
    hub.addListener('onClosed', twice)
    hub.addListener('onClosed', () => calls.push('between'))
    hub.addListener('onClosed', twice)

    hub.removeListener('onClosed', twice)
    hub.emit('onClosed', undefined)

    expect(calls).toEqual(['twice', 'between'])
  })

  it('knows whether anybody listens', () => {
    const hub = new EventHub<Events>()
    expect(hub.hasListeners('onSold')).toBe(false)

    const subscription = hub.subscribe('onSold', () => undefined)
    expect(hub.hasListeners('onSold')).toBe(true)
    expect(hub.hasListeners('onClosed')).toBe(false)

    subscription[Symbol.dispose]()
    expect(hub.hasListeners('onSold')).toBe(false)
  })

  it('tells onListenerError of a throw and goes on with the next listener', () => {
    const hub = new EventHub<Events>()
    const failure = new Error('sold out')
    const failed = vi.fn()
    const sibling = vi.fn()
    hub.addListener('onListenerError', failed)
    hub.addListener('onSold', () => {
      throw failure
    })
    hub.addListener('onSold', sibling)

    hub.emit('onSold', { article: 'tea' })

    expect(failed.mock.calls).toEqual([[{ event: 'onSold', error: failure }]])
    expect(sibling).toHaveBeenCalledTimes(1)
  })

  it('tells onListenerError of a rejection', async () => {
    const hub = new EventHub<Events>()
    const failure = new Error('sold out')
    const told = new Promise((resolve) => hub.addListener('onListenerError', resolve))
    hub.addListener('onSold', () => Promise.reject(failure))

    hub.emit('onSold', { article: 'tea' })

    expect(await told).toEqual({ event: 'onSold', error: failure })
  })

  it('writes failures to the console if nobody listens to them', () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const hub = new EventHub<Events>()
    const failure = new Error('sold out')
    hub.addListener('onSold', () => {
      throw failure
    })

    hub.emit('onSold', { article: 'tea' })

    expect(write.mock.calls).toEqual([[expect.stringContaining('onSold'), failure]])
  })

  it('writes the failure of an error listener to the console instead of telling it again', () => {
    const write = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const hub = new EventHub<Events>()
    const secondFailure = new Error('the listener of errors fails too')
    const failing = vi.fn(() => {
      throw secondFailure
    })
    hub.addListener('onListenerError', failing)
    hub.addListener('onClosed', () => {
      throw new Error('first')
    })

    hub.emit('onClosed', undefined)

    expect(failing).toHaveBeenCalledTimes(1)
    expect(write.mock.calls).toEqual([[expect.stringContaining('onListenerError'), secondFailure]])
  })

  it('reaches nobody after disposal, even when disposed in the midst of an emission', () => {
    const hub = new EventHub<Events>()
    const listener = vi.fn()
    hub.addListener('onClosed', () => hub[Symbol.dispose]())
    hub.addListener('onClosed', listener)

    hub.emit('onClosed', undefined)
    hub.addListener('onClosed', listener)
    hub.emit('onClosed', undefined)

    expect(listener).not.toHaveBeenCalled()
    expect(hub.hasListeners('onClosed')).toBe(false)
  })
})
