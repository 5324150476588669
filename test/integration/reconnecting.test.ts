import { locateServer, type RedisClient, type RedisSentinel, type ServerLocator } from '@furystack/redis-connection'
import { type SchedulerLike, Subscription } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import { connectLink } from '../../packages/redis-cross-node-bus/src/connection/connectLink.js'
import { openConnection } from '../../src/connection/connection.js'
import { deferred } from '../support/deferred.js'
import { connectClient } from '../support/redis.js'

/** Time stands still: no pause ends by itself. */
const standstill: SchedulerLike = { now: () => 0, schedule: () => new Subscription() }

/** A server that can be reached from some moment on, and what waits for that. */
const setUp = async () => {
  const client = await connectClient()
  const failed = deferred()
  let isThere = false
  const template: RedisClient = Object.assign(Object.create(client) as RedisClient, {
    duplicate: (overrides: object): RedisClient => {
      if (isThere) return client.duplicate(overrides)
      failed.resolve()
      throw new Error('away')
    },
  })
  const server = locateServer({ kind: 'single', client: template }, 'svc/')
  const open = () => {
    const connection = openConnection({ server, deadlineMs: 60_000, scheduler: standstill })
    onTestFinished(() => connection[Symbol.asyncDispose]())
    return connection
  }
  const arrive = (): void => {
    isThere = true
  }
  return { server, open, failed, arrive }
}

describe('a connection that pauses between attempts', () => {
  it('tries again when another one of the runner gets through', async () => {
    const { open, failed, arrive } = await setUp()
    const pausing = open()
    await failed.promise
    const answer = pausing.send('ping', ['PING'])
    arrive()
    const other = open()
    expect(await other.send('ping', ['PING'])).toBe('PONG')
    expect(await answer).toBe('PONG')
  })

  it('tries again when another one of the bus gets through', async () => {
    const { server, open, failed, arrive } = await setUp()
    const ready = deferred()
    const check = (): Promise<undefined> => Promise.resolve(undefined)
    const subscription = connectLink({
      server,
      check,
      name: 'bus',
      deadlineMs: 60_000,
      scheduler: standstill,
    }).subscribe(({ link }) => {
      if (link) ready.resolve()
    })
    onTestFinished(() => subscription.unsubscribe())
    await failed.promise
    arrive()
    expect(await open().send('ping', ['PING'])).toBe('PONG')
    await ready.promise
  })

  it('tries again when another server has taken over', async () => {
    const { server, failed, arrive } = await setUp()
    let moved = (): void => undefined
    const following = { ...server, onMoved: (listener: () => void) => ((moved = listener), () => undefined) }
    const connection = openConnection({ server: following, deadlineMs: 60_000, scheduler: standstill })
    onTestFinished(() => connection[Symbol.asyncDispose]())
    await failed.promise
    const answer = connection.send('ping', ['PING'])
    arrive()
    moved()
    expect(await answer).toBe('PONG')
  })
})

it('a link that pauses is told once of another primary, and tries once for that', async () => {
  const client = await connectClient()
  let hear = (_: unknown): void => undefined
  const sentinel: RedisSentinel = {
    isOpen: true,
    getMasterNode: () => undefined,
    _execute: (_, task) => task(client),
    on: (_, listener) => (hear = listener),
    off: () => undefined,
  }
  const server = locateServer({ kind: 'sentinel', client: sentinel }, 'svc/')
  const failed = deferred()
  let listening = 0
  const watched: ServerLocator = {
    ...server,
    onMoved: (listener) => {
      // Without a limit it would never come to an end.
      if (++listening > 20) throw new Error('told again and again')
      return server.onMoved(listener)
    },
  }
  const check = (): Promise<undefined> => Promise.resolve(undefined)
  const options = { server: watched, check, name: 'bus', deadlineMs: 60_000, scheduler: standstill }
  const subscription = connectLink(options).subscribe({
    next: ({ link }) => {
      if (!link) setImmediate(() => failed.resolve())
    },
    error: () => undefined,
  })
  onTestFinished(() => subscription.unsubscribe())
  await failed.promise
  const before = listening
  hear({ type: 'MASTER_CHANGE', node: { host: '127.0.0.1', port: 1 } })
  expect(listening - before).toBe(1)
})

it('tells when a command is answered after one that was refused for what passes, and not otherwise', async () => {
  const client = await connectClient()
  const notices: string[] = []
  const server = locateServer({ kind: 'single', client }, 'svc/')
  const connection = openConnection({ server, deadlineMs: 5_000, onNotice: ({ kind }) => notices.push(kind) })
  onTestFinished(() => connection[Symbol.asyncDispose]())
  const send = (...args: string[]): Promise<unknown> => connection.send('command', args)
  const refuse = (reply: string): Promise<unknown> => send('EVAL', `return redis.error_reply('${reply}')`, '0')

  await send('PING')
  await refuse('NOPERM never').catch(() => undefined)
  await send('PING')
  expect(notices).toEqual([])
  await refuse('LOADING for now').catch(() => undefined)
  await refuse('LOADING for now').catch(() => undefined)
  expect(notices).toEqual([])
  await send('PING')
  await send('PING')
  expect(notices).toEqual(['answered'])
})
