import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `process` is what the header of that name says. */
export type OnRequest = (request: { taskId: string; process: string }) => void

/** A server that handlers send requests to. */
export interface Origin extends AsyncDisposable {
  /** An address, and who hears of requests that arrive there: for which task, from which process. */
  of(onRequest: OnRequest): string
}

/** Starts the server on a free port. */
export const startOrigin = async (): Promise<Origin> => {
  const listeners: OnRequest[] = []
  const server = createServer((request, response) => {
    const [, index = '', taskId = ''] = (request.url ?? '').split('/')
    listeners[Number(index)]?.({ taskId, process: String(request.headers['process']) })
    response.end('answer')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    of: (onRequest) => `http://127.0.0.1:${port}/${listeners.push(onRequest) - 1}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
