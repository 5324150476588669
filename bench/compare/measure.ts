import { createClient } from 'redis'

import { type Cost, costSoFar } from './cost.js'
import { Party } from './party.js'

/** One figure of one run, by name of the case. Rates are tasks a second, CPU microseconds a task, memory bytes a task. */
export type Figures = Record<string, number>

/** Whom to measure. */
export interface Peer {
  readonly name: string
  /** URL of its module. */
  readonly module: string
}

/** How much of everything; small figures make it quick and rough. */
export interface Amounts {
  readonly submits: number
  readonly process: Readonly<Record<'1' | '10' | '50', number>>
  readonly warmup: number
  readonly latencies: number
}

interface Server {
  readonly host: string
  readonly port: number
}

const QUEUE = '{bench}'

/** One round of one peer: submit, bulk, then three workers on what lies there, then an idle one. */
export const measure = async (
  { module }: Peer,
  { host, port }: Server,
  amounts: Amounts,
  onVersions: (versions: Readonly<Record<string, string>>) => void,
): Promise<Figures> => {
  const client = createClient({ socket: { host, port } })
  client.on('error', () => undefined) // whatever waits for it rejects
  await client.connect()
  await client.flushAll()
  const snap = (): Promise<Cost> => costSoFar(client)
  const figures: Figures = {}
  const common = { module, redis: { host, port }, queue: QUEUE }

  const producer = new Party({ ...common, role: 'producer' })
  onVersions((await producer.hears('ready')).versions ?? {})
  const submitting = async (name: string, how: string, args: object): Promise<void> => {
    const { submits } = amounts
    const before = await snap()
    const { seconds, cpu } = await producer.ask<{ seconds: number; cpu: number }>(how, { ...args, count: submits })
    const after = await snap()
    figures[name] = submits / seconds
    figures[`${name}: Redis CPU`] = ((after.cpu - before.cpu) / submits) * 1e6
    figures[`${name}: process CPU`] = (cpu / submits) * 1e6
    figures['memory: waiting'] = (after.memory - before.memory) / submits
  }
  await producer.ask('submit', { count: amounts.warmup, inFlight: 100 })
  await submitting('submit', 'submit', { inFlight: 100 })
  await submitting('bulk', 'bulk', { chunk: 1_000 })
  const waiting = 2 * amounts.submits + amounts.warmup
  // Workers go on until they have been closed, so that they take more than they are measured by.
  const needed = Object.values(amounts.process).reduce((sum, tasks) => sum + tasks + 2 * amounts.warmup, 0)
  if (needed > waiting) await producer.ask('bulk', { count: needed - waiting, chunk: 1_000 })

  for (const [concurrency, tasks] of Object.entries(amounts.process)) {
    const { warmup } = amounts
    const worker = new Party({ ...common, role: 'worker', concurrency: Number(concurrency), warmup, tasks })
    await worker.hears('warm')
    const before = await snap()
    const { seconds = NaN, cpu = NaN } = await worker.hears('done')
    const after = await snap()
    await worker.close()
    const name = `process, ${concurrency}`
    figures[name] = tasks / seconds
    figures[`${name}: Redis CPU`] = ((after.cpu - before.cpu) / tasks) * 1e6
    figures[`${name}: process CPU`] = (cpu / tasks) * 1e6
    figures[`${name}: commands`] = (after.commands - before.commands) / tasks
  }

  // What is left would stand in front of the tasks whose latency is measured.
  await client.flushAll()
  await client.sendCommand(['CONFIG', 'RESETSTAT'])
  await producer.close()
  const [sender, idle] = [
    new Party({ ...common, role: 'producer' }),
    new Party({ ...common, role: 'worker', concurrency: 10, warmup: 0, tasks: amounts.latencies }),
  ]
  await Promise.all([sender.hears('ready'), idle.hears('ready')])
  await sender.ask('rate', { count: amounts.latencies, everyMs: 10 })
  await idle.hears('done')
  // The first half meets code that has not been compiled yet.
  const delays = (await idle.ask<number[]>('delays')).slice(Math.floor(amounts.latencies / 2)).sort((a, b) => a - b)
  figures['latency: p50'] = delays[Math.floor(delays.length / 2)] ?? NaN
  figures['latency: p95'] = delays[Math.floor(delays.length * 0.95)] ?? NaN
  await Promise.all([sender.close(), idle.close()])
  await client.close()
  return figures
}
