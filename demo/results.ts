import type { Task } from '@furystack/task-runner'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileEntry } from './files.js'
import type { HashFileResult } from './hashFile.js'
import type { SubmittedTask } from './submitTasks.js'

/** A task after its end, against its file. */
export interface TaskResult {
  readonly submitted: SubmittedTask
  readonly row: Task | undefined
  /** What the task found out, if it succeeded. */
  readonly result: HashFileResult | undefined
  /**
   * - `equal`: hashed, as the independent computation does.
   * - `unreadable`: neither the task nor the independent computation could read the file.
   * - `changed`: the file is not what it was when it was listed, so that there is nothing to compare.
   * - `wrong`: anything else.
   */
  readonly verdict: 'equal' | 'unreadable' | 'changed' | 'wrong'
}

/** Compares what the rows say with what the independent computation says. */
export const compareResults = (
  folder: string,
  submitted: readonly SubmittedTask[],
  rows: readonly (Task | undefined)[],
  hashes: ReadonlyMap<string, string>,
): Promise<TaskResult[]> =>
  Promise.all(
    submitted.map(async (task, index): Promise<TaskResult> => {
      const { file } = task.planned
      const row = rows[index]
      const path = join(folder, file.path)
      const result = row?.status === 'succeeded' ? (row.result as HashFileResult) : undefined
      const hash = hashes.get(path)
      const base = { submitted: task, row, result }
      if (result && result.path === file.path && result.sha256 === hash) return { ...base, verdict: 'equal' }
      if (row?.status === 'failed' && hash === undefined) return { ...base, verdict: 'unreadable' }
      return { ...base, verdict: (await hasChanged(path, file, result)) ? 'changed' : 'wrong' }
    }),
  )

const hasChanged = async (
  path: string,
  { bytes, modifiedMs }: FileEntry,
  result: HashFileResult | undefined,
): Promise<boolean> => {
  if (result && result.bytes !== bytes) return true
  const now = await stat(path).catch(() => undefined)
  return now === undefined || now.size !== bytes || now.mtimeMs !== modifiedMs
}
