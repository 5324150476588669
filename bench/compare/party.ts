import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What a process says by itself. */
export interface Told {
  readonly event: 'ready' | 'warm' | 'done' | 'failed'
  readonly seconds?: number
  /** Seconds of CPU, of user and system together. */
  readonly cpu?: number
  readonly error?: string
  readonly versions?: Readonly<Record<string, string>>
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

const LIMIT_MS = 120_000

/** A producer or a worker of a peer, in a process of its own. */
export class Party {
  private readonly child: ChildProcess
  private readonly told = new Map<string, Told>()
  private readonly waiting = new Map<
    number | string,
    { resolve: (value: never) => void; reject: (error: Error) => void }
  >()
  private asked = 0
  private failure: Error | undefined

  constructor(settings: object) {
    this.child = fork(fileURLToPath(new URL('./child.mjs', import.meta.url)), [JSON.stringify(settings)], {
      serialization: 'advanced',
      // Plain JavaScript needs no loader, which would cost each process a second of its start.
      execArgv: [],
    })
    this.child.on('message', (message: Told | Answer) => {
      if ('event' in message && message.event === 'failed') this.fail(new Error(message.error))
      else if ('event' in message) this.hear(message)
      else this.answer(message)
    })
    this.child.once('exit', (code, signal) =>
      this.fail(new Error(`the process has ended with ${String(code ?? signal)}`)),
    )
  }

  /** What it says of this kind, now or in future. */
  async hears(event: Told['event']): Promise<Told> {
    return this.told.get(event) ?? this.wait<Told>(event)
  }

  async ask<T>(command: string, args: object = {}): Promise<T> {
    const id = ++this.asked
    this.child.send({ id, command, args })
    return this.wait<T>(id)
  }

  async close(): Promise<void> {
    const exited = once(this.child, 'exit')
    await this.ask('close')
    this.child.kill('SIGKILL')
    await exited
  }

  private wait<T>(key: number | string): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure)
      const timer = setTimeout(() => reject(new Error(`no ${key} within ${LIMIT_MS} ms`)), LIMIT_MS)
      const settle = (then: () => void): void => {
        clearTimeout(timer)
        this.waiting.delete(key)
        then()
      }
      this.waiting.set(key, {
        resolve: (value: T) => settle(() => resolve(value)),
        reject: (error) => settle(() => reject(error)),
      })
    })
  }

  private hear(message: Told): void {
    this.told.set(message.event, message)
    this.waiting.get(message.event)?.resolve(message as never)
  }

  private answer({ id, value, error }: Answer): void {
    const asked = this.waiting.get(id)
    if (error === undefined) asked?.resolve(value as never)
    else asked?.reject(new Error(error))
  }

  private fail(error: Error): void {
    this.failure = error
    for (const { reject } of [...this.waiting.values()]) reject(error)
  }
}
