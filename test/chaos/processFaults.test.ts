import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { Link } from '../support/link.js'
import { crashSample } from './crashPoints/crashSample.js'
import { inParallel } from './crashPoints/inParallel.js'
import { type Moment, momentsOf } from './crashPoints/moments.js'
import { buildProcessProgram, type ProcessProgram } from './crashPoints/processProgram.js'
import type { ProcessTask } from './crashPoints/processTask.js'
import { recover } from './crashPoints/recover.js'
import { type RedisOfWorlds, startRedisOfWorlds } from './crashPoints/redisOfWorlds.js'
import { REDIS_STACKS, type RedisStack } from './crashPoints/redisStage.js'
import { redisWorld } from './crashPoints/redisWorld.js'
import type { LogLine, Scenario } from './crashPoints/scenario.js'
import { SCENARIOS } from './crashPoints/scenarios.js'

const isFull = process.env['CHAOS'] === 'full'
/** Each is a process. */
const AT_ONCE = 4
const LIMIT_MS = 15_000
/** Of these each moment is the last of a process; of others, every so manieth. */
const WHOLE = new Set([
  'submit',
  'draft and start',
  'spawn, await, and wake',
  'retry with back-off',
  'cancel of a running task',
  'end of a parent with open children',
])
const EVERY = 12

let redis: RedisOfWorlds
let program: ProcessProgram
let folder: string

beforeAll(async () => {
  program = await buildProcessProgram()
  folder = await mkdtemp(join(tmpdir(), 'crash-'))
  redis = await startRedisOfWorlds()
})

afterAll(async () => {
  await redis[Symbol.asyncDispose]()
  await program[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Runs the process to its death. */
const runProcess = async (task: ProcessTask): Promise<void> => {
  const child = spawn(process.execPath, [program.path, JSON.stringify(task)], { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (complaint += text))
  const timer = setTimeout(() => child.kill('SIGTERM'), LIMIT_MS)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  if (signal !== 'SIGKILL') throw new Error(`The process ended with ${String(code ?? signal)}: ${complaint}`)
}

/** Plays the scenario; answers the commands that its process sent, in order, if it was not to die of one. */
const play = async (stack: RedisStack, scenario: Scenario, moment?: Moment): Promise<string[]> => {
  await using world = redisWorld(redis, stack, scenario)
  const { prefix, address } = world
  const logFile = join(folder, prefix.replaceAll(/\W/g, '-'))
  const namesFile = `${logFile}.names`
  // Into the same file, which keeps the order.
  const byOrder = world.onCalled
  world.onCalled = (line) => {
    appendFileSync(logFile, `${JSON.stringify(line)}\n`)
  }
  const task = { url: redis.url, prefix, stack, scenario: scenario.name, origin: address, logFile }
  await runProcess({ ...task, ...(moment ? { moment } : { namesFile }) })
  world.onCalled = byOrder
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(0, -1)
  world.log.push(...lines.map((line) => JSON.parse(line) as LogLine))
  const second = world.start(new Link())
  try {
    second.work(4)
    await recover(world, scenario, second)
    return moment ? [] : (JSON.parse(await readFile(namesFile, 'utf8')) as string[])
  } finally {
    await second.dispose()
  }
}

const chosen = (moments: readonly Moment[], scenario: Scenario, stack: RedisStack): Moment[] => {
  if (isFull || (stack === 'rows and queue as one' && WHOLE.has(scenario.name))) return [...moments]
  return crashSample.everyNth(moments, EVERY, `${stack}/${scenario.name}`)
}

describe.each(isFull ? REDIS_STACKS : REDIS_STACKS.slice(0, 1))(
  `a process over Redis, %s, killed, ${crashSample.again}`,
  (stack) => {
    it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
      'loses and repeats nothing at commands of: %s',
      async (_, scenario) => {
        const moments = chosen(momentsOf(await play(stack, scenario)), scenario, stack)
        const nameOf = ({ name, nth }: Moment): string => `${name} ${nth}`
        expect(
          await inParallel(moments, { atOnce: AT_ONCE, nameOf }, (moment) => play(stack, scenario, moment)),
        ).toEqual([])
      },
      isFull ? 600_000 : 120_000,
    )
  },
)
