import type { HistoryWriter } from '../history/historyFile.js'
import type { AdminClient } from './adminClient.js'
import type { Backend } from './backend.js'

const LOOK_MS = 100
const STALL_MS = 300
const SAMPLE_MS = 500
const IDLE_MS = 3_000

/** Looks on from the side, and writes down when the machine or the server stands still, and what is claimed. */
export const startWatching = ({ admin, prefix }: Backend, { note }: HistoryWriter): AsyncDisposable => {
  let isOver = false
  let lookedAt = performance.now()
  const loop = setInterval(() => {
    const late = performance.now() - lookedAt - LOOK_MS
    lookedAt = performance.now()
    if (late >= STALL_MS) note({ kind: 'stall', ms: Math.round(late) })
  }, LOOK_MS)

  const ask = async (): Promise<void> => {
    const client = await admin()
    const startedAt = Date.now()
    await client.ping()
    const ms = Date.now() - startedAt
    if (ms >= STALL_MS) note({ kind: 'stall', ms })
    const consumers = await pendingOf(client, prefix)
    note({ kind: 'pending', startedAt, consumers })
  }
  const asking = (async () => {
    while (!isOver) {
      // What it looks at may be down.
      await ask().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
    }
  })()
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true
      clearInterval(loop)
      await asking
    },
  }
}

/** All lanes at one moment: one after the other, a busy slot would be met in several of them. */
const PENDING = `
local found = {}
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[1] .. 'lanes')) do
  local reply = redis.pcall('XPENDING', KEYS[1] .. 'queue:' .. lane, ARGV[1])
  for _, pending in ipairs(not reply.err and reply[4] or {}) do
    found[#found + 1] = pending[1]
    found[#found + 1] = pending[2]
  end
end
return found
`

const pendingOf = async (client: AdminClient, prefix: string): Promise<Record<string, number>> => {
  const found = (await client.eval(PENDING, { keys: [`${prefix}tasks:`], arguments: ['runner'] })) as string[]
  const counts: Record<string, number> = {}
  for (let at = 0; at < found.length; at += 2) {
    const consumer = found[at] ?? ''
    counts[consumer] = (counts[consumer] ?? 0) + Number(found[at + 1])
  }
  return counts
}

/** Counts what is sent while there is nothing to do; commands within scripts are not sent. */
export const measureIdle = async ({ admin }: Backend, workers: number, { note }: HistoryWriter): Promise<void> => {
  const monitor = (await admin()).duplicate()
  monitor.on('error', () => undefined)
  await monitor.connect()
  const counts: Record<string, number> = {}
  await monitor.monitor((line) => {
    const [, address, command = ''] = /^\S+ \[\d+ (\S+)\] "(\w+)"/.exec(String(line)) ?? []
    if (address !== undefined && address !== 'lua') counts[command] = (counts[command] ?? 0) + 1
  })
  // A span of time is what is measured; nothing is waited for.
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  monitor.destroy()
  const perSecond = Object.values(counts).reduce((sum, count) => sum + count, 0) / (IDLE_MS / 1_000)
  note({ kind: 'idle', perSecond, workers, counts })
}
