import { isoTime } from '../time/isoTime.js'
import type { MaintenanceJob } from './maintenanceJob.js'
import type { RunnerParts } from './runnerParts.js'

/** Tells of tasks that wait for a worker which there is not. The queue knows which, and what it has told already. */
export class UnservedSweep implements MaintenanceJob {
  readonly name = 'unserved'
  readonly intervalMs: number
  /** What a queue in the process holds is known there only. */
  readonly isLocal: boolean

  constructor(private readonly parts: Pick<RunnerParts, 'adapter' | 'telemetry' | 'settings'>) {
    const { settings, adapter } = parts
    const isOn = adapter.findUnserved !== undefined && Number.isFinite(settings.unservedAfterMs)
    this.intervalMs = isOn ? settings.maintenanceIntervalMs : Infinity
    this.isLocal = !adapter.capabilities.persistent
  }

  async run(): Promise<void> {
    const { adapter, telemetry, settings } = this.parts
    const changes = (await adapter.findUnserved?.({ olderThanMs: settings.unservedAfterMs })) ?? []
    for (const { type, handlerVersion, tags, since } of changes) {
      const event = { type, handlerVersion, tags }
      telemetry.emit('onTaskUnserved', since === undefined ? event : { ...event, since: isoTime(since) })
    }
  }
}
