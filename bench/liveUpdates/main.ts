import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * How fast updates and cancels go from process to process: a task is submitted in A, runs in B, and is watched and
 * cancelled from C. Prints p50 and p95 in milliseconds.
 *
 *     npm run build && npx tsx scripts/withRedis.ts -- npx tsx bench/liveUpdates/main.ts [progress reports] [cancels]
 *
 * All processes run on one machine, so that they share a clock.
 */
const url = process.env['REDIS_URL']
if (!url) throw new Error('REDIS_URL is not set')
const reports = Number(process.argv[2] ?? 500)
const cancels = Number(process.argv[3] ?? 100)
const prefix = `{bench-${process.pid}}/`

interface Process {
  ask<T>(question: object): Promise<T>
  end(): Promise<void>
}

const start = async (role: 'submitter' | 'worker' | 'watcher'): Promise<Process> => {
  const child: ChildProcess = fork(
    fileURLToPath(new URL('./role.ts', import.meta.url)),
    [JSON.stringify({ url, prefix, role })],
    { execArgv: ['--import', 'tsx'] },
  )
  const next = async (): Promise<unknown> => ((await once(child, 'message')) as unknown[])[0]
  await next()
  return {
    ask: async <T>(question: object) => {
      const answer = next()
      child.send(question)
      return (await answer) as T
    },
    end: async () => {
      const exited = once(child, 'exit')
      child.send({ kind: 'end' })
      await exited
    },
  }
}

const percentile = (values: readonly number[], share: number): string => {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(2)
}

const print = (what: string, values: readonly number[]): void => {
  console.log(`${what}: p50 ${percentile(values, 0.5)} ms, p95 ${percentile(values, 0.95)} ms (${values.length})`)
}

const [a, b, c] = await Promise.all([start('submitter'), start('worker'), start('watcher')])

const { id } = await a.ask<{ id: string }>({ kind: 'submit', reports })
print('progress, report to watcher', await c.ask<number[]>({ kind: 'watch', id }))

const cancelDelays: number[] = []
for (let round = 0; round < cancels; round++) {
  const task = await a.ask<{ id: string }>({ kind: 'submit', reports: Infinity })
  await b.ask({ kind: 'until running', id: task.id })
  const { at } = await c.ask<{ at: number }>({ kind: 'cancel', id: task.id })
  const { signalledAt } = await b.ask<{ signalledAt: number }>({ kind: 'until signalled', id: task.id })
  cancelDelays.push(signalledAt - at)
}
print('cancel, call to signal', cancelDelays)

await Promise.all([a, b, c].map((one) => one.end()))
