import {
  type BusMessage,
  type CrossNodeBus,
  CrossNodeBusTelemetry,
  type CrossNodeBusTelemetryEvents,
  InvalidTopicError,
  ReplayWindowExceededError,
} from '@furystack/cross-node-bus'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'

import { assertProperty } from '../support/assertProperty.js'
import { deferred } from '../support/deferred.js'
import { until } from '../support/until.js'

/** What a scenario needs of the buses: lists have one entry a bus. */
export interface BusNeeds {
  readonly topicPrefixes: readonly string[]
  readonly nodeIds: readonly string[]
  readonly telemetries: readonly CrossNodeBusTelemetry[]
  readonly replayWindow: number
}

/** Buses to be put through the suite: they hear each other, and nobody else. */
export interface BusHarness {
  readonly buses: readonly CrossNodeBus[]
  /** The token before every message. */
  readonly startToken: string
  /** How many messages to publish for the first of them to be dropped from a window of so many. */
  readonly overflow: (replayWindow: number) => number
  dispose(): Promise<void>
}

interface Node {
  readonly bus: CrossNodeBus
  readonly errors: Array<CrossNodeBusTelemetryEvents['onCrossNodeError']>
  readonly received: Array<CrossNodeBusTelemetryEvents['onCrossNodeReceived']>
  readonly published: Array<CrossNodeBusTelemetryEvents['onCrossNodePublished']>
}

/** A handler that keeps what it gets. */
interface Ear {
  readonly messages: BusMessage[]
  readonly payloads: unknown[]
  readonly handle: Disposable
  /** Resolves when this many messages have come. */
  heard(count: number): Promise<void>
}

