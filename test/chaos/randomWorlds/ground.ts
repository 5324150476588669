import type { QueueKind } from '../crashPoints/memoryWorld.js'
import type { Scenario } from '../crashPoints/scenario.js'
import type { World } from '../crashPoints/world.js'

/** What a world is played on: where its rows and queue lie, and what time is there. */
export interface Ground {
  readonly queue: QueueKind
  makeWorld(scenario: Pick<Scenario, 'handlers'>): World
  /** Lets time pass until `isDone`, which reads the whole world: now and then is enough. Throws after too long. */
  until(isDone: () => Promise<boolean>): Promise<void>
  /** Lets time pass until it is settled. */
  settled<T>(promise: Promise<T>): Promise<T>
}
