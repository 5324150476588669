import { type BusMessage, CrossNodeBus } from '@furystack/cross-node-bus'
import { TaskCancelledError, type TaskUpdate } from '@furystack/task-runner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  otherThan,
  type Service,
  SERVICES,
  type Services,
  startServices,
} from '../support/application/startServices.js'
import { until } from '../support/until.js'

const STATUS = 'tasks/status/hold'
const PROGRESS = 'tasks/progress/hold'
const CANCEL = 'tasks/cancel/hold'

/** Each of the two services has this process, and two that work and listen. */
const useServices = (hasOwnTopics: boolean) => {
  const ends: Array<() => Promise<void>> = []
  const used = {} as { services: Services }
  beforeAll(async () => {
    used.services = await startServices((end) => void ends.unshift(end), { hasOwnTopics })
  }, 60_000)
  afterAll(async () => {
    for (const end of ends) await end()
  }, 30_000)

  const busOf = (service: Service) => used.services.applications[service].injector.get(CrossNodeBus)
  /** Starts to note what the bus of a service hears on a topic. */
  const listen = async (service: Service, topic: string): Promise<BusMessage[]> => {
    const messages: BusMessage[] = []
    busOf(service).subscribe(topic, (message) => messages.push(message))
    await busOf(service).whenReady?.(topic)
    return messages
  }
  /** Has a worker of the service hold a task and cancels it. Whatever was said before on its topics was heard then. */
  const holdAndCancel = async (service: Service, reason: string): Promise<string> => {
    const { applications, holderOf, submit } = used.services
    const id = await submit(service, 'hold', 1)
    await holderOf(service, id)
    await applications[service].runner.cancel(id, reason)
    await expect(applications[service].runner.waitFor(id)).rejects.toEqual(new TaskCancelledError(id, reason))
    return id
  }
  return { used, busOf, listen, holdAndCancel }
}

const serviceOf = ({ originId }: BusMessage): string => originId.slice(0, 'svc-a'.length)
const markOf = ({ payload }: BusMessage): unknown => (payload as { via?: unknown }).via
const isOver = (update: TaskUpdate): boolean => update.kind === 'status' && update.status === 'cancelled'