/** What any bus has to do, whatever carries its messages. */
export const busSuite = (name: string, makeHarness: (needs: BusNeeds) => Promise<BusHarness>): void => {
  describe(`${name} as a bus`, () => {
    const setUp = async (
      count = 2,
      { topicPrefixes, replayWindow = 1_000 }: Partial<Pick<BusNeeds, 'topicPrefixes' | 'replayWindow'>> = {},
    ): Promise<{ harness: BusHarness; nodes: Node[] }> => {
      const telemetries = Array.from({ length: count }, () => new CrossNodeBusTelemetry())
      const harness = await makeHarness({
        topicPrefixes: topicPrefixes ?? Array.from({ length: count }, () => ''),
        nodeIds: Array.from({ length: count }, (_, index) => `node-${index}`),
        telemetries,
        replayWindow,
      })
      onTestFinished(() => harness.dispose())
      const nodes = harness.buses.map((bus, index): Node => {
        const node: Node = { bus, errors: [], received: [], published: [] }
        telemetries[index]?.addListener('onCrossNodeError', (event) => node.errors.push(event))
        telemetries[index]?.addListener('onCrossNodeReceived', (event) => node.received.push(event))
        telemetries[index]?.addListener('onCrossNodePublished', (event) => node.published.push(event))
        return node
      })
      return { harness, nodes }
    }

    const listen = async (
      { bus }: Node,
      topic: string,
      how: 'subscribe' | 'subscribeRemoteOnly' | { prefix: string } = 'subscribe',
    ): Promise<Ear> => {
      const messages: BusMessage[] = []
      const payloads: unknown[] = []
      const handler = (message: BusMessage): void => {
        messages.push(message)
        payloads.push(message.payload)
      }
      const handle =
        typeof how === 'string' ? bus[how](topic, handler) : bus.subscribeForeign(how.prefix, topic, handler)
      onTestFinished(() => handle[Symbol.dispose]())
      await bus.whenReady?.(topic, typeof how === 'string' ? undefined : how.prefix)
      const heard = async (count: number): Promise<void> => {
        await until(() => messages.length >= count, { description: `${count} messages have come on ${topic}` })
      }
      return { messages, payloads, handle, heard }
    }

    const replayed = async ({ bus }: Node, topic: string, fromSeq: string): Promise<unknown[]> => {
      const payloads: unknown[] = []
      for await (const { payload } of bus.replay(topic, fromSeq)) payloads.push(payload)
      return payloads
    }

    it('carries messages to every bus, its own included, in one order and with rising tokens', async () => {
      const { nodes } = await setUp(3)
      const ears = await Promise.all(nodes.map((node) => listen(node, 't')))

      await Promise.all(
        [1, 2, 3, 4, 5].flatMap((number) => nodes.map(({ bus }) => bus.publish('t', { from: bus.nodeId, number }))),
      )

      for (const ear of ears) await ear.heard(15)
      const [first] = ears as [Ear]
      const seqs = first.messages.map(({ seq = '' }) => seq)
      for (const ear of ears) expect(ear.messages).toEqual(first.messages)
      for (const { bus } of nodes) {
        expect(seqs).toEqual([...seqs].sort((a, b) => bus.compareSeq(a, b)))
        expect(new Set(seqs).size).toBe(15)
        const own = first.payloads.filter((payload) => (payload as { from: string }).from === bus.nodeId)
        expect(own).toEqual([1, 2, 3, 4, 5].map((number) => ({ from: bus.nodeId, number })))
      }
      expect(first.messages[0]).toMatchObject({ v: 1, emittedAt: expect.stringMatching(/^\d{4}-.*Z$/) as unknown })
      expect(first.messages.every(({ originId, payload }) => originId === (payload as { from: string }).from)).toBe(
        true,
      )
    })

    it('leaves out its own messages, and only those, for whoever wants the others only', async () => {
      const { nodes } = await setUp()
      const [a, b] = nodes as [Node, Node]
      const ear = await listen(a, 't', 'subscribeRemoteOnly')

      await a.bus.publish('t', 'own')
      await b.bus.publish('t', 'other')
      await a.bus.publish('t', 'own')
      await b.bus.publish('t', 'last')

      await ear.heard(2)
      expect(ear.payloads).toEqual(['other', 'last'])
    })

    it('keeps buses with different prefixes apart, unless one asks for the other', async () => {
      const { nodes } = await setUp(2, { topicPrefixes: ['a/', 'b/'] })
      const [a, b] = nodes as [Node, Node]
      const atB = await listen(b, 't')
      const atA = await listen(a, 't')
      const foreign = await listen(b, 't', { prefix: 'a/' })

      await a.bus.publish('t', 'from a')
      await foreign.heard(1)
      await b.bus.publish('t', 'from b')
      await atB.heard(1)
      await atA.heard(1)

      expect(foreign.payloads).toEqual(['from a'])
      expect(atB.payloads).toEqual(['from b'])
      expect(atA.payloads).toEqual(['from a'])
    })

    it('delivers nothing that was published before a subscription', async () => {
      const { nodes } = await setUp()
      const [a, b] = nodes as [Node, Node]
      for (const number of [1, 2, 3]) await a.bus.publish('t', number)

      const ears = [await listen(a, 't'), await listen(b, 't')]
      await a.bus.publish('t', 4)
      const late = await listen(b, 't')
      await a.bus.publish('t', 5)

      for (const ear of ears) {
        await ear.heard(2)
        expect(ear.payloads).toEqual([4, 5])
      }
      await late.heard(1)
      expect(late.payloads).toEqual([5])
    })

    it('delivers what the same bus publishes right after it has subscribed', async () => {
      const { nodes } = await setUp(1)
      const [{ bus }] = nodes as [Node]
      const got = deferred<unknown>()

      bus.subscribe('t', ({ payload }) => got.resolve(payload))
      await bus.publish('t', 'at once')

      expect(await got.promise).toBe('at once')
    })

    it('spares siblings and the bus from a failing handler, and tells telemetry', async () => {
      const { nodes } = await setUp(1)
      const [node] = nodes as [Node]
      const failure = new Error('no')
      node.bus.subscribe('t', () => {
        throw failure
      })
      const ear = await listen(node, 't')

      await node.bus.publish('t', 1)
      await node.bus.publish('t', 2)

      await ear.heard(2)
      expect(node.errors).toEqual([1, 2].map(() => ({ topic: 't', error: failure, phase: 'subscribe' })))
    })

    it('B27: reports a handler whose promise rejects, under its own phase and name', async () => {
      const { nodes } = await setUp(2, { topicPrefixes: ['a/', 'b/'] })
      const [a, b] = nodes as [Node, Node]
      const failure = new Error('later')
      b.bus.subscribeForeign('a/', 't', () => Promise.reject(failure))
      await b.bus.whenReady?.('t', 'a/')

      await a.bus.publish('t', 1)

      await until(() => b.errors.length > 0)
      expect(b.errors).toEqual([{ topic: 't', error: failure, phase: 'subscribeForeign' }])
    })

    it('calls nobody after a subscription has ended, and takes a second end for none', async () => {
      const { nodes } = await setUp(1)
      const [node] = nodes as [Node]
      const gone = await listen(node, 't')
      const ear = await listen(node, 't')

      await node.bus.publish('t', 1)
      await ear.heard(1)
      gone.handle[Symbol.dispose]()
      gone.handle[Symbol.dispose]()
      await node.bus.publish('t', 2)

      await ear.heard(2)
      expect(gone.payloads).toEqual([1])
    })

    it('B21: lets handlers leave and come while a message is delivered', async () => {
      const { nodes } = await setUp(1)
      const [node] = nodes as [Node]
      const calls: string[] = []
      const second: { handle?: Disposable } = {}
      const first = node.bus.subscribe('t', ({ payload }) => {
        calls.push(`first ${String(payload)}`)
        first[Symbol.dispose]()
        second.handle?.[Symbol.dispose]()
        node.bus.subscribe('t', (message) => calls.push(`new ${String(message.payload)}`))
      })
      second.handle = node.bus.subscribe('t', ({ payload }) => calls.push(`second ${String(payload)}`))
      const ear = await listen(node, 't')

      await node.bus.publish('t', 1)
      await ear.heard(1)
      await node.bus.whenReady?.('t')
      await node.bus.publish('t', 2)
      await ear.heard(2)
      await until(() => calls.length >= 2)

      expect(calls).toEqual(['first 1', 'new 2'])
    })

    it('B20: shows all subscribers one order, also if a handler publishes', async () => {
      const { nodes } = await setUp(1)
      const [node] = nodes as [Node]
      node.bus.subscribe('t', ({ payload }) => {
        if (payload === 1) void node.bus.publish('t', 2)
      })
      const ear = await listen(node, 't')

      await node.bus.publish('t', 1)

      await ear.heard(2)
      expect(ear.payloads).toEqual([1, 2])
    })

    it('B25: counts each registration of a function', async () => {
      const { nodes } = await setUp(1)
      const [node] = nodes as [Node]
      const payloads: unknown[] = []
      const handler = ({ payload }: BusMessage): void => void payloads.push(payload)
      const one = node.bus.subscribe('t', handler)
      node.bus.subscribe('t', handler)
      const ear = await listen(node, 't')

      await node.bus.publish('t', 1)
      await ear.heard(1)
      one[Symbol.dispose]()
      await node.bus.publish('t', 2)
      await ear.heard(2)

      expect(payloads).toEqual([1, 1, 2])
    })

    it.each([
      ['undefined', undefined, null],
      ['null', null, null],
      ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
      ['nested objects', { a: [{ b: undefined, c: Number.NaN }] }, { a: [{ c: null }] }],
      ['an empty string', '', ''],
      ['empty containers', [{}, []], [{}, []]],
      ['any characters', 'ü\0\r\n"\\\ud800💩', 'ü\0\r\n"\\\ud800💩'],
      ['a key that is special', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
      ['much', 'x'.repeat(3_000_000), 'x'.repeat(3_000_000)],
    ])('B18: delivers what JSON makes of %s, frozen', async (_, payload, expected) => {
      const { nodes } = await setUp()
      const [a, b] = nodes as [Node, Node]
      const ear = await listen(b, 't')

      await a.bus.publish('t', payload)

      await ear.heard(1)
      expect(ear.payloads[0]).toEqual(expected)
      expect(Object.isFrozen(ear.payloads[0])).toBe(true)
      expect(Object.isFrozen(ear.messages[0])).toBe(true)
    })

    it('B19: rejects a payload that is not JSON with phase serialize', async () => {
      const { nodes } = await setUp(1)
      const [node] = nodes as [Node]
      const ear = await listen(node, 't')
      const cycle: unknown[] = []
      cycle.push(cycle)

      await expect(node.bus.publish('t', cycle)).rejects.toThrow(TypeError)
      await expect(node.bus.publish('t', 1n)).rejects.toThrow(TypeError)
      await node.bus.publish('t', 'fine')

      await ear.heard(1)
      expect(ear.payloads).toEqual(['fine'])
      expect(node.errors).toMatchObject([{ topic: 't', phase: 'serialize' }, { phase: 'serialize' }])
    })

    it.each([
      ['nothing', ''],
      ['spaces', ' a b '],
      ['any characters', 'ü/💩\r\n\0'],
      ['a hash tag', '{tag}'],
      ['the name of a property', '__proto__'],
      ['a pattern', '*'],
      ['much', 'x'.repeat(5_000)],
    ])('takes %s for a topic', async (_, topic) => {
      const { nodes } = await setUp(2, { topicPrefixes: ['p/', 'p/'] })
      const [a, b] = nodes as [Node, Node]
      const ear = await listen(b, topic)

      await a.bus.publish(topic, 1)

      await ear.heard(1)
      expect(ear.payloads).toEqual([1])
      expect(await replayed(a, topic, ear.messages[0]?.seq ?? '')).toEqual([])
      expect(b.received).toMatchObject([{ topic }])
    })

    it.each([
      ['half a character', '\ud800'],
      ['the other half', 'a\udc00b'],
      ['halves in the wrong order', '\udca9\ud83d'],
    ])('refuses %s in a topic or a prefix, before anything is sent', async (_, wrong) => {
      const { nodes } = await setUp(1)
      const [node] = nodes as [Node]
      const { bus } = node
      // What a transport that minds less would make of it.
      const likely = await listen(node, wrong.toWellFormed())
      const handler = (): void => undefined

      const uses: Array<() => unknown> = [
        () => bus.publish(wrong, 1),
        () => bus.subscribe(wrong, handler),
        () => bus.subscribeRemoteOnly(wrong, handler),
        () => bus.subscribeForeign(wrong, 't', handler),
        () => bus.subscribeForeign('p/', wrong, handler),
        () => bus.replay(wrong, '0-0'),
        () => bus.oldestSeq(wrong),
        () => bus.whenReady?.(wrong),
        () => bus.whenReady?.('t', wrong),
      ]
      for (const use of uses) {
        const error: unknown = await Promise.resolve()
          .then(use)
          .catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(InvalidTopicError)
        expect((error as InvalidTopicError).topic).toContain(wrong)
        expect((error as Error).message).toContain('whole characters')
        expect((error as Error).message.isWellFormed()).toBe(true)
      }
      expect(node.errors.map(({ phase }) => phase)).toEqual([
        'publish',
        'subscribe',
        'subscribe',
        'subscribeForeign',
        'subscribeForeign',
        'replay',
      ])

      await bus.publish(wrong.toWellFormed(), 'whole')
      await likely.heard(1)
      expect(likely.payloads).toEqual(['whole'])
    })

    it.each([undefined, null, 1, {}])('refuses %j for a topic', async (wrong) => {
      const { nodes } = await setUp(1)
      const [{ bus }] = nodes as [Node]

      await expect(bus.publish(wrong as never, 1)).rejects.toThrow(InvalidTopicError)
      expect(() => bus.subscribe(wrong as never, () => undefined)).toThrow(InvalidTopicError)
    })

    it('tells telemetry of publications and arrivals, once a bus and under the name of the caller', async () => {
      const { nodes } = await setUp(3, { topicPrefixes: ['p/', 'p/', 'p/'] })
      const [a, b, c] = nodes as [Node, Node, Node]
      const ears = [await listen(b, 't'), await listen(b, 't')]

      await a.bus.publish('t', 'ü')

      for (const ear of ears) await ear.heard(1)
      expect(a.published).toEqual([{ topic: 't', originId: 'node-0', byteLength: 4 }])
      expect(b.received).toEqual([{ topic: 't', originId: 'node-0', lagMs: expect.any(Number) as unknown }])
      expect([a.received, b.published, c.received, c.published]).toEqual([[], [], [], []])
    })

    describe('replay', () => {
      const publishAll = async ({ bus }: Node, count: number): Promise<string[]> => {
        const seqs: string[] = []
        using _ = bus.subscribe('t', ({ seq = '' }) => seqs.push(seq))
        // One by one: a burst beyond the window may be gone before anybody has read it.
        for (let number = 1; number <= count; number++) await bus.publish('t', number)
        await until(() => seqs.length === count)
        return seqs
      }

      it('yields what comes strictly after a token, on any bus', async () => {
        const { harness, nodes } = await setUp()
        const [a, b] = nodes as [Node, Node]
        const seqs = await publishAll(a, 5)

        expect(await replayed(b, 't', seqs[1] ?? '')).toEqual([3, 4, 5])
        expect(await replayed(a, 't', seqs[0] ?? '')).toEqual([2, 3, 4, 5])
        expect(await replayed(a, 't', seqs[4] ?? '')).toEqual([])
        expect(await replayed(b, 't', harness.startToken)).toEqual([1, 2, 3, 4, 5])
      })

      it('yields nothing from the start of a topic that nobody has published on', async () => {
        const { harness, nodes } = await setUp(1)
        const [node] = nodes as [Node]

        expect(await replayed(node, 'unknown', harness.startToken)).toEqual([])
        expect(node.bus.oldestSeq('unknown')).toBeUndefined()
      })

      it('yields the messages as they were delivered', async () => {
        const { harness, nodes } = await setUp()
        const [a, b] = nodes as [Node, Node]
        const ear = await listen(b, 't')
        await a.bus.publish('t', { some: 'thing' })
        await ear.heard(1)

        const messages: BusMessage[] = []
        for await (const message of a.bus.replay('t', harness.startToken)) messages.push(message)

        expect(messages).toEqual(ear.messages)
        expect(Object.isFrozen(messages[0]?.payload)).toBe(true)
      })

      it('begins at the oldest token, and refuses one that was dropped', async () => {
        const { harness, nodes } = await setUp(1, { replayWindow: 3 })
        const [node] = nodes as [Node]
        const count = harness.overflow(3)
        const seqs = await publishAll(node, count)
        const oldest = await until(() => {
          const seq = node.bus.oldestSeq('t')
          return seq !== undefined && seq !== seqs[0] && seq
        })

        const index = seqs.indexOf(oldest)
        expect(index).toBeGreaterThan(1)
        const rest = Array.from({ length: count - index - 1 }, (_, offset) => index + 2 + offset)
        expect(await replayed(node, 't', oldest)).toEqual(rest)
        const refused = expect.objectContaining({ topic: 't', fromSeq: seqs[0], oldestRetainedSeq: oldest }) as unknown
        const attempts = [seqs[0] ?? '', harness.startToken].map((seq) => replayed(node, 't', seq))
        await expect(attempts[0]).rejects.toEqual(refused)
        await expect(attempts[1]).rejects.toThrow(ReplayWindowExceededError)
        expect(node.errors.filter(({ phase }) => phase === 'replay')).toHaveLength(2)
        expect(await replayed(node, 't', oldest)).toEqual(rest)
      })

      it('B23: refuses a token that was never issued', async () => {
        const { nodes } = await setUp()
        const [a, b] = nodes as [Node, Node]
        await publishAll(a, 2)
        const [, , future = ''] = await (async () => {
          const ear = await listen(b, 'other')
          for (const number of [1, 2, 3]) await a.bus.publish('other', number)
          await ear.heard(3)
          return ear.messages.map(({ seq = '' }) => seq)
        })()

        await expect(replayed(a, 't', future)).rejects.toThrow(ReplayWindowExceededError)
        await expect(replayed(a, 'unknown', future)).rejects.toEqual(
          expect.objectContaining({
            oldestRetainedSeq: undefined,
            message: expect.stringContaining('none') as unknown,
          }),
        )
      })

      it('closes the gap between a token and a subscription', async () => {
        const { harness, nodes } = await setUp()
        const [a, b] = nodes as [Node, Node]
        const publishing = (async () => {
          for (let number = 1; number <= 60; number++) await a.bus.publish('t', number)
        })()
        const seen = new Map<string, unknown>()
        const keep = ({ seq = '', payload }: BusMessage): void => void seen.set(seq, payload)

        b.bus.subscribe('t', keep)
        await b.bus.whenReady?.('t')
        for await (const message of b.bus.replay('t', harness.startToken)) keep(message)
        await publishing

        await until(() => seen.size === 60)
        const inOrder = [...seen].sort(([x], [y]) => b.bus.compareSeq(x, y)).map(([, payload]) => payload)
        expect(inOrder).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
      })
    })

    it('B28: refuses to compare what is no token', async () => {
      const { harness, nodes } = await setUp(1)
      const [{ bus }] = nodes as [Node]

      expect(bus.compareSeq(harness.startToken, harness.startToken)).toBe(0)
      for (const wrong of ['', 'one', '-1', '1.5', ' 1', 'NaN']) {
        expect(() => bus.compareSeq(wrong, harness.startToken)).toThrow(RangeError)
        expect(() => bus.compareSeq(harness.startToken, wrong)).toThrow(RangeError)
        expect(() => bus.replay('t', wrong)).toThrow(RangeError)
      }
    })

    it('says that it is disposed, whatever is asked of it', async () => {
      const { nodes } = await setUp(1)
      const [{ bus }] = nodes as [Node]
      bus[Symbol.dispose]()
      bus[Symbol.dispose]()

      await expect(bus.publish('t', 1)).rejects.toThrow('disposed')
      await expect(bus.whenReady?.('t')).rejects.toThrow('disposed')
      for (const use of [
        () => bus.subscribe('t', () => undefined),
        () => bus.subscribeRemoteOnly('t', () => undefined),
        () => bus.subscribeForeign('p', 't', () => undefined),
        () => bus.replay('t', '1'),
        () => bus.oldestSeq('t'),
        () => bus.compareSeq('1', '1'),
      ]) {
        expect(use).toThrow('disposed')
      }
    })

    it('B30: ends gently, delivering to others what was published before', async () => {
      const { nodes } = await setUp()
      const [a, b] = nodes as [Node, Node]
      const ear = await listen(b, 't')
      const own = await listen(a, 't')

      const published = a.bus.publish('t', 'last words')
      await a.bus[Symbol.asyncDispose]?.()
      await a.bus[Symbol.asyncDispose]?.()

      await published
      await ear.heard(1)
      await b.bus.publish('t', 'more')
      await ear.heard(2)
      expect(own.payloads).not.toContain('more')
      await expect(a.bus.publish('t', 1)).rejects.toThrow('disposed')
    })

    it('behaves like a list for each topic, whoever publishes, comes and goes', async () => {
      const { nodes } = await setUp(2)
      const topics = ['x', 'y']
      const step = fc.oneof(
        fc.record({ kind: fc.constant('publish' as const), node: fc.nat(1), topic: fc.nat(1) }),
        fc.record({ kind: fc.constant('listen' as const), node: fc.nat(1), topic: fc.nat(1) }),
        fc.record({ kind: fc.constant('leave' as const), which: fc.nat(7) }),
      )
      await assertProperty(
        [fc.uuid(), fc.array(step, { minLength: 1, maxLength: 30 })],
        async ([run, steps], doing) => {
          const ears: Array<Ear & { topic: string; expected: number[]; isOpen: boolean }> = []
          let number = 0
          for (const at of steps) {
            doing(at)
            if (at.kind === 'publish') {
              const topic = `${run} ${topics[at.topic] ?? ''}`
              await nodes[at.node]?.bus.publish(topic, ++number)
              for (const ear of ears) if (ear.isOpen && ear.topic === topic) ear.expected.push(number)
            } else if (at.kind === 'listen') {
              const topic = `${run} ${topics[at.topic] ?? ''}`
              const ear = await listen(nodes[at.node] as Node, topic)
              ears.push({ ...ear, topic, expected: [], isOpen: true })
            } else {
              const ear = ears[at.which]
              if (!ear?.isOpen) continue
              await ear.heard(ear.expected.length)
              ear.handle[Symbol.dispose]()
              ear.isOpen = false
            }
          }
          for (const ear of ears) {
            doing(`what ${ear.topic} has heard`)
            await ear.heard(ear.expected.length)
            expect(ear.payloads).toEqual(ear.expected)
            ear.handle[Symbol.dispose]()
          }
        },
        { numRuns: 25 },
      )
    })
  })
}
