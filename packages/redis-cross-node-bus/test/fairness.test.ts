import { describe, expect, it } from 'vitest'

import { until } from '../../../test/support/until.js'
import { startBus, startListening } from './support/startBus.js'

const spin = (ms: number): void => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('a slow handler', () => {
  it('B16: holds up another topic for a few of its messages at most, not for all of them', async () => {
    const { bus, prefix, listen } = startBus()
    const speaker = startBus({ topicPrefix: prefix })
    const order: string[] = []
    bus.subscribe('slow', () => {
      order.push('slow')
      spin(10)
      // In the midst of it somebody else asks for something urgent.
      if (order.length === 5) void speaker.bus.publish('urgent', 'now')
    })
    bus.subscribe('urgent', () => order.push('urgent'))
    await bus.whenReady('slow')
    await listen('urgent')

    for (let number = 1; number < 100; number++) void speaker.bus.publish('slow', number)
    await speaker.bus.publish('slow', 100)
    await until(() => order.length === 101)

    const position = order.indexOf('urgent')
    expect(position).toBeGreaterThan(4)
    expect(position).toBeLessThan(40)
  })

  it('does not block the event loop between its messages', async () => {
    const { bus } = startBus()
    let delivered = 0
    let turns = 0
    const tick = (): void => {
      turns++
      if (delivered < 50) setImmediate(tick)
    }
    bus.subscribe('slow', () => {
      delivered++
      spin(10)
    })
    await bus.whenReady('slow')
    for (let number = 1; number < 50; number++) void bus.publish('slow', number)
    setImmediate(tick)
    await bus.publish('slow', 50)

    await until(() => delivered === 50)
    expect(turns).toBeGreaterThan(25)
  })

  it('keeps the order of its own topic', async () => {
    const { bus } = startBus()
    const slow: unknown[] = []
    bus.subscribe('t', ({ payload }) => {
      slow.push(payload)
      spin(3)
    })
    await bus.whenReady('t')
    const ear = startListening(bus, 't')
    const sent = Array.from({ length: 450 }, (_, index) => index)
    await Promise.all(sent.map((number) => bus.publish('t', number)))

    await ear.heard(449)
    expect(slow).toEqual(sent)
    expect(ear.payloads).toEqual(sent.slice(-ear.payloads.length))
  })
})
