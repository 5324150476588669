import type { Observable } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { type Bell, lane, type ListenRequest } from '../../../src/index.js'
import { claimOne, fill, mail, type MakeHarness, read, reading, scan, slotsOf, taskIds } from './harness.js'

const request = (overrides: Partial<ListenRequest> = {}): ListenRequest => ({
  lanes: [reading(mail)],
  schedule: false,
  blockMs: 5_000,
  ...overrides,
})

/** Starts to listen, and tells what was heard once that has ended. */
const hear = (bell$: Observable<Bell>): { bells: Bell[]; ended: Promise<Bell[]>; stop: () => void } => {
  const bells: Bell[] = []
  let stop = (): void => undefined
  const ended = new Promise<Bell[]>((resolve, reject) => {
    const subscription = bell$.subscribe({
      next: (bell) => bells.push(bell),
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
      const bell$ = port.listen(request())
      await fill(harness, mail, 'a')
      await ask(port.read({ workerId: 'w', slots: slotsOf('w', 1), lanes: [reading(mail)] }))

      expect(await until(hear(bell$).ended)).toEqual(['lanes'])
      await fill(harness, mail, 'b')
      expect(await until(hear(bell$).ended)).toEqual(['lanes'])
    })
  })
}
