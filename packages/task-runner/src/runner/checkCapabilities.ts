import type { BlobStore } from '@furystack/blob-store'
import type { CrossNodeBus } from '@furystack/cross-node-bus'

import type { ReportError } from '../telemetry/createErrorReporter.js'
import { assertCapabilities } from './assertCapabilities.js'
import type { TaskRunnerCapabilities } from './taskRunnerCapabilities.js'

/** What a runner is checked against, and what follows. */
export interface CapabilityCheck {
  readonly blobStore: BlobStore
  readonly bus: CrossNodeBus
  readonly how: 'throw' | 'warn' | 'off'
  readonly report: ReportError
}

/** A process that makes many runners is told once. */
const warned = new Set<string>()

/** Checks once, when a runner is made, that its parts fit together. */
export const checkCapabilities = (
  runner: { readonly capabilities: TaskRunnerCapabilities },
  { blobStore, bus, how, report }: CapabilityCheck,
): void => {
  if (how === 'off') return
  try {
    assertCapabilities(runner, blobStore, bus)
  } catch (error) {
    if (how === 'throw') throw error
    report('capabilities', error)
    const message = error instanceof Error ? error.message : String(error)
    if (!warned.has(message)) process.emitWarning(message, 'TaskRunnerCapabilityWarning')
    warned.add(message)
  }
}
