import type { FinishAttempt, FinishResult } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import type { ReadReply, SettleReply } from '../port/lanePort.js'
import type { ClaimRequest, ClaimSetting } from '../scripts/claimWire.js'
import { finishAndRead } from '../scripts/finishAndRead.js'
import { pagesOf } from '../scripts/pagesOf.js'
import { type FinishedClaim, NOTHING_TO_SAY } from '../scripts/turn.js'

/** What one call of the script may keep the server busy with: about a millisecond, or a single attempt. */
const MAX_SETTLED = 100
/** How many settled entries may wait to be taken off their streams together. */
const MAX_LEFT = 64
const PAGE = {
  items: 100,
  bytes: 1_048_576,
  bytesOf: ({ step: { input } }: Asked<FinishedClaim, FinishResult>): number => resultBytesOf(input),
}

/**
 * Puts what the workers of a process have to say to Redis in one turn of the event loop into one call of a script: the
 * attempts that have ended, or the entries alone where rows lie elsewhere, and the read for the slots that these have left free.
 *
 * A call takes up to 100 attempts, and 1 MiB of results.
 *
 *     turn         a ends, b ends, read asked for      c ends
 *     script       ----------(a, b, read)              (c)
 *     under load   ----------(read) (a, b)             (c)
 *
 * Under load the read goes first, and the rest a moment later in a write of its own: then Redis ends the old attempts while
 * this process runs the new ones, where each would else wait for the other. It makes a worker with ten slots faster by a
 * quarter, and costs Redis nothing that shows; with one slot it would make a task dearer by a fifth, and no faster.
 *
 * This is where a task costs half of what it would cost with a script call for each step: a call has a price of its own,
 * entries that are deleted together cost a third, and at one slot a task takes one round trip (docs/performance.md). The
 * pipeline does not know of it: to whoever calls, each step is a step of its own, with an answer or an error of its own.
 *
 * @example
 * const turns = new Turns(connection, keys('svc/'), { group: 'runner', isJoint: true })
 * const [result, reply] = await Promise.all([turns.finish({ claim, input: finish }), turns.read(request)])
 */
