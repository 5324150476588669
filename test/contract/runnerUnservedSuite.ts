import { defineTaskHandler, type TaskRunnerTelemetryEvents } from '@furystack/task-runner'
import { afterEach, describe, expect, it } from 'vitest'

import { until } from '../support/until.js'
import type { MakeRunners } from './runnerSuite.js'

type Unserved = TaskRunnerTelemetryEvents['onTaskUnserved']

/** What any task runner has to tell about tasks that nobody takes. */
export const runnerUnservedSuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} as a runner of tasks that nobody takes`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const setUp = async () => {
      const harness = await makeRunners(2, { unservedAfterMs: 100, maintenanceIntervalMs: 50 })
      cleanups.push(() => harness.dispose())
      const { runners, telemetry } = harness
      const told: Unserved[] = []
      telemetry.addListener('onTaskUnserved', (event) => told.push(event))
      const work = (version: number, tags: string[]) => {
        const handlers = [defineTaskHandler({ type: 'mail', version, handler: () => undefined })]
        return runners[0]!.registerWorker({ name: 'worker', handlers, concurrency: 1, tags, compatibleVersions: {} })
      }
      return { runner: runners[1]!, told, work }
    }

    it('T57 tells once of the version and the tags that no worker takes, and once when one does', async () => {
      const { runner, told, work } = await setUp()
      work(1, [])
      const before = Date.now()
      await runner.submit({ type: 'mail', handlerVersion: 1, payload: 0 })
      for (let count = 0; count < 2; count++) {
        await runner.submit({ type: 'mail', handlerVersion: 2, payload: 0 })
        await runner.submit({ type: 'mail', handlerVersion: 1, payload: 0, tags: ['gpu'] })
      }
      await until(() => told.length >= 2)
      expect(told.map(({ since: _, ...lane }) => lane).sort((a, b) => a.handlerVersion - b.handlerVersion)).toEqual([
        { type: 'mail', handlerVersion: 1, tags: ['gpu'] },
        { type: 'mail', handlerVersion: 2, tags: [] },
      ])
      for (const { since = '' } of told) expect(Math.abs(Date.parse(since) - before)).toBeLessThan(5_000)
      work(2, [])
      await until(() => told.length >= 3)
      expect(told.slice(2)).toEqual([{ type: 'mail', handlerVersion: 2, tags: [] }])
      work(1, ['gpu'])
      await until(() => told.length >= 4)
      expect(told.slice(3)).toEqual([{ type: 'mail', handlerVersion: 1, tags: ['gpu'] }])
    })

    it('T57 tells nothing of tasks that wait their turn', async () => {
      const { runner, told } = await setUp()
      const gates: Array<() => void> = []
      const busy = defineTaskHandler({
        type: 'busy',
        version: 1,
        handler: () => new Promise<void>((resolve) => gates.push(resolve)),
      })
      const options = { name: 'worker', handlers: [busy], concurrency: 1, tags: [], compatibleVersions: {} }
      runner.registerWorker(options)
      const tasks = await runner.submitMany([0, 1].map((payload) => ({ type: 'busy', handlerVersion: 1, payload })))
      await until(() => gates.length === 1)
      // Of this one it tells, so it has looked.
      await runner.submit({ type: 'nobody', handlerVersion: 1, payload: 0 })
      await until(() => told.length >= 1)
      expect(told.map(({ type }) => type)).toEqual(['nobody'])
      gates.shift()?.()
      await until(() => gates.length === 1)
      gates.shift()?.()
      await Promise.all(tasks.map(({ id }) => runner.waitFor(id)))
    })
  })
}
