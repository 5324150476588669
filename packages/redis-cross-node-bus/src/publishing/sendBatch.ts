import type { BusReporter } from '@furystack/cross-node-bus/adapter'
import { replyCode, wasNotSent } from '@furystack/redis-connection'
import type { SchedulerLike } from 'rxjs'
import type { Link } from '../connection/link.js'
import { isTransient } from '../connection/isTransient.js'
import type { StreamBook } from '../streams/streamBook.js'
import { readStreamState } from '../streams/streamState.js'
import type { AgeTrims } from './ageTrims.js'
import type { Outbox } from './outbox.js'
import type { Outgoing } from './outgoing.js'

/** What sending on one connection needs to know. */
export type SendContext = {
  readonly link: Link
  readonly outbox: Outbox
  readonly ageTrims: AgeTrims
  readonly book: StreamBook
  readonly reporter: BusReporter
  readonly nodeId: string
  /** About how many entries a stream keeps. */
  readonly replayWindow: number
  /** How long a stream is kept after its last entry, milliseconds or `Infinity`. */
  readonly retentionMs: number
  readonly scheduler: SchedulerLike
}

/**
 * Sends what is next in the outbox, in one write, and settles it. Never rejects.
 *
 * @returns the error of a server that does not take messages at the moment; those are back in the outbox
 */
export async function sendBatch(context: SendContext): Promise<unknown> {
  const { link, outbox, ageTrims } = context
  const batch = outbox.take()
  const additions = batch.map((message) => link.send(xadd(message, context)))
  const chores = [...new Map(batch.map((message) => [message.key, message])).values()].map((message) =>
    tend(message, context),
  )
  const results = await Promise.allSettled(additions)
  await Promise.all(chores)

  const again = sendAgain(batch, results)
  let notNow: unknown
  for (const [index, result] of results.entries()) {
    const message = batch[index]
    if (message === undefined) continue
    if (result.status === 'fulfilled') {
      const id = String(result.value)
      context.book.add(message.key, id)
      ageTrims.added(id)
      message.accept(id)
    } else if (again.has(message)) {
      if (isTransient(replyCode(result.reason))) notNow ??= result.reason
    } else {
      message.fail(replyCode(result.reason) === undefined ? 'outcome-unknown' : 'refused', result.reason)
    }
  }
  outbox.settled([...again])
  return notNow
}

/**
 * The server looks after the size of the stream as it adds; every so often it drops what is too old instead. Both in
 * whole nodes of the stream (`~`), which costs it next to nothing.
 */
function xadd({ key, json, emittedAt }: Outgoing, { ageTrims, nodeId, replayWindow }: SendContext): string[] {
  const minId = ageTrims.minId(key)
  const trim = minId === undefined ? ['MAXLEN', '~', String(replayWindow)] : ['MINID', '~', minId]
  return ['XADD', key, ...trim, '*', 'v', '1', 'originId', nodeId, 'emittedAt', emittedAt, 'payload', json]
}

/** What a stream needs once for all messages of a batch. Never rejects. */
async function tend({ key, topic }: Outgoing, { link, book, retentionMs, reporter }: SendContext): Promise<void> {
  const chores: Array<Promise<unknown>> = []
  if (retentionMs !== Infinity) chores.push(link.send(['PEXPIRE', key, String(retentionMs)]))
  if (!book.has(key) && book.hasRoom) chores.push(readStreamState(link, key).then((state) => book.look(key, state)))
  for (const result of await Promise.allSettled(chores)) {
    // What the connection or the state of the server is to blame for, the message itself tells.
    if (result.status === 'fulfilled' || isTransient(replyCode(result.reason))) continue
    if (replyCode(result.reason) !== undefined) reporter.failed(topic, 'publish', result.reason)
  }
}

/**
 * Messages that Redis certainly has not taken, and might take if they were sent again; but none that a later one of its
 * topic would then precede.
 */
function sendAgain(
  batch: readonly Outgoing[],
  results: ReadonlyArray<PromiseSettledResult<unknown>>,
): ReadonlySet<Outgoing> {
  const overtaken = new Set<string>()
  const again: Outgoing[] = []
  for (let index = batch.length - 1; index >= 0; index--) {
    const message = batch[index]
    const result = results[index]
    if (message === undefined || result === undefined) continue
    const canBeSent =
      result.status === 'rejected' && (wasNotSent(result.reason) || isTransient(replyCode(result.reason)))
    if (canBeSent && !overtaken.has(message.key)) again.unshift(message)
    else overtaken.add(message.key)
  }
  return new Set(again)
}
