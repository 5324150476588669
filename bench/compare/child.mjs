// A producer or a worker, in a process of its own that is driven by messages.
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'

const { role, module, redis, queue, concurrency, warmup, tasks, options = {} } = JSON.parse(process.argv[2])
const { default: peer } = await import(module)

/** Milliseconds by a clock that all processes of the machine share. */
const now = () => performance.timeOrigin + performance.now()
const tell = (message) => process.send(message)
let before = process.cpuUsage()
const usedSince = () => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
const payloadOf = (i) => ({ i, at: now(), to: 'somebody@example.com', subject: 'x'.repeat(40) })

const commands = {}
if (role === 'producer') {
  const producer = await peer.createProducer({ redis, queue, keep: 'all', options })
  /** `count` tasks, `inFlight` of them awaited at a time. */
  commands.submit = async ({ count, inFlight }) => {
    before = process.cpuUsage()
    const from = now()
    let next = 0
    const line = async () => {
      while (next < count) await producer.add(payloadOf(next++))
    }
    await Promise.all(Array.from({ length: inFlight }, line))
    return { seconds: (now() - from) / 1_000, cpu: usedSince() }
  }
  commands.bulk = async ({ count, chunk, notBefore }) => {
    before = process.cpuUsage()
    const from = now()
    for (let first = 0; first < count; first += chunk)
      await producer.addBulk(
        Array.from({ length: Math.min(chunk, count - first) }, (_, i) => payloadOf(first + i)),
        { notBefore },
      )
    return { seconds: (now() - from) / 1_000, cpu: usedSince() }
  }
  /** Open loop: a late reply does not hold back the next task. */
  commands.rate = async ({ count, everyMs }) => {
    const pending = []
    const from = now()
    for (let i = 0; i < count; i++) {
      const waitMs = from + i * everyMs - now()
      if (waitMs > 0) await delay(waitMs)
      pending.push(producer.add(payloadOf(i)))
    }
    await Promise.all(pending)
  }
  commands.close = () => producer.close()
} else {
  const delays = []
  let firstAt
  let completed = 0
  let startedAt = 0
  const worker = await peer.createWorker({
    redis,
    queue,
    concurrency,
    keep: 'all',
    options,
    handler: async ({ i, at }) => {
      firstAt ??= now()
      if (warmup === 0) delays.push(now() - at)
      return { ok: true, i }
    },
    onCompleted: () => {
      completed++
      if (completed === warmup) {
        before = process.cpuUsage()
        startedAt = now()
        tell({ event: 'warm' })
      } else if (completed === warmup + tasks) {
        tell({ event: 'done', seconds: (now() - startedAt) / 1_000, cpu: usedSince() })
      }
    },
    onError: (error) => tell({ event: 'failed', error: String(error?.stack ?? error) }),
  })
  /** What it has done so far, and the CPU since it was warm. */
  commands.progress = () => ({ completed, cpu: usedSince() })
  commands.delays = () => delays
  commands.firstAt = () => firstAt
  commands.close = () => worker.close()
}

process.on('message', async ({ id, command, args }) => {
  try {
    tell({ id, value: await commands[command](args) })
  } catch (error) {
    tell({ id, error: String(error?.stack ?? error) })
  }
})
process.on('disconnect', () => process.exit(0))
tell({ event: 'ready', versions: peer.versions() })
