import { ReplayLog } from '../../replay/replayLog.js'
import { decodeStepEntry } from '../../replay/stepEntry.js'
import type { RunnerParts } from '../../runner/runnerParts.js'
import type { RecordedStep } from '../../store/recordStep.js'
import type { Run } from '../run.js'
import { persist } from './persist.js'
import { RunSteps } from './runSteps.js'

/** The steps of a run whose task has none yet. */
export const freshSteps = (parts: RunnerParts, run: Run): RunSteps => make(parts, run, [], new Set())

/** Loads what earlier runs of the task recorded. Rejects for trouble of the store. */
export const loadSteps = async (parts: RunnerParts, run: Run): Promise<RunSteps> => {
  const { store } = parts
  const steps = await persist(parts, run, 'readSteps', () => store.readSteps(run.taskId))
  const isOlder = ({ generation }: { generation: number }): boolean => generation < run.generation
  const childIds = run.generation === 0 ? [] : steps.map(decodeStepEntry).filter(isOlder).flatMap(childOf)
  if (childIds.length === 0) return make(parts, run, steps, new Set())
  const children = await persist(parts, run, 'getMany', () => store.getMany(childIds))
  const failed = childIds.filter((_, index) => {
    const status = children[index]?.task.status
    return status === undefined || status === 'failed' || status === 'cancelled'
  })
  return make(parts, run, steps, new Set(failed))
}

const childOf = ({ childTaskId }: { childTaskId?: string }): string[] =>
  childTaskId === undefined ? [] : [childTaskId]

const make = (
  parts: RunnerParts,
  run: Run,
  steps: readonly RecordedStep[],
  failedChildren: ReadonlySet<string>,
): RunSteps => {
  const { taskId, generation } = run
  const isFailedChild = (childId: string): boolean => failedChildren.has(childId)
  return new RunSteps(parts, run, new ReplayLog({ taskId, steps, generation, isFailedChild }))
}
