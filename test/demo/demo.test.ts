import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { connectClient, redisUrl } from '../support/redis.js'
import { until } from '../support/until.js'

const ENTRY = fileURLToPath(new URL('../../demo/main.ts', import.meta.url))
const LIMIT_MS = 90_000

const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'demo-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const ODD_NAMES = [
  'plain.ts',
  'with space.txt',
  'new\nline.md',
  'tab\there.json',
  '日本語 👩‍👩‍👧.txt',
  '-n',
  '--zero',
  'quote"s\'.json',
  'back\\slash',
  'esc\u001b[31mred.txt',
  'node_modules.txt',
]

/** A folder with files of odd names, some more, and what is to be left out. */
const oddFolder = async (): Promise<string> => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'sub folder'))
  await mkdir(join(folder, 'node_modules'))
  await writeFile(join(folder, 'node_modules', 'left-out.js'), 'x')
  for (const name of ODD_NAMES) await writeFile(join(folder, name), name)
  for (let index = 0; index < 20; index++) {
    await writeFile(join(folder, 'sub folder', `${index}.bin`), Buffer.alloc(index * 10_000, index))
  }
  return folder
}

const FILES = ODD_NAMES.length + 20

/** Where the demos may put temporary files: nowhere else, and nothing of them may stay. */
let temporary = ''
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'demo-test-'))
  return () => rm(temporary, { recursive: true, force: true })
})

/** Runs the demo and follows what it says. */
const startDemo = (target: string, env: NodeJS.ProcessEnv = {}) => {
  const { REDIS_URL: _, INIT_CWD: _1, ...inherited } = process.env
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), ENTRY, target], {
    env: { ...inherited, TMPDIR: temporary, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    output: () => output,
    says: (text: string) =>
      until(() => output.includes(text), { timeoutMs: 60_000, description: `the demo says "${text}"` }),
    ended: async () => (await closed)[0],
    workerPids: () => [...output.matchAll(/is ready \(pid (\d+)\)/g)].map(([, pid]) => Number(pid)),
    /** Folders of Redis servers that were not removed. */
    leftFolders: async () => (await readdir(temporary)).filter((name) => name.startsWith('redis-')),
  }
}

type Demo = ReturnType<typeof startDemo>

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const expectNothingLeft = async (demo: Demo): Promise<void> => {
  await until(() => !demo.workerPids().some(isAlive), { timeoutMs: 10_000, description: 'the workers to be gone' })
  expect(await demo.leftFolders()).toEqual([])
}

it(
  'hashes files of any name, loses a worker and recovers its tasks',
  async () => {
    const demo = startDemo(await oddFolder())
    expect(await demo.ended(), demo.output()).toBe(0)
    const output = demo.output()
    expect(output).toMatch(new RegExp(`^OK: ${FILES} files in .*, one worker killed, nothing lost`, 'm'))
    expect(output).toMatch(/SIGKILL for worker-\d \(pid \d+\) at \d+ %, with \d tasks? in hand/)
    expect(output).toMatch(/worker-\d took over .* after the kill, and finished /)
    expect(output).toMatch(/timed-out, succeeded +worker-\d/)
    expect(output).toMatch(new RegExp(`ok +SHA-256 as computed by .*: ${FILES} of ${FILES} files$`, 'm'))
    expect(output).not.toContain('FAILED')
    expect(output).not.toContain('left-out.js')
    expect(output).not.toContain('\u001b')
    expect(demo.workerPids()).toHaveLength(3)
    await expectNothingLeft(demo)
  },
  LIMIT_MS,
)

it(
  'ends in order on SIGINT in the midst of it, and leaves nothing in a Redis that is not its own',
  async () => {
    const client = await connectClient()
    await client.set('demo-neighbour', 'kept')
    const demo = startDemo(await oddFolder(), { REDIS_URL: redisUrl() })
    await demo.says('SIGKILL for worker-')
    expect(await client.keys('demo-*/*')).not.toEqual([])
    demo.kill('SIGINT')
    expect(await demo.ended(), demo.output()).toBe(130)
    expect(demo.output()).toContain('Ended by SIGINT')
    expect(await client.keys('demo-*')).toEqual(['demo-neighbour'])
    await client.del('demo-neighbour')
    await expectNothingLeft(demo)
  },
  LIMIT_MS,
)

it(
  'ends in order on SIGTERM while it starts',
  async () => {
    const demo = startDemo(await oddFolder())
    await demo.says('slots')
    demo.kill('SIGTERM')
    expect(await demo.ended(), demo.output()).toBe(143)
    await expectNothingLeft(demo)
  },
  LIMIT_MS,
)

it(
  'survives a worker that dies by itself, and says so',
  async () => {
    const demo = startDemo(await oddFolder())
    await until(() => demo.workerPids().length === 3, { timeoutMs: 60_000, description: 'all workers to be ready' })
    process.kill(demo.workerPids()[2] ?? 0, 'SIGKILL')
    expect(await demo.ended(), demo.output()).toBe(0)
    expect(demo.output()).toMatch(/has ended unexpectedly: SIGKILL/)
    expect(demo.output()).toContain(`OK: ${FILES} files`)
    await expectNothingLeft(demo)
  },
  LIMIT_MS,
)

// Reading it is an error, whoever tries.
it.runIf(existsSync('/proc/self/mem'))(
  // It is in hand when the worker is to be killed, or not: then it takes one attempt less.
  'reports a file that cannot be read, after the retries',
  async () => {
    const demo = startDemo('/proc/self/mem')
    expect(await demo.ended(), demo.output()).toBe(0)
    expect(demo.output()).toMatch(/mem: cannot be read, given up after \d attempts: EIO/)
    expect(demo.output()).toContain('OK: 0 files (1 cannot be read)')
  },
  LIMIT_MS,
)

it('says so if there is nothing to do', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'node_modules'))
  const empty = startDemo(folder)
  expect(await empty.ended()).toBe(0)
  expect(empty.output()).toContain('There are no files in')

  const missing = startDemo(join(folder, 'missing'))
  expect(await missing.ended()).toBe(1)
  expect(missing.output()).toMatch(/^There is nothing to hash at .*ENOENT[^\n]*\n$/)
}, 30_000)