describe('services on the topics of one bus', { timeout: 60_000 }, () => {
  const { used, busOf, listen, holdAndCancel } = useServices(false)

  it('tell nobody of the updates of another, whose messages come to each of their processes', async () => {
    const { applications, processes } = used.services
    const heard: Record<Service, TaskUpdate[]> = { 'svc-a': [], 'svc-b': [] }
    using _a = applications['svc-a'].runner.subscribeByType('hold', (update) => heard['svc-a'].push(update))
    using _b = applications['svc-b'].runner.subscribeByType('hold', (update) => heard['svc-b'].push(update))
    const wires = { 'svc-a': await listen('svc-a', STATUS), 'svc-b': await listen('svc-b', STATUS) }
    const ids = {
      'svc-a': [await holdAndCancel('svc-a', 'first'), ''],
      'svc-b': [await holdAndCancel('svc-b', 'second'), ''],
    }
    // Once more: whoever has heard of the last of them has heard all that the other service said in between.
    ids['svc-a'][1] = await holdAndCancel('svc-a', 'third')
    ids['svc-b'][1] = await holdAndCancel('svc-b', 'fourth')
    for (const service of SERVICES) {
      const listeners = [heard[service], ...processes[service].map(({ updates }) => updates)]
      for (const updates of listeners) {
        const last = await until(() => updates.filter(isOver).length >= 2 && updates)
        expect(new Set(last.map(({ taskId }) => taskId))).toEqual(new Set(ids[service]))
      }
      await until(() => wires[service].filter((message) => isOver(message.payload as TaskUpdate)).length >= 4)
      expect(new Set(wires[service].map(serviceOf))).toEqual(new Set(SERVICES))
    }
  })

  it.each(SERVICES)('do nothing that a message of another asks for: %s', async (service) => {
    const { applications, processes, holderOf, submit } = used.services
    const other = otherThan(service)
    const [requests, told] = [await listen(service, CANCEL), await listen(service, STATUS)]
    await holdAndCancel(other, 'to see its mark')
    const foreignMark = await until(() => {
      const [message] = requests.filter((one) => serviceOf(one) === other)
      return message && markOf(message)
    })
    const heard: TaskUpdate[] = []
    using _ = applications[service].runner.subscribeByType('hold', (update) => heard.push(update))
    await busOf(service).whenReady?.(PROGRESS)
    const id = await submit(service, 'hold', 1)
    const holder = await holderOf(service, id)

    // As if the other service knew this task.
    const at = new Date().toISOString()
    const say = (topic: string, payload: object, via: unknown) => busOf(other).publish(topic, { ...payload, via })
    await say(CANCEL, { taskIds: [id], reason: 'of another service' }, foreignMark)
    await say(STATUS, { kind: 'status', taskId: id, status: 'failed', at }, foreignMark)
    await say(PROGRESS, { kind: 'progress', taskId: id, percent: 13, at }, foreignMark)
    // The same with the mark of its own worker is taken, so that the one before was heard and left.
    const ownMark = await until(() => {
      const running = told.find(({ payload }) => {
        const update = payload as TaskUpdate
        return update.kind === 'status' && update.taskId === id && update.status === 'running'
      })
      return running && markOf(running)
    })
    expect(ownMark).not.toBe(foreignMark)
    await say(PROGRESS, { kind: 'progress', taskId: id, percent: 14, at }, ownMark)
    await until(() => heard.some(({ kind }) => kind === 'progress'))
    expect(heard.filter(({ kind }) => kind === 'progress')).toEqual([{ kind: 'progress', taskId: id, percent: 14, at }])

    // The first request that a handler is told of is its own service's, though it was the second.
    await applications[service].runner.cancel(id, 'of its own')
    await expect(applications[service].runner.waitFor(id)).rejects.toEqual(new TaskCancelledError(id, 'of its own'))
    await until(() => holder.signals.has(id))
    expect(holder.signals.get(id)).toBe('of its own')
    for (const updates of [heard, ...processes[service].map((one) => one.updates)]) {
      const ofTask = await until(() => {
        const found = updates.flatMap((update) =>
          update.kind === 'status' && update.taskId === id ? [update.status] : [],
        )
        return found.includes('cancelled') && found
      })
      expect(ofTask.sort()).toEqual(['cancelled', 'cancelling', 'claimed', 'pending', 'running'])
    }
    expect(requests.some(({ payload }) => (payload as { reason?: string }).reason === 'of another service')).toBe(true)
  })
})

describe('services with topics of their own', { timeout: 60_000 }, () => {
  const { used, listen, holdAndCancel } = useServices(true)

  it('share none of them, and hear nothing of each other', async () => {
    const { admin } = used.services
    const topics = [STATUS, CANCEL]
    const heard = {
      'svc-a': await Promise.all(topics.map((topic) => listen('svc-a', topic))),
      'svc-b': await Promise.all(topics.map((topic) => listen('svc-b', topic))),
    }
    for (const service of [...SERVICES, ...SERVICES]) await holdAndCancel(service, 'enough')

    for (const service of SERVICES) {
      const [statuses = [], requests = []] = heard[service]
      await until(() => statuses.filter((message) => isOver(message.payload as TaskUpdate)).length >= 2)
      await until(() => requests.length >= 2)
      expect(new Set([...statuses, ...requests].map(serviceOf))).toEqual(new Set([service]))
    }
    const keys = await admin.keys('*')
    expect(keys.filter((key) => !/^svc-[ab]\/tasks[:/]/.test(key))).toEqual([])
    for (const service of SERVICES) {
      const streams = keys.filter((key) => key.startsWith(`${service}/tasks/`))
      expect(streams).toEqual(expect.arrayContaining([`${service}/${STATUS}`, `${service}/${CANCEL}`]))
      for (const stream of streams) {
        const entries = (await admin.xRange(stream, '-', '+')) as Array<{ message: Record<string, string> }>
        const origins = entries.map(({ message }) => message['originId']?.slice(0, 5))
        expect([stream, ...new Set(origins)]).toEqual([stream, service])
      }
    }
  })
})
