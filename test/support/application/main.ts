import { once } from 'node:events'

import type { TaskCancelledError } from '@furystack/task-runner'

import { handlersOf } from './handlers.js'
import { type ApplicationSettings, openApplication } from './openApplication.js'

/** A process of a service that works; see startProcess. */
const [, , service = '', settings = '{}'] = process.argv
const { runner, close } = await openApplication(service, JSON.parse(settings) as ApplicationSettings)

const tell = (message: object): void => {
  process.send?.(message)
}

const goOn = (taskId: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      process.off('message', hear)
      settle()
    }
    const hear = (message: unknown): void => {
      if ((message as { goOn?: string }).goOn === taskId) end(resolve)
    }
    process.on('message', hear)
    signal.addEventListener('abort', () => {
      const { reason } = signal.reason as TaskCancelledError
      tell({ kind: 'signal', taskId, reason })
      end(() => reject(signal.reason as Error))
    })
    tell({ kind: 'holds', taskId })
  })

const start = (taskId: string, type: string): void => tell({ kind: 'start', taskId, type })
const handlers = handlersOf(service, { start, goOn })
for (const { type } of handlers) runner.subscribeByType(type, (update) => tell({ kind: 'update', update }))
runner.registerWorker({
  name: 'worker',
  handlers,
  concurrency: 3,
  tags: [],
  compatibleVersions: {},
})
tell({ kind: 'ready' })
await once(process, 'SIGTERM')
// shutdown
await close()
process.disconnect()
