import type { ResendInput, ResendResult } from '../../deadLetters/deadLetterBox.js'
import { isTerminalStatus } from '../../task/taskStatus.js'
import type { MemoryKeys } from './memoryKeys.js'
import type { MemoryRetention } from './memoryRetention.js'
import type { MemoryRow } from './memoryRow.js'
import type { MemoryRows } from './memoryRows.js'
import { resendRow } from './memoryTransitions.js'

type Refusal = ResendResult & { kind: 'parent' | 'key' }

/** Makes failed rows pending again. Each call is one synchronous step. */
export class MemoryResend {
  constructor(
    private readonly rows: MemoryRows,
    private readonly keys: MemoryKeys,
    private readonly retention: MemoryRetention,
  ) {}

  resend({ id, fromScratch }: ResendInput, at: number): ResendResult {
    const row = this.rows.get(id)
    if (row === undefined) return { kind: 'missing' }
    if (row.status !== 'failed') return { kind: 'stale', status: row.status }
    const letter = this.rows.deadLetters.get(id, at)
    if (letter === undefined) return { kind: 'missing' }
    const refusal = this.#refusalOf(row, at)
    if (refusal !== undefined) return refusal
    const { type, idempotencyKey, parentTaskId } = row.created
    const parent = parentTaskId === undefined ? undefined : this.rows.get(parentTaskId)
    this.retention.forget(row)
    this.rows.blobs.resume(row)
    this.rows.settle(row, at, () => resendRow(row, fromScratch, at))
    if (parent !== undefined) parent.openChildren++
    if (idempotencyKey !== undefined) this.keys.keep(type, idempotencyKey, id, at)
    return { kind: 'resent', at, letter }
  }

  #refusalOf({ created: { id, type, idempotencyKey, parentTaskId } }: MemoryRow, at: number): Refusal | undefined {
    if (parentTaskId !== undefined) {
      const status = this.rows.get(parentTaskId)?.status
      if (status === undefined) return { kind: 'parent', parentTaskId }
      if (isTerminalStatus(status) || status === 'cancelling') return { kind: 'parent', parentTaskId, status }
    }
    const holder = idempotencyKey === undefined ? undefined : this.keys.find(type, idempotencyKey, at)
    const holderId = holder?.created.id ?? id
    return holderId === id ? undefined : { kind: 'key', holderId }
  }
}
