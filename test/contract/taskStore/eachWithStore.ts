import { setTimeout as delay } from 'node:timers/promises'

import type { TaskStore } from '@furystack/task-runner'
import { afterEach, beforeEach } from 'vitest'

/** A store to be put through the suite. */
export interface TaskStoreHarness {
  readonly store: TaskStore
  /** Moves the store's clock on; without it real time passes. */
  advance?(ms: number): void | Promise<void>
  dispose(): Promise<void>
}

/**
 * Makes a store for each test of the block that it is called in, and hands it over. The returned `pass` lets time go by for
 * the present one.
 */
export const eachWithStore = (
  makeStore: () => Promise<TaskStoreHarness>,
  use: (store: TaskStore) => void,
): { readonly pass: (ms: number) => Promise<void> } => {
  let harness: TaskStoreHarness
  beforeEach(async () => {
    harness = await makeStore()
    use(harness.store)
  })
  afterEach(() => harness.dispose())
  return {
    pass: async (ms) => {
      if (harness.advance) await harness.advance(ms)
      else await delay(ms)
    },
  }
}
