import { inspect } from 'node:util'

import { TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { describe, expect, it, onTestFinished } from 'vitest'

import { InvalidOptionError, redisQueueAdapter } from '../../src/index.js'
import { startRedisServer } from '../support/redisServer.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

const SECRET = 'hunter2-correct-horse'

/** Everything that could be seen of a value by whoever logs it. */
const everythingOf = (value: unknown): string => {
  const shown = [inspect(value, { depth: Infinity, showHidden: true, getters: true }), String(value)]
  try {
    shown.push(JSON.stringify(value) ?? '')
  } catch {
    // Cyclic, or a BigInt: what `inspect` showed has to do.
  }
  return shown.join('\n')
}

describe('the password of the client', () => {
  it('is in no event, error, warning or name, whatever happens to the connection', async () => {
    await using server = await startRedisServer({ args: ['--requirepass', SECRET] })
    const told: unknown[] = []
    const onWarning = (warning: Error): void => void told.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))

    const url = server.url.replace('redis://', `redis://default:${SECRET}@`)
    const { runner, injector, client } = await startService({ url, commandDeadlineMs: 300 })
    runner.events$.subscribe((event) => told.push(event))
    injector.get(TaskRunnerTelemetryToken).addListener('onTaskRunnerError', (event) => told.push(event))
    const submit = (): Promise<unknown> =>
      runner.submit({ type: 'mail', handlerVersion: 1, payload: 1 }).catch((error: unknown) => {
        told.push(error)
        return undefined
      })
    expect(await submit()).toBeDefined()
    told.push(runner, await client.sendCommand(['CLIENT', 'LIST']))

    const countOf = (kind: string): number =>
      told.filter((one) => (one as { kind?: string } | undefined)?.kind === kind).length
    // A password that is no longer the right one, then a server that is gone.
    await client.sendCommand(['CONFIG', 'SET', 'requirepass', 'another'])
    await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
    await until(() => countOf('connectionLost') > 0, { description: 'the loss of a connection' })
    await submit()
    await server.kill('SIGKILL')
    await submit()

    const errors = told.filter((one) => one instanceof Error)
    expect(errors.length).toBeGreaterThanOrEqual(2)
    for (const one of told) expect(everythingOf(one)).not.toContain(SECRET)
  })

  it.each<[string, unknown]>([
    ['a URL', `redis://user:${SECRET}@localhost:6379`],
    ['options', { url: `redis://user:${SECRET}@localhost:6379`, password: SECRET }],
    ['something like a client', { isOpen: true, options: { password: SECRET } }],
    ['a list', [SECRET]],
  ])('is not repeated when %s is given in place of the client', (_what, given) => {
    let error: unknown
    try {
      redisQueueAdapter({ client: given as never, serviceName: 'svc' })
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(InvalidOptionError)
    expect(error).toMatchObject({ option: 'client' })
    expect(everythingOf(error)).not.toContain(SECRET)
  })
})
