import { checkObject } from '../../argument/checkObject.js'
import { checkTaskId } from '../../argument/checkTaskId.js'
import { ChildTaskError } from '../../errors/childTaskError.js'
import { InvalidArgumentError } from '../../errors/invalidArgumentError.js'
import { UnknownTaskError } from '../../errors/unknownTaskError.js'
import { stepIdentity } from '../../replay/stepIdentity.js'
import type { StoredTask } from '../../store/storedTask.js'
import { isTerminalStatus, type TerminalStatus } from '../../task/taskStatus.js'
import type { ChildHandle } from '../../tree/childHandle.js'
import type { SettledChildResult } from '../../tree/settledChildResult.js'
import { persist } from './persist.js'
import type { RunSteps } from './runSteps.js'

type Handles = ReadonlyArray<ChildHandle<unknown>>

/** The results of children in the order of their handles, once all have ended; throws for the first without success. */
export const awaitStep = (steps: RunSteps, handles: Handles): Promise<unknown[]> =>
  take(steps, 'await-children', handles, (settled) =>
    settled.map((child) => {
      if (child.status === 'succeeded') return child.result
      throw new ChildTaskError(child.taskId, child.type, child.status, ...('error' in child ? [child.error] : []))
    }),
  )

/** How children ended, in the order of their handles, once all have. */
export const awaitSettledStep = (steps: RunSteps, handles: Handles): Promise<Array<SettledChildResult<unknown>>> =>
  take(steps, 'await-children-settled', handles, (settled) => settled)

// Asynchronous, so that a refused argument rejects; up to the step it runs at once.
const take = async <T>(
  steps: RunSteps,
  kind: 'await-children' | 'await-children-settled',
  handles: Handles,
  outputOf: (settled: Array<SettledChildResult<unknown>>) => T,
): Promise<T> => {
  // `isArray` would make `any` of what is read only.
  const isList: boolean = Array.isArray(handles)
  if (!isList) throw new InvalidArgumentError('handles', handles, 'a list of children')
  const taskIds = Array.from(handles, taskIdOf)
  return steps.take(stepIdentity.awaitChildren(kind, taskIds), async (next) => {
    if (next.kind === 'replay') return { value: next.entry.output as T }
    const { parts, run, writer } = steps
    const ids = [...new Set(taskIds)]
    const rows = await persist(parts, run, 'getMany', () => parts.store.getMany(ids))
    const children = new Map(rows.flatMap((row) => (row ? [[row.task.id, row.task] as const] : [])))
    for (const taskId of ids) assertChild(taskId, children.get(taskId), run.taskId)
    if ([...children.values()].some(({ status }) => !isTerminalStatus(status))) {
      steps.suspendFor(ids)
      return undefined
    }
    const output = outputOf(taskIds.map((taskId) => settledOf(children.get(taskId)!)))
    await writer.record(next.key, { ...next.entry, output })
    return { value: output }
  })
}

type Child = StoredTask['task']

const taskIdOf = (handle: ChildHandle<unknown>, index: number): string =>
  checkTaskId(`handles[${index}].taskId`, checkObject(`handles[${index}]`, handle).taskId)

const assertChild = (taskId: string, child: Child | undefined, parentId: string): void => {
  if (child === undefined) throw new UnknownTaskError(taskId, 'child')
  // The end of anybody else's child would not wake this task.
  if (child.parentTaskId !== parentId) throw new InvalidArgumentError('handles', taskId, 'children of this task')
}

const settledOf = ({ id: taskId, type, status, result, error }: Child): SettledChildResult<unknown> => {
  switch (status as TerminalStatus) {
    case 'succeeded':
      return { status: 'succeeded', taskId, type, result }
    case 'failed':
      return { status: 'failed', taskId, type, error: error ?? { name: 'Error', message: 'unknown' } }
    case 'cancelled':
      return { status: 'cancelled', taskId, type }
  }
}
