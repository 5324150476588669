// BullMQ at its defaults, as a peer of the measuring programme.
import { createRequire } from 'node:module'

import { Queue, Worker } from 'bullmq'

const require = createRequire(import.meta.url)
const keeping = (keep) => (keep === 'none' ? true : undefined)

export default {
  name: 'BullMQ',
  versions: () => ({
    bullmq: require('bullmq/package.json').version,
    ioredis: require('ioredis/package.json').version,
  }),

  async createProducer({ redis: connection, queue: name, keep }) {
    const queue = new Queue(name, { connection, defaultJobOptions: { removeOnComplete: keeping(keep) } })
    queue.on('error', () => {})
    await queue.waitUntilReady()
    return {
      add: (data) => queue.add('job', data),
      addBulk: (list) => queue.addBulk(list.map((data) => ({ name: 'job', data }))),
      close: () => queue.close(),
    }
  },

  async createWorker({ redis: connection, queue, concurrency, handler, onCompleted, onError }) {
    const worker = new Worker(queue, (job) => handler(job.data), { connection, concurrency })
    worker.on('completed', (job) => onCompleted(job.id))
    worker.on('failed', (_job, error) => onError(error))
    worker.on('error', onError)
    await worker.waitUntilReady()
    return { close: () => worker.close() }
  },
}
