import type { Backend } from '../world/backend.js'
import { clusterBackend } from '../world/clusterBackend.js'
import { sentinelBackend } from '../world/sentinelBackend.js'
import { singleBackend } from '../world/singleBackend.js'

/** The shapes of Redis that a chaos run can be played on. */
export const WORLDS = {
  single: singleBackend,
  sentinel: sentinelBackend,
  cluster: clusterBackend,
} as const satisfies Record<string, () => Promise<Backend>>

/** One of {@link WORLDS}. */
export type WorldName = keyof typeof WORLDS
