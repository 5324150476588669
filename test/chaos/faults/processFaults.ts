import { DRAIN_LIMIT_MS, RUNNER_OPTIONS } from '../run/settings.js'
import type { ChaosProcess } from '../world/chaosProcess.js'
import { type Fault, nothing } from './fault.js'

const { visibilityTimeoutMs } = RUNNER_OPTIONS

/** Faults of workers and submitters themselves. */
export const processFaults: readonly Fault[] = [
  {
    name: 'SIGKILL of a worker',
    scope: 'process',
    prepare: ({ workers }, random) => killed(random.pick(workers), random.int(0, 1_500)),
  },
  {
    name: 'SIGKILL of a submitter',
    scope: 'process',
    prepare: ({ submitters }, random) => killed(random.pick(submitters), random.int(0, 500)),
  },
  {
    name: 'SIGSTOP of a worker for longer than the visibility, then SIGCONT',
    scope: 'process',
    prepare: ({ workers }, random) => {
      const victim = random.pick(workers)
      return {
        targets: [victim],
        begin: () => Promise.resolve(victim.signal('SIGSTOP')),
        holdMs: visibilityTimeoutMs + random.int(300, 2_000),
        end: () => Promise.resolve(victim.signal('SIGCONT')),
      }
    },
  },
  {
    name: 'SIGTERM of a worker, which drains',
    scope: 'process',
    prepare: ({ workers }, random) => {
      const victim = random.pick(workers)
      return {
        targets: [victim],
        begin: () => victim.end('SIGTERM', DRAIN_LIMIT_MS),
        holdMs: 0,
        end: () => victim.start(),
      }
    },
  },
  {
    name: 'an event loop that stands still for longer than the visibility',
    scope: 'process',
    prepare: ({ workers }, random) => {
      const victim = random.pick(workers)
      const ms = visibilityTimeoutMs + random.int(300, 2_000)
      return {
        targets: [victim],
        begin: () => Promise.resolve(victim.order({ kind: 'block', ms })),
        holdMs: ms,
        end: nothing,
      }
    },
  },
]

const killed = (victim: ChaosProcess, holdMs: number) => ({
  targets: [victim],
  begin: () => victim.end('SIGKILL'),
  holdMs,
  end: () => victim.start(),
})
