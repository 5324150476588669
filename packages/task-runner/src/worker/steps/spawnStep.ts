import { checkObject } from '../../argument/checkObject.js'
import { stepIdentity } from '../../replay/stepIdentity.js'
import { prepareTask } from '../../runner/prepareTask.js'
import type { CreateTask } from '../../store/createTask.js'
import { taskFromCreate } from '../../task/taskFromCreate.js'
import type { ChildHandle } from '../../tree/childHandle.js'
import type { SpawnOptions } from '../../tree/spawnOptions.js'
import type { RunSteps } from './runSteps.js'

/** Creates a child, or finds the one that an earlier run created. */
export const spawnStep = async <O>(
  steps: RunSteps,
  type: string,
  payload: unknown,
  options: SpawnOptions = {},
): Promise<ChildHandle<O>> => {
  const { parts, run, writer } = steps
  const { registry } = parts
  const { handlerVersion, retentionPolicy, tags, startBefore } = checkObject('options', options)
  const version = handlerVersion ?? registry.newestVersion(type) ?? 1
  const child = prepareTask(
    {
      type,
      payload,
      handlerVersion: version,
      parentTaskId: run.taskId,
      ...(retentionPolicy !== undefined && { retentionPolicy }),
      ...(tags !== undefined && { tags }),
      ...(startBefore !== undefined && { startBefore }),
    },
    'pending',
    { registry, canDelay: true, maxPayloadBytes: parts.settings.maxPayloadBytes },
  )
  return steps.take(stepIdentity.spawn(type, child.payloadJson), async (next) => {
    const { childTaskId } = next.entry
    if (childTaskId !== undefined) return { value: { taskId: childTaskId, type } }
    if (next.kind === 'live') {
      const result = await writer.spawn(next.key, { ...next.entry, childTaskId: child.id }, child)
      await announce(steps, child, result.kind === 'spawned' ? result.at : steps.storeNow)
    }
    return { value: { taskId: child.id, type } }
  })
}

const announce = async ({ parts, run }: RunSteps, child: CreateTask, at: number): Promise<void> => {
  const { updates, telemetry, joint, dispatcher } = parts
  updates.spawnedChild(run.type, run.taskId, child.id, at)
  updates.status(child.type, child.id, 'pending', at)
  if (telemetry.hasListeners('onTaskSubmitted')) {
    telemetry.emit('onTaskSubmitted', {
      taskId: child.id,
      type: child.type,
      parentTaskId: run.taskId,
      payloadBytes: Buffer.byteLength(child.payloadJson ?? ''),
    })
  }
  // The child stands; if the queue refuses it now, it gets its entry later.
  if (joint === undefined) await dispatcher.tryDispatch(taskFromCreate(child, at), 0)
}
