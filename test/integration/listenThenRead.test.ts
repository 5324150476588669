import { describe, expect, it } from 'vitest'

import type { Claim } from '../../src/claim/claim.js'
import type { Connection } from '../../src/connection/connection.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import type { ListenReply, ListenRequest } from '../../src/port/lanePort.js'
import { listenThenRead } from '../../src/redis/listenThenRead.js'
import { Turns } from '../../src/redis/turns.js'
import { type Deferred, deferred } from '../support/deferred.js'

const mail = lane('mail', 1)
const keys = keysOf('')
const bell = keys.bell(mail)
const request: ListenRequest = {
  workerId: 'w',
  slots: ['w-slot-0'],
  lanes: [{ lane: mail, visibilityTimeoutMs: 60_000 }],
  schedule: true,
  blockMs: 1_000,
}
/** What the script answers that reads: one claim, or none. */
const claimed = ['1', 0, null, '1-0', 'a']
const empty = ['1', 0, null]

/** Connections that note what is sent, and answer when the test does. */
const setUp = (overrides: Partial<ListenRequest> = {}, awaiting: readonly string[] = []) => {
  const sent: string[] = []
  const replies = new Map<string, Deferred<unknown>>()
  const connection = (name: string): Connection => ({
    isReady: true,
    isAwaiting: awaiting.includes(name),
    replace: () => undefined,
    send: (operation, [command = '']) => {
      const reply = deferred<unknown>()
      const call = `${name} ${operation === 'listen' ? command : operation}`
      replies.set(call, reply)
      sent.push(call)
      return reply.promise
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  })
  const [commands, reader] = [connection('commands'), connection('reader')]
  const handedBack: Claim[] = []
  const setting = { group: 'runner', isJoint: false, keys, commands, reader }
  const seen: unknown[] = []
  const subscription = listenThenRead(
    {
      ...setting,
      turns: new Turns(commands, keys, setting),
      handBack: (claims) => Promise.resolve(handedBack.push(...claims)),
    },
    { ...request, ...overrides },
  ).subscribe({
    next: ({ claims, bell: heard }: ListenReply) => seen.push([claims.map(({ taskId }) => taskId), heard]),
    error: (error: unknown) => seen.push(error),
    complete: () => seen.push('complete'),
  })
  const settle = async (call: string, how: (reply: Deferred<unknown>) => void): Promise<void> => {
    const reply = replies.get(call)
    if (!reply) throw new Error(`${call} was not sent`)
    how(reply)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    sent,
    seen,
    handedBack,
    leave: () => {
      subscription.unsubscribe()
    },
    answer: (call: string, value: unknown) => settle(call, ({ resolve }) => resolve(value)),
    fail: (call: string, error: Error) => settle(call, ({ reject }) => reject(error)),
  }
}

const BOTH = ['reader BLPOP', 'reader finishAndRead']

describe('listenThenRead', () => {
  it('lets those who have waited longer be answered first', async () => {
    const { seen, answer } = setUp({}, ['commands'])
    await answer('reader BLPOP', [bell, '1'])
    await answer('reader finishAndRead', claimed)
    expect(seen).toEqual([])
    await expect.poll(() => seen).toEqual([[['a'], 'lanes'], 'complete'])
  })

  it('sends the wait and the read together, and no more', async () => {
    const { sent, seen, answer } = setUp()
    expect(sent).toEqual(BOTH)

    await answer('reader BLPOP', [bell, '1'])
    expect(seen).toEqual([])
    await answer('reader finishAndRead', claimed)

    expect(seen).toEqual([[['a'], 'lanes'], 'complete'])
    expect(sent).toEqual(BOTH)
  })

  it('sends no read without slots', async () => {
    const { sent, seen, answer } = setUp({ slots: [] })

    await answer('reader BLPOP', [keys.scheduleBell, '1'])

    expect(seen).toEqual([[[], 'schedule'], 'complete'])
    expect(sent).toEqual(['reader BLPOP'])
  })

  it.each([
    ['nothing', null],
    ['the worker’s own bell', [keys.workerBell('w'), '1']],
  ])('tells of no bell when it heard %s', async (_, reply) => {
    const { seen, answer } = setUp()

    await answer('reader BLPOP', reply)
    await answer('reader finishAndRead', claimed)

    expect(seen).toEqual([[['a'], undefined], 'complete'])
  })

  it('delivers what a read has claimed that overtook the wait, and rings again what that hears', async () => {
    const { sent, seen, answer } = setUp()

    await answer('reader finishAndRead', claimed)
    expect(seen).toEqual([[['a'], undefined], 'complete'])
    await answer('reader BLPOP', [bell, '1'])

    expect(sent).toEqual([...BOTH, 'commands ringBell'])
  })

  it('reads again after a bell that was overtaken by a read which found nothing', async () => {
    const { sent, seen, answer } = setUp()

    await answer('reader finishAndRead', empty)
    await answer('reader BLPOP', [bell, '1'])
    expect(seen).toEqual([])
    expect(sent).toEqual([...BOTH, 'commands finishAndRead'])
    await answer('commands finishAndRead', claimed)

    expect(seen).toEqual([[['a'], 'lanes'], 'complete'])
  })

  it('does not read again if nothing rang either', async () => {
    const { sent, seen, answer } = setUp()

    await answer('reader finishAndRead', empty)
    await answer('reader BLPOP', null)

    expect(seen).toEqual([[[], undefined], 'complete'])
    expect(sent).toEqual(BOTH)
  })

  it('errors once if both fail', async () => {
    const { seen, fail } = setUp()
    const [first, second] = [new Error('first'), new Error('second')]

    await fail('reader BLPOP', first)
    expect(seen).toEqual([])
    await fail('reader finishAndRead', second)

    expect(seen).toEqual([second])
  })

  it('delivers claims also if the wait failed', async () => {
    const { seen, answer, fail } = setUp()

    await fail('reader BLPOP', new Error('WRONGTYPE'))
    await answer('reader finishAndRead', claimed)

    expect(seen).toEqual([[['a'], undefined], 'complete'])
  })

  it('errors if the wait failed and there is nothing', async () => {
    const { seen, answer, fail } = setUp()
    const error = new Error('WRONGTYPE')

    await fail('reader BLPOP', error)
    await answer('reader finishAndRead', empty)

    expect(seen).toEqual([error])
  })

  it.each([
    ['before', ['reader BLPOP', 'reader finishAndRead']],
    ['after', ['reader finishAndRead', 'reader BLPOP']],
  ])('rings again what was heard %s the read failed', async (_, order) => {
    const { sent, seen, answer, fail } = setUp()
    const error = new Error('refused')

    for (const call of order)
      await (call === 'reader BLPOP' ? answer(call, [keys.scheduleBell, '1']) : fail(call, error))

    expect(seen).toEqual([error])
    expect(sent).toEqual([...BOTH, 'commands ringBell'])
  })

  it('hands back claims when nobody waits for them any more', async () => {
    const { sent, seen, handedBack, leave, answer } = setUp()

    leave()
    await answer('reader BLPOP', [bell, '1'])
    await answer('reader finishAndRead', claimed)

    expect(handedBack.map(({ taskId }) => taskId)).toEqual(['a'])
    expect([seen, sent]).toEqual([[], BOTH])
  })

  it.each([
    ['the schedule’s bell, as nobody was told', keys.scheduleBell, request.slots, 1],
    ['a lane’s bell that nothing was read for', bell, [], 1],
    ['no lane’s bell that something was read for', bell, request.slots, 0],
    ['not its own bell', keys.workerBell('w'), [], 0],
  ])('rings again, when nobody waits any more, %s', async (_, heard, slots, rings) => {
    const { sent, leave, answer } = setUp({ slots })

    leave()
    await answer('reader BLPOP', [heard, '1'])
    if (slots.length > 0) await answer('reader finishAndRead', empty)

    expect(sent.filter((call) => call === 'commands ringBell')).toHaveLength(rings)
  })
})