export class Turns {
  private finishing: Array<Asked<FinishedClaim, FinishResult>> = []
  private settling: Array<Asked<Claim, SettleReply>> = []
  private reading: Array<Asked<ClaimRequest, ReadReply>> = []
  private isScheduled = false
  /** Reads that Redis has not answered yet. */
  private readsOnTheirWay = 0
  /** Whether the last read gave all that it asked for. */
  private isFlowing = false
  /** Claims that were settled, and whose entries were left in their streams. */
  private left: Claim[] = []

  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
    private readonly setting: ClaimSetting,
  ) {}

  /** Ends the attempt of a claim and settles its entry; the retry's entry is made in the same step. */
  finish(step: FinishedClaim): Promise<FinishResult> {
    return new Promise((resolve, reject) => {
      this.finishing.push(new Asked(step, resolve, reject))
      this.schedule()
    })
  }

  /** Settles the entry of a claim for good, where no attempt ends with it. */
  settle(claim: Claim): Promise<SettleReply> {
    return new Promise((resolve, reject) => {
      this.settling.push(new Asked(claim, resolve, reject))
      this.schedule()
    })
  }

  /** Reads new entries for free slots. */
  read(request: ClaimRequest): Promise<ReadReply> {
    return new Promise((resolve, reject) => {
      this.reading.push(new Asked(request, resolve, reject))
      this.schedule()
    })
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    // After all promises of the turn, and before the client writes.
    process.nextTick(this.send)
  }

  private readonly send = (): void => {
    const { finishing, settling, reading } = this
    this.finishing = []
    this.settling = []
    this.reading = []
    this.isScheduled = false
    const pages = pagesOf(finishing, PAGE)
    const last = pages.pop() ?? []
    for (const page of pages) this.call(page)
    while (settling.length > MAX_SETTLED) this.call([], undefined, settling.splice(0, MAX_SETTLED))
    const first = reading.shift()
    if (first && this.isReadFirst(last, settling)) {
      this.call([], first)
      setImmediate(() => this.call(last, undefined, settling))
    } else this.call(last, first, settling)
    // A write of its own: then Redis works on it while this process works on what the first one brings.
    for (const read of reading) setImmediate(() => this.call([], read))
  }

  /** If it fails nobody has to know: the next read that finds a lane empty takes off what is left there. */
  private readonly sendLeft = (): void => {
    if (this.left.length > 0) this.call([])
  }

  /**
   * For one attempt a second call costs more than it wins. Another read on its way keeps Redis busy already. Places below a cap
   * have to be free before anybody looks for them.
   */
  private isReadFirst(finishing: ReadonlyArray<Asked<FinishedClaim>>, settling: ReadonlyArray<Asked<Claim>>): boolean {
    return (
      this.isFlowing &&
      this.readsOnTheirWay === 0 &&
      finishing.length + settling.length > 1 &&
      !finishing.some(({ step }) => step.claim.isCapped) &&
      !settling.some(({ step }) => step.isCapped)
    )
  }

  private call(
    finishing: ReadonlyArray<Asked<FinishedClaim, FinishResult>>,
    reading?: Asked<ClaimRequest, ReadReply>,
    settling: ReadonlyArray<Asked<Claim, SettleReply>> = [],
  ): void {
    const { connection, keys, setting } = this
    const isLoaded = this.isFlowing && reading !== undefined && this.left.length < MAX_LEFT
    const left = isLoaded ? NONE_LEFT : this.left
    if (!isLoaded) this.left = []
    if (reading) this.readsOnTheirWay++
    const turn = {
      finishing: stepsOf(finishing),
      reading: reading?.step ?? NOTHING_TO_SAY.reading,
      settling: stepsOf(settling),
      left,
      isLoaded,
    }
    finishAndRead(connection, keys, setting, turn).then(
      ({ finished, read, settled }) => {
        const isFull = reading !== undefined && 'claims' in read && read.claims.length === reading.step.slots.length
        if (isLoaded && isFull) this.leave(finishing, finished)
        answerAll(finishing, finished)
        for (let at = 0; at < settling.length; at++)
          answer(settling[at] as Asked<Claim, SettleReply>, settled[at] === true ? 'settled' : 'lost')
        if (!reading) return
        this.noteRead(isFull)
        answer(reading, read)
      },
      (error: unknown) => {
        if (reading) this.noteRead(false)
        for (const asked of finishing) asked.reject(error)
        for (const asked of settling) asked.reject(error)
        reading?.reject(error)
      },
    )
  }

  /**
   * To take entries off a busy lane costs each call a tenth at one slot, so it is done for many together. Only what this
   * worker has settled itself; none whose attempt was lost.
   */
  private leave(finishing: ReadonlyArray<Asked<FinishedClaim>>, results: ReadonlyArray<FinishResult | Error>): void {
    for (let at = 0; at < finishing.length; at++) {
      const result = results[at]
      if (result && 'kind' in result && result.kind === 'finished') {
        this.left.push((finishing[at] as Asked<FinishedClaim>).step.claim)
      }
    }
  }

  private noteRead(wasFull: boolean): void {
    this.readsOnTheirWay--
    this.isFlowing = wasFull
    if (!wasFull && this.left.length > 0) setImmediate(this.sendLeft)
  }
}

const NONE_LEFT: Claim[] = []

/** A class, because there is one for each task in work: see "Classes for what is in work" in docs/performance.md. */
class Asked<Step, Reply = never> {
  constructor(
    readonly step: Step,
    readonly resolve: (reply: Reply) => void,
    readonly reject: (error: unknown) => void,
  ) {}
}

/** What an error takes is bounded. */
const resultBytesOf = ({ outcome }: FinishAttempt): number =>
  outcome.kind === 'succeeded' && outcome.resultJson !== undefined ? Buffer.byteLength(outcome.resultJson) : 0

/** By hand, because V8 makes another kind of array by `map` once it has compiled it, at which its users are compiled anew. */
const stepsOf = <Step>(asked: ReadonlyArray<Asked<Step>>): Step[] => {
  const steps: Step[] = []
  for (const { step } of asked) steps.push(step)
  return steps
}

const answerAll = <Reply>(asked: ReadonlyArray<Asked<unknown, Reply>>, replies: ReadonlyArray<Reply | Error>): void => {
  for (let at = 0; at < asked.length; at++) answer(asked[at] as Asked<unknown, Reply>, replies[at] as Reply | Error)
}

const answer = <Reply>({ resolve, reject }: Asked<unknown, Reply>, reply: Reply | Error): void => {
  if (reply instanceof Error) reject(reply)
  else resolve(reply)
}
