import type { StoredTask } from './storedTask.js'

/**
 * Makes a draft pending, due now unless its `notBefore` is later. If `payload` is present its JSON text (absent for `undefined`) replaces the draft's.
 *
 * @example
 * const input: StartTask = { taskId, payload: { json: '{"to":"b@example.org"}' } }
 * await store.start(input)
 */
export interface StartTask {
  /** The draft. */
  taskId: string
  /** Replaces the draft’s; `json` is absent for `undefined`. */
  payload?: { json?: string }
}

/**
 * `started` carries the new row; `refused` the present one, if there is one.
 *
 * @example
 * const result: StartResult = await store.start({ taskId })
 * if (result.kind === 'refused') console.log(result.stored?.task.status ?? 'there is none')
 */
export type StartResult = { kind: 'started'; stored: StoredTask; at: number } | { kind: 'refused'; stored?: StoredTask }
