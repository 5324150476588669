import { isTerminalStatus, type Task } from '@furystack/task-runner'

import { until } from '../../support/until.js'
import type { AdminClient } from './adminClient.js'
import type { Backend } from './backend.js'
import { openRunner } from './openRunner.js'

/** What is left when all has come to its end, and every worker has gone. */
export interface FinalState {
  readonly rows: readonly Task[]
  /** Ids of the tasks that can be sent again. */
  readonly deadLetters: readonly string[]
  /** What lies where nothing should lie any more, each with its place. */
  readonly leftovers: readonly string[]
  /** Names of the consumers that the groups still have. */
  readonly consumers: readonly string[]
}

const PAGE = 200
const BESIDE = /:(?:events|children|open|steps)$/

const keysOf = async (client: AdminClient, prefix: string): Promise<string[]> => {
  const keys: string[] = []
  for await (const page of client.scanIterator({ MATCH: `${prefix}tasks:*`, COUNT: 1_000 })) keys.push(...page)
  return [...new Set(keys)]
}

const rowKeysOf = async (client: AdminClient, prefix: string): Promise<string[]> =>
  (await keysOf(client, prefix)).filter((key) => key.startsWith(`${prefix}tasks:row:`) && !BESIDE.test(key))

const inPages = async <T, R>(list: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> => {
  const answers: R[] = []
  for (let from = 0; from < list.length; from += PAGE)
    answers.push(...(await Promise.all(list.slice(from, from + PAGE).map(ask))))
  return answers
}

/** Structures in which something lies only for as long as a task is not over. */
const EMPTY_IN_THE_END = ['scheduler', 'held', 'deadlines', 'orphans', 'unqueued', 'leases', 'cap:capped', 'unreadable']

const sizeOf = async (client: AdminClient, key: string): Promise<number> => {
  const type = await client.type(key)
  const command = { zset: 'ZCARD', hash: 'HLEN', stream: 'XLEN', set: 'SCARD', list: 'LLEN' }[String(type)]
  return command === undefined ? 0 : Number(await client.sendCommand([command, key]))
}

const leftoversOf = async (client: AdminClient, prefix: string): Promise<string[]> => {
  const root = `${prefix}tasks:`
  const left: string[] = []
  const expectEmpty = async (key: string): Promise<void> => {
    const size = await sizeOf(client, key)
    if (size > 0) left.push(`${size} in ${key.slice(prefix.length)}`)
  }
  for (const name of EMPTY_IN_THE_END) await expectEmpty(root + name)
  for (const key of await keysOf(client, prefix)) {
    const name = key.slice(root.length)
    if (name.startsWith('queue:') || name.endsWith(':open')) await expectEmpty(key)
    if (/^(?:bell|capbell|wake)/.test(name) && (await sizeOf(client, key)) > 1) left.push(`a bell that grows: ${name}`)
    if (name.startsWith('row:') && !BESIDE.test(name) && !(await client.hGet(key, 's')))
      left.push(`a row without a status: ${name}`)
  }
  return left
}

const consumersIn = async (client: AdminClient, prefix: string): Promise<string[]> => {
  const names: string[] = []
  for (const key of await keysOf(client, prefix)) {
    if (!key.startsWith(`${prefix}tasks:queue:`)) continue
    const consumers = await client.xInfoConsumers(key, 'runner').catch(() => [])
    names.push(...consumers.map(({ name }) => name))
  }
  return names
}

/** Waits until all tasks are over and nothing lies about, `limitMs` at most; whatever is left then is the checker's. */
export const settleDown = async ({ admin, prefix }: Backend, limitMs: number): Promise<void> => {
  const isOver = async (): Promise<boolean> => {
    const client = await admin()
    const statuses = await inPages(await rowKeysOf(client, prefix), (key) => client.hGet(key, 's'))
    // A draft that nobody could start stays what it is.
    if (!statuses.every((status) => status === 'draft' || isTerminalStatus(status as Task['status']))) return false
    return (await leftoversOf(client, prefix)).length === 0
  }
  await until(isOver, { timeoutMs: limitMs, intervalMs: 500, description: 'all is over' }).catch(() => undefined)
}

/** Reads what is left, through a runner of its own where it is a task. */
export const readFinalState = async (backend: Backend): Promise<FinalState> => {
  const { admin, prefix } = backend
  const client = await admin()
  const ids = (await rowKeysOf(client, prefix)).map((key) => key.slice(`${prefix}tasks:row:`.length))
  const { runner, dispose } = await openRunner(await backend.wayOf('coroner'), prefix, 'coroner')
  try {
    const rows = (await inPages(ids, (id) => runner.get(id))).filter((row) => row !== undefined)
    const deadLetters: string[] = []
    for (let cursor: string | undefined; ;) {
      const page = await runner.deadLetters.list({ limit: 100, cursor })
      deadLetters.push(...page.letters.map(({ id }) => id))
      cursor = page.cursor
      if (cursor === undefined) break
    }
    return {
      rows,
      deadLetters,
      leftovers: await leftoversOf(client, prefix),
      consumers: await consumersIn(client, prefix),
    }
  } finally {
    await dispose()
  }
}
