import { lastValueFrom, VirtualTimeScheduler } from 'rxjs'

import { virtualLanePort } from '../../../src/testing/index.js'
import type { MakeHarness } from './harness.js'

/** Makes ports over lanes in memory, whose time passes only when a test lets it. */
export const virtualHarness =
  (latencyMs: number): MakeHarness =>
  (options = {}) => {
    const scheduler = new VirtualTimeScheduler()
    scheduler.frame = 1_000_000
    const port = virtualLanePort({ ...options, scheduler, latencyMs })

    const advance = (ms: number): Promise<void> => {
      scheduler.maxFrames = scheduler.frame + ms
      scheduler.schedule(() => undefined, ms)
      scheduler.flush()
      return new Promise((resolve) => setImmediate(resolve))
    }
    const until = async <T>(promise: Promise<T>): Promise<T> => {
      let isSettled = false
      const settled = (): void => {
        isSettled = true
      }
      promise.then(settled, settled)
      await advance(0)
      for (let waited = 0; !isSettled; waited++) {
        if (waited > 10_000) throw new Error('nothing happened for ten seconds of virtual time')
        await advance(1)
      }
      return promise
    }
    return Promise.resolve({
      port,
      another: () => Promise.resolve(port),
      now: () => Promise.resolve(scheduler.now()),
      advance,
      until,
      // eslint-disable-next-line rxjs-x/no-ignored-default-value -- an operation that answers nothing fails the test
      ask: (reply$) => until(lastValueFrom(reply$)),
      pending: (of) =>
        Promise.resolve(
          port.pending(of).map(({ entryId, consumer, deliveryCount }) => ({ entryId, consumer, deliveryCount })),
        ),
      length: (of) => Promise.resolve(port.length(of)),
      parked: () => Promise.resolve(port.parked().length),
      consumers: (of) => Promise.resolve(port.consumers(of)),
      pause: (of) => Promise.resolve(port.pause(of)),
      resume: (of) => Promise.resolve(port.resume(of)),
      destroyGroup: (of) => Promise.resolve(port.destroyGroup(of)),
      deleteEntry: (of, entryId) => Promise.resolve(port.deleteEntry(of, entryId)),
    })
  }
