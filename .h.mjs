import { createClient } from 'redis'
import { createInjector } from '@furystack/inject'
import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { defineTaskHandler, TaskRunner, TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { defineRedisTaskRunner } from './dist/index.js'
import inspector from 'node:inspector'
const [c = '50', tasks = '20000'] = process.argv.slice(2); const n = Number(tasks), warm = 10000
const client = createClient({ socket: { host: '127.0.0.1', port: 6391 } }); client.on('error', () => {}); await client.connect(); await client.flushAll()
const injector = createInjector(); injector.bind(BlobStore, () => new InMemoryBlobStore())
injector.bind(TaskRunner, defineRedisTaskRunner({ client, serviceName: 'x', topicPrefix: '{bench}/', capabilityCheck: 'off' }))
const runner = injector.get(TaskRunner)
for (let i = 0; i < n + warm; i += 1000) await runner.submitMany(Array.from({ length: 1000 }, (_, k) => ({ type: 'job', handlerVersion: 1, payload: { i: i + k, t: 1234567.123, d: 0, pad: 'x'.repeat(60) } })))
const s = new inspector.Session(); s.connect(); const post = (m, p) => new Promise((r) => s.post(m, p, (e, v) => r(e ?? v)))
await new Promise((done) => { let k = 0; injector.get(TaskRunnerTelemetryToken).addListener('onTaskCompleted', () => { k++
  if (k === warm) s.post('HeapProfiler.startSampling', { samplingInterval: 4096, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true })
  if (k === n + warm) done() })
  runner.registerWorker({ name: 'b', handlers: [defineTaskHandler({ type: 'job', version: 1, handler: async (_c, d) => ({ ok: true, i: d.i }) })], concurrency: Number(c), tags: [], compatibleVersions: {} }) })
const { profile } = await post('HeapProfiler.stopSampling')
const by = new Map(); let tot = 0
const walk = (x, up) => { const f = x.callFrame; const key = `${f.functionName || '(anon)'} ${f.url.split('/').slice(-2).join('/')}:${f.lineNumber + 1}`; by.set(key, (by.get(key) ?? 0) + x.selfSize); tot += x.selfSize; x.children.forEach((y) => walk(y, key)) }
walk(profile.head)
console.log('bytes per task', Math.round(tot / n)); for (const [k, v] of [...by].sort((a, b) => b[1] - a[1]).slice(0, 55)) console.log(String(Math.round(v / n)).padStart(6), k)
process.exit(0)
