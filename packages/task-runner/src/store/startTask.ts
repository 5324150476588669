import type { StoredTask } from './storedTask.js'

/** Makes a draft pending. If `payload` is present its JSON text (absent for `undefined`) replaces the draft's. */
export interface StartTask {
  taskId: string
  payload?: { json?: string }
}

/** `started` carries the new row; `refused` the present one, if there is one. */
export type StartResult = { kind: 'started'; stored: StoredTask; at: number } | { kind: 'refused'; stored?: StoredTask }
