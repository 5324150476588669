import { CrossNodeBus } from '@furystack/cross-node-bus'
import { defineRedisCrossNodeBusAdapter } from '@furystack/redis-cross-node-bus'
import { defineTaskHandler, type TaskUpdate } from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { createMinimalUser } from '../support/createMinimalUser.js'
import { documentedRuleOf } from '../support/documentedRule.js'
import { exercise, exercises } from '../support/exercise.js'
import { connectClient } from '../support/redis.js'
import { serverOfTest } from '../support/redisServer.js'
import { refusedTo } from '../support/refusedTo.js'
import { serviceOn, type ServiceOnClient } from '../support/service.js'
import { until } from '../support/until.js'

const TOPICS = '~svc-a/tasks/*'
const rule = documentedRuleOf('docs/operations.md', 'the bus')

const telling = defineTaskHandler({
  type: 'telling',
  version: 1,
  handler: (ctx) => ctx.reportProgress({ percent: 50 }),
})

describe('a user with the documented rights of runner and bus', () => {
  it.each([
    ['the same prefix', 'svc/', TOPICS],
    ['a bus without one', '', '~tasks/*'],
  ])('is refused nothing by an application that gives both one client, with %s', async (_, busPrefix, topics) => {
    const { url } = await serverOfTest()
    const admin = await connectClient({ url })
    const words = rule.map((word) => (word === TOPICS ? topics : word))
    const { username, password } = await createMinimalUser([admin], 'svc/', words)
    const open = async (): Promise<ServiceOnClient> => {
      const ownUrl = Object.assign(new URL(url), { username, password }).href
      const client = await connectClient({ url: ownUrl })
      const bus = defineRedisCrossNodeBusAdapter({ client, serviceName: 'test', topicPrefix: busPrefix })
      return serviceOn(client, 'svc/', {}, { bus })
    }
    const [here, there] = [await open(), await open()]
    there.work([...exercises, telling])

    await exercise(here)
    const heard: TaskUpdate[] = []
    using _heard = here.runner.subscribeByType('telling', (update) => heard.push(update))
    await here.injector.get(CrossNodeBus).whenReady?.('tasks/progress/telling')
    await here.runner.submit({ type: 'telling', handlerVersion: 1, payload: null })
    await until(() => heard.some(({ kind }) => kind === 'progress'))

    await here.dispose()
    await there.dispose()
    expect([...here.troubles, ...there.troubles]).toEqual([])
    expect(await refusedTo(username, [admin])).toEqual([])
  })
})
