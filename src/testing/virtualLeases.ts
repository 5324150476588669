import type { IdempotencyLeaseInput } from '@furystack/task-runner'

/** The idempotency leases: which task holds a key of a type, until the lease ends. */
export interface VirtualLeases {
  /** Answers the holder's task id; the proposed one if nobody holds the key. */
  acquire(input: IdempotencyLeaseInput): string
}

/** No leases yet. */
export const virtualLeases = (now: () => number, ttlSec: number): VirtualLeases => {
  const leases = new Map<string, { readonly taskId: string; readonly endsAt: number }>()
  return {
    acquire: ({ type, key, taskId }) => {
      const name = JSON.stringify([type, key])
      const held = leases.get(name)
      if (held && held.endsAt > now()) return held.taskId
      leases.set(name, { taskId, endsAt: now() + ttlSec * 1_000 })
      return taskId
    },
  }
}
