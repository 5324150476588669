import { once } from 'node:events'

import { handlersOf } from './handlers.js'
import { openApplication } from './openApplication.js'

/** A process of a service that works; see startProcess. */
const [, , service = ''] = process.argv
const { runner, close } = await openApplication(service)

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
    signal.addEventListener('abort', () => end(() => reject(signal.reason as Error)))
    tell({ kind: 'holds', taskId })
  })

const start = (taskId: string, type: string): void => tell({ kind: 'start', taskId, type })
runner.registerWorker({
  name: 'worker',
  handlers: handlersOf(service, { start, goOn }),
  concurrency: 3,
  tags: [],
  compatibleVersions: {},
})
tell({ kind: 'ready' })
await once(process, 'SIGTERM')
// shutdown
await close()
process.disconnect()
