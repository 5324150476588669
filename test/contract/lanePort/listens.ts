import { type Observable, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Bell, lane, type ListenReply, type ListenRequest } from '../../../src/index.js'
import { claimOne, fill, mail, type MakeHarness, read, reading, scan, slotsOf, taskIds } from './harness.js'

/** Listens without slots, which reads nothing. */
const request = (overrides: Partial<ListenRequest> = {}): ListenRequest => ({
  workerId: 'w',
  slots: [],
  lanes: [reading(mail)],
  schedule: false,
  blockMs: 5_000,
  ...overrides,
})

/** Starts to listen, and tells what was heard once that has ended. */
const hear = (reply$: Observable<ListenReply>): { bells: Bell[]; ended: Promise<Bell[]>; stop: () => void } => {
  const bells: Bell[] = []
  let stop = (): void => undefined
  const ended = new Promise<Bell[]>((resolve, reject) => {
    const subscription = reply$.subscribe({
      next: ({ bell }) => {
        if (bell !== undefined) bells.push(bell)
      },
      error: reject,
      complete: () => {
        resolve(bells)
      },
    })
    stop = () => {
      subscription.unsubscribe()
    }
  })
  return { bells, ended, stop }
}

export const listenSuite = (makeHarness: MakeHarness): void => {
  describe('listen', () => {
    it('rings for a new entry', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      const heard = hear(port.listen(request()))

      await fill(harness, mail, 'a')

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('rings at once when something came before', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      await fill(harness, mail, 'a', 'b')

      expect(await until(hear(port.listen(request())).ended)).toEqual(['lanes'])
      expect(await until(hear(port.listen(request({ blockMs: 50 }))).ended)).toEqual([])
    })

    it('does not ring for a lane that was not asked about', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      const heard = hear(port.listen(request({ blockMs: 100 })))

      await fill(harness, scan, 'a')

      expect(await until(heard.ended)).toEqual([])
    })

    it('rings for any of the lanes', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      const heard = hear(port.listen(request({ lanes: [reading(mail), reading(scan)] })))

      await fill(harness, scan, 'a')

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('rings for a task that is put back', async () => {
      const harness = await makeHarness()
      const { port, until, ask } = harness
      const claim = await claimOne(harness)
      await until(hear(port.listen(request())).ended)
      const heard = hear((await harness.another()).listen(request()))

      await ask(port.settle(claim, { kind: 'requeue' }))

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('rings for a parked task when it is promoted', async () => {
      const harness = await makeHarness()
      const { port, until, ask } = harness
      await ask(port.enqueue({ taskId: 'a', lane: mail, notBefore: (await harness.now()) + 300 }))
      await harness.advance(310)
      const heard = hear(port.listen(request()))

      await ask(port.promote({ promoterId: 'w', roleMs: 100, limit: 1 }))

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('rings for a freed place under the cap', async () => {
      const harness = await makeHarness()
      const { port, until, ask } = harness
      const lanes = [reading(mail, { cap: 1 })]
      const claim = await claimOne(harness, { lanes })
      await until(hear(port.listen(request({ lanes }))).ended)
      const heard = hear((await harness.another()).listen(request({ lanes })))

      await ask(port.settle(claim, { kind: 'done' }))

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('rings for a new earliest parked task, and for no later one', async () => {
      const harness = await makeHarness()
      const { port, until, ask } = harness
      const now = await harness.now()
      const park = (taskId: string, inMs: number): Promise<void> =>
        ask(port.enqueue({ taskId, lane: mail, notBefore: now + inMs }))
      const listening = request({ schedule: true, blockMs: 150 })

      const first = hear(port.listen({ ...listening, blockMs: 5_000 }))
      await park('a', 30_000)
      expect(await until(first.ended)).toEqual(['schedule'])

      const later = hear(port.listen(listening))
      await park('b', 40_000)
      expect(await until(later.ended)).toEqual([])

      const earlier = hear(port.listen({ ...listening, blockMs: 5_000 }))
      await park('c', 20_000)
      expect(await until(earlier.ended)).toEqual(['schedule'])
    })

    it('does not ring for the schedule unless that was asked for', async () => {
      const harness = await makeHarness()
      const { port, until, ask } = harness
      const heard = hear(port.listen(request({ blockMs: 100 })))

      await ask(port.enqueue({ taskId: 'a', lane: mail, notBefore: (await harness.now()) + 30_000 }))

      expect(await until(heard.ended)).toEqual([])
    })

    it('wakes one waiting listener a ring', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      const listeners = [hear(port.listen(request())), hear((await harness.another()).listen(request()))]

      await fill(harness, mail, 'a')
      await until(Promise.race(listeners.map(({ ended }) => ended)))
      await harness.advance(100)
      expect(listeners.flatMap(({ bells }) => bells)).toEqual(['lanes'])

      await fill(harness, mail, 'b')
      await until(Promise.all(listeners.map(({ ended }) => ended)))
      expect(listeners.map(({ bells }) => bells)).toEqual([['lanes'], ['lanes']])
    })

    it('wakes the next listener when a reader leaves entries behind', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      await fill(harness, mail, 'a', 'b')
      await until(hear(port.listen(request())).ended)
      const heard = hear((await harness.another()).listen(request()))

      await read(harness)

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('wakes the next listener where a lane turns out to have no group yet', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      await fill(harness, scan, 'a', 'b')
      await fill(harness, mail, 'c', 'd')
      await until(hear(port.listen(request())).ended)
      const heard = hear((await harness.another()).listen(request()))

      const lanes = [scan, mail, lane('mail', 2)].map((of) => reading(of))
      expect(taskIds(await read(harness, { slots: 3, lanes }))).toEqual(['a', 'c', 'b'])

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('wakes the next listener when a lost group is made again, as nothing has rung for what it held', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      await fill(harness, mail, 'a', 'b')
      await until(hear(port.listen(request())).ended)
      await read(harness, { slots: 3 })
      await harness.destroyGroup(mail)
      const heard = hear((await harness.another()).listen(request()))

      await read(harness)

      expect(await until(heard.ended)).toEqual(['lanes'])
    })

    it('does not ring for entries that a reader has taken all of', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      await fill(harness, mail, 'a', 'b')
      await read(harness, { slots: 3 })

      expect(await until(hear(port.listen(request({ blockMs: 50 }))).ended)).toEqual([])
    })

    it('ends without a ring after blockMs', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      const from = await harness.now()

      expect(await until(hear(port.listen(request({ blockMs: 150 }))).ended)).toEqual([])

      expect((await harness.now()) - from).toBeGreaterThanOrEqual(145)
    })

    it('passes on a ring that nobody waits for any more', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      const left = hear(port.listen(request()))
      left.stop()
      const heard = hear((await harness.another()).listen(request()))

      await fill(harness, mail, 'a')

      expect(await until(heard.ended)).toEqual(['lanes'])
      expect(left.bells).toEqual([])
    })

    it('keeps one token however often it rings', async () => {
      const harness = await makeHarness()
      const { port, until } = harness
      await fill(harness, mail, 'a', 'b', 'c')
      const left = hear(port.listen(request()))
      left.stop()
      await fill(harness, mail, 'd')
      await harness.advance(50)

      expect(await until(hear(port.listen(request())).ended)).toEqual(['lanes'])
      expect(await until(hear(port.listen(request({ blockMs: 50 }))).ended)).toEqual([])
    })

    it('is cold: each subscription listens', async () => {
      const harness = await makeHarness()
      const { port, ask, until } = harness
      const reply$ = port.listen(request())
      await fill(harness, mail, 'a')
      await ask(port.read({ workerId: 'w', slots: slotsOf('w', 1), lanes: [reading(mail)] }))

      expect(await until(hear(reply$).ended)).toEqual(['lanes'])
      await fill(harness, mail, 'b')
      expect(await until(hear(reply$).ended)).toEqual(['lanes'])
    })

    it('reads in the same moment, for the slots that are free', async () => {
      const harness = await makeHarness()
      const { port, until, ask } = harness
      const reply = ask(port.listen(request({ slots: slotsOf('w', 2), lanes: [scan, mail].map((of) => reading(of)) })))

      await fill(harness, mail, 'a')

      expect(await reply).toMatchObject({
        bell: 'lanes',
        claims: [{ taskId: 'a', slot: 'w-slot-0', workerId: 'w' }],
        full: [],
      })
      expect(await harness.pending(mail)).toMatchObject([{ consumer: 'w-slot-0', deliveryCount: 1 }])
      expect(await until(hear(port.listen(request({ blockMs: 50 }))).ended)).toEqual([])
    })

    it('reads no more than there are slots, and wakes the next listener for the rest', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await fill(harness, mail, 'a', 'b')
      const other = await harness.another()

      const first = await ask(port.listen(request({ slots: slotsOf('w', 1) })))
      const second = await ask(other.listen(request({ workerId: 'v', slots: slotsOf('v', 1) })))

      expect([first, second].map(({ claims }) => taskIds(claims))).toEqual([['a'], ['b']])
    })

    it('reads too when nothing has rung in its time, what a pause has held back for example', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await harness.pause(mail)
      await fill(harness, mail, 'a')
      const listening = request({ slots: slotsOf('w', 1), blockMs: 60 })
      expect(await ask(port.listen(listening))).toEqual({ claims: [], full: [], bell: 'lanes' })

      const reply = ask(port.listen(listening))
      await harness.resume(mail)

      const { bell, claims } = await reply
      expect([bell, taskIds(claims)]).toEqual([undefined, ['a']])
    })

    it('tells of lanes at their cap', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const lanes = [reading(mail, { cap: 1 })]
      await claimOne(harness, { lanes })
      await fill(harness, mail, 'b')

      expect(await ask(port.listen(request({ slots: slotsOf('w', 1), lanes })))).toEqual({
        claims: [],
        full: [mail],
        bell: 'lanes',
      })
    })

    it('emits one reply, also if nothing rings', async () => {
      const { port, ask } = await makeHarness()

      expect(await ask(port.listen(request({ blockMs: 20 })).pipe(toArray()))).toEqual([{ claims: [], full: [] }])
      expect(await ask(port.listen(request({ slots: slotsOf('w', 1), blockMs: 20 })).pipe(toArray()))).toEqual([
        { claims: [], full: [] },
      ])
    })

    it('hands back what it claims when nobody waits for it any more', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const left = hear(port.listen(request({ slots: slotsOf('w', 1) })))
      left.stop()
      await fill(harness, mail, 'a')

      const reply$ = (await harness.another()).listen(request({ workerId: 'v', slots: slotsOf('v', 1) }))
      const { claims } = await ask(reply$)

      expect(taskIds(claims)).toEqual(['a'])
      expect(await harness.pending(mail)).toMatchObject([{ consumer: 'v-slot-0' }])
    })

    it('passes on the bell of the schedule when nobody waits for it any more', async () => {
      const harness = await makeHarness()
      const { port, until, ask } = harness
      const listening = request({ slots: slotsOf('w', 1), schedule: true })
      const left = hear(port.listen(listening))
      left.stop()
      await ask(port.enqueue({ taskId: 'a', lane: mail, notBefore: (await harness.now()) + 30_000 }))

      expect(await until(hear((await harness.another()).listen(listening)).ended)).toEqual(['schedule'])
    })
  })

  describe('wake', () => {
    it('ends the wait of that worker, which reads', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await harness.pause(mail)
      await fill(harness, mail, 'a')
      const listening = request({ slots: slotsOf('w', 1) })
      await ask(port.listen(listening))
      const woken = ask(port.listen(listening))
      await harness.resume(mail)

      await ask((await harness.another()).wake('w'))

      const { bell, claims } = await woken
      expect([bell, taskIds(claims)]).toEqual([undefined, ['a']])
    })

    it('ends no other wait', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      const other = ask(port.listen(request({ workerId: 'v', blockMs: 150 })))
      const from = await harness.now()

      await ask((await harness.another()).wake('w'))
      await other

      expect((await harness.now()) - from).toBeGreaterThanOrEqual(100)
    })

    it('ends the next wait if there is none, once, however often it was woken', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await ask(port.wake('w'))
      await ask(port.wake('w'))
      const from = await harness.now()
      await ask(port.listen(request()))
      expect((await harness.now()) - from).toBeLessThan(1_000)

      await ask(port.listen(request({ blockMs: 150 })))
      expect((await harness.now()) - from).toBeGreaterThanOrEqual(145)
    })

    it('is forgotten with the worker', async () => {
      const harness = await makeHarness()
      const { port, ask } = harness
      await ask(port.wake('w'))
      await ask(port.retire({ workerId: 'w', slots: [], lanes: [], goneMs: 0 }))
      const from = await harness.now()

      await ask(port.listen(request({ blockMs: 150 })))

      expect((await harness.now()) - from).toBeGreaterThanOrEqual(145)
    })
  })
}
