import { locateServer, type ServerLocator } from '@furystack/redis-connection'
import { asyncScheduler } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openLink } from '../../packages/redis-cross-node-bus/src/connection/openLink.js'
import { openConnection } from '../../src/connection/connection.js'
import { connectClient, uniquePrefix } from '../support/redis.js'

/** A connection to a server whose place another one may take. */
interface Subject {
  readonly send: (args: readonly string[]) => Promise<unknown>
}

type OpenSubject = (server: ServerLocator) => Promise<Subject>

const ofRunner: OpenSubject = async (server) => {
  const connection = openConnection({ server, deadlineMs: 60_000 })
  onTestFinished(() => connection[Symbol.asyncDispose]())
  await connection.send('ping', ['PING'])
  return { send: (args) => connection.send('command', args) }
}

const ofBus: OpenSubject = (server) =>
  new Promise((resolve) => {
    const check = (): Promise<undefined> => Promise.resolve(undefined)
    const options = { server, check, name: 'bus', deadlineMs: 60_000, scheduler: asyncScheduler }
    const subscription = openLink(options).subscribe({
      next: ({ link }) => {
        if (link) resolve({ send: (args) => link.send(args) })
      },
      error: () => undefined,
    })
    onTestFinished(() => subscription.unsubscribe())
  })

describe.each([
  ['the runner', ofRunner],
  ['the bus', ofBus],
])('when another server takes over, a connection of %s', (_, open) => {
  const setUp = async () => {
    const client = await connectClient()
    let moved = (): void => undefined
    const server: ServerLocator = {
      ...locateServer({ kind: 'single', client }, 'svc/'),
      onMoved: (listener) => {
        moved = listener
        return () => undefined
      },
    }
    const subject = await open(server)
    const wait = (seconds: number): Promise<unknown> =>
      subject.send(['BLPOP', uniquePrefix('nothing'), String(seconds)])
    return { client, wait, move: () => moved() }
  }

  it('still has the answer to what was asked before', async () => {
    const { wait, move } = await setUp()
    const answer = wait(0.2)
    move()
    expect(await answer).toBeNull()
  })

  it('does not wait for one that does not come', async () => {
    const { wait, move } = await setUp()
    const answer = wait(0)
    const outcome = expect(answer).rejects.toThrow()
    move()
    await outcome
  })
})
