import { describe, expect, it } from 'vitest'

import { connectClient } from '../../../test/support/redis.js'
import { startBus } from './support/startBus.js'

describe('the envelope on the wire', () => {
  it('is four fields of text', async () => {
    const admin = await connectClient()
    const { bus, prefix } = startBus({ nodeId: 'me' })

    await bus.publish('t', { some: 'thing' })
    await bus.publish('t', undefined)

    const [first, second] = (await admin.xRange(`${prefix}t`, '-', '+')) ?? []
    expect(first?.message).toEqual({
      v: '1',
      originId: 'me',
      emittedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
      payload: '{"some":"thing"}',
    })
    expect(second?.message['payload']).toBe('null')
  })

  it('B9: is refused and reported if it is of another version or broken, and the topic goes on', async () => {
    const admin = await connectClient()
    const { bus, prefix, errors, received, listen } = startBus()
    const ear = await listen('t')
    const fine = { v: '1', originId: 'x', emittedAt: '2024-01-01T00:00:00.000Z', payload: '"fine"' }

    await admin.xAdd(`${prefix}t`, '*', { ...fine, v: '2' })
    await admin.xAdd(`${prefix}t`, '*', { ...fine, payload: '{"broken' })
    await admin.xAdd(`${prefix}t`, '*', { something: 'else' })
    await admin.xAdd(`${prefix}t`, '*', { v: '1', originId: 'x', emittedAt: '' })
    await admin.xAdd(`${prefix}t`, '*', fine)

    await ear.heard('fine')
    expect(ear.payloads).toEqual(['fine'])
    expect(received).toHaveLength(1)
    expect(errors).toHaveLength(4)
    expect(errors).toMatchObject(
      [/version 2/, /JSON/, /version undefined/, /payload/].map((message) => ({
        topic: 't',
        phase: 'subscribe',
        error: { message: expect.stringMatching(message) as unknown },
      })),
    )
    await bus.publish('t', 'more')
    await ear.heard('more')
  })

  it('B17: is reported under the name and phase of each who would have got it', async () => {
    const admin = await connectClient()
    const { bus, prefix, errors, received } = startBus()
    const failure = new Error('no')
    const handles = [
      bus.subscribe('a/t', () => undefined),
      bus.subscribeForeign(`${prefix}a/`, 't', () => {
        throw failure
      }),
      bus.subscribeForeign(prefix, 'a/t', () => undefined),
    ]
    await bus.whenReady('a/t')

    await admin.xAdd(`${prefix}a/t`, '*', { v: '2' })
    await bus.publish('a/t', 1)

    await expect.poll(() => errors.length).toBe(4)
    expect(errors.map(({ topic, phase }) => `${phase} ${topic}`)).toEqual([
      'subscribe a/t',
      'subscribeForeign t',
      'subscribeForeign a/t',
      'subscribeForeign t',
    ])
    expect(errors.at(-1)?.error).toBe(failure)
    expect(received).toEqual([{ topic: 'a/t', originId: bus.nodeId, lagMs: expect.any(Number) as unknown }])
    for (const handle of handles) handle[Symbol.dispose]()
  })
})
