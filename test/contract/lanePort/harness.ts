import type { Observable } from 'rxjs'

import type { Claim, Lane, LanePort, LaneReading } from '../../../src/index.js'
import { lane } from '../../../src/index.js'

/** How the lanes of one test are made. */
export interface HarnessOptions {
  readonly idempotencyTtlSec?: number
}

/** A port over lanes that no other test sees, with hands on what lies behind it. */
export interface LanePortHarness {
  readonly port: LanePort
  /** The port of another worker over the same lanes. */
  readonly another: () => Promise<LanePort>
  /** The server's clock, epoch milliseconds. */
  readonly now: () => Promise<number>
  /** Lets at least so much time pass. */
  readonly advance: (ms: number) => Promise<void>
  /** Lets time pass until the promise has settled. */
  readonly until: <T>(promise: Promise<T>) => Promise<T>
  /** Lets time pass until the operation has completed, and gives its last value. */
  readonly ask: <T>(reply$: Observable<T>) => Promise<T>
  /** Who has which entry, oldest first. */
  readonly pending: (of: Lane) => Promise<readonly PendingRow[]>
  /** How many entries a lane has, delivered or not. */
  readonly length: (of: Lane) => Promise<number>
  readonly parked: () => Promise<number>
  readonly consumers: (of: Lane) => Promise<readonly string[]>
  readonly pause: (of?: Lane) => Promise<void>
  readonly resume: (of?: Lane) => Promise<void>
  readonly destroyGroup: (of: Lane) => Promise<void>
  readonly deleteEntry: (of: Lane, entryId: string) => Promise<void>
}

export interface PendingRow {
  readonly entryId: string
  readonly consumer: string
  readonly deliveryCount: number
}

export type MakeHarness = (options?: HarnessOptions) => Promise<LanePortHarness>

export const mail = lane('mail', 1)
export const scan = lane('scan', 1)

/** Longer than any test: within it, nothing that is in order may be taken for stale. */
export const AGES = 60_000

export const reading = (of: Lane, overrides: Partial<LaneReading> = {}): LaneReading => ({
  lane: of,
  visibilityTimeoutMs: AGES,
  ...overrides,
})

/** Enqueues tasks one after another. */
export const fill = async ({ port, ask }: LanePortHarness, of: Lane, ...taskIds: string[]): Promise<void> => {
  for (const taskId of taskIds) await ask(port.enqueue({ taskId, lane: of }))
}

/** Names of a worker's slots, `w-slot-0` and so on. */
export const slotsOf = (workerId: string, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `${workerId}-slot-${String(from + index)}`)

/** Reads as a worker whose slots are all free. */
export const read = async (
  { port, ask }: LanePortHarness,
  { worker = 'w', slots = 1, lanes = [reading(mail)] }: { worker?: string; slots?: number; lanes?: LaneReading[] } = {},
): Promise<readonly Claim[]> =>
  (await ask(port.read({ workerId: worker, slots: slotsOf(worker, slots), lanes }))).claims

/** Enqueues one task and claims it. */
export const claimOne = async (
  harness: LanePortHarness,
  options: { taskId?: string; worker?: string; lanes?: LaneReading[] } = {},
): Promise<Claim> => {
  const { taskId = 'a', lanes = [reading(mail)] } = options
  await fill(harness, lanes[0]?.lane ?? mail, taskId)
  const [claim] = await read(harness, { ...options, lanes })
  if (!claim) throw new Error(`${taskId} was not claimed`)
  return claim
}

export const taskIds = (claims: readonly Claim[]): string[] => claims.map(({ taskId }) => taskId)

/** How long the lane's longest idle claim has been idle. */
export const idleMs = async ({ port, ask }: LanePortHarness, of: Lane): Promise<number> => {
  const reply = await ask(port.sweep({ workerId: 'onlooker', slots: [], lanes: [reading(of)] }))
  return AGES - reply.nextStaleMs
}
