import type { TaskType } from '../world/planTask.js'

/**
 * What was written down, by whom and when (epoch milliseconds; all processes and the server share the machine's clock).
 * `by` names one life of a process: `w1.0` is the first life of worker 1, `w1.1` the next. `startedAt` is when the call
 * was made whose end is told.
 */
export type ChaosLine = { readonly at: number; readonly by: string } & (SubmitterLine | WorkerLine | ExecutionerLine)

/** What submitters write down. */
export type SubmitterLine =
  | {
      readonly kind: 'submitting'
      /** What the payload carries; with a key, all that submit it carry the same. */
      readonly ref: string
      readonly type: TaskType
      readonly key?: string
      readonly notBefore?: number
      /** It is not to be run before somebody starts it. */
      readonly isDraft?: boolean
    }
  /** Somebody asks for the start of a draft next. */
  | { readonly kind: 'starting'; readonly ref: string; readonly taskId: string }
  /** Somebody asks for a dead letter to be sent again next. */
  | { readonly kind: 'resending'; readonly taskId: string }
  | { readonly kind: 'resent'; readonly taskId: string; readonly startedAt: number }
  | { readonly kind: 'submitted'; readonly ref: string; readonly taskId: string; readonly startedAt: number }
  | {
      readonly kind: 'rejected'
      readonly ref: string
      readonly startedAt: number
      readonly error: string
      /** Absent: it was no error of the library's. */
      readonly effect?: 'excluded' | 'unknown'
    }
  | { readonly kind: 'cancelled'; readonly taskId: string; readonly startedAt: number }
  /** A row as `get` or `waitFor` answered it. */
  | {
      readonly kind: 'seen'
      readonly taskId: string
      readonly startedAt: number
      readonly status: string
      readonly nonce?: string
    }
  /** A call other than a submission that was rejected. */
  | {
      readonly kind: 'refused'
      readonly call: string
      readonly startedAt: number
      readonly error: string
      readonly effect?: 'excluded' | 'unknown'
    }

/** What workers and handlers write down. */
export type WorkerLine =
  | { readonly kind: 'ready'; readonly workerId: string; readonly slots: number }
  | {
      readonly kind: 'run'
      readonly taskId: string
      readonly attempt: number
      readonly type: TaskType
      readonly ref: string
      /** Told nobody but the result. */
      readonly nonce: string
    }
  /** It asks for its children next; if they have not ended, nothing more is heard of this run. */
  | { readonly kind: 'awaiting'; readonly taskId: string; readonly attempt: number; readonly children: string[] }
  /** It was given the ends of its children. */
  | { readonly kind: 'resumed'; readonly taskId: string; readonly attempt: number }
  | { readonly kind: 'signal'; readonly taskId: string; readonly attempt: number; readonly reason: string }
  | {
      readonly kind: 'end'
      readonly taskId: string
      readonly attempt: number
      readonly how: 'returned' | 'threw' | 'stopped'
    }
  /** The event loop stood still for so long until now. */
  | { readonly kind: 'stall'; readonly ms: number }
  /** Something that nobody was to see: an exception nobody caught, a warning of the process. */
  | { readonly kind: 'uncaught'; readonly error: string }
  | { readonly kind: 'draining' }
  | { readonly kind: 'drained' }

/** What the executioner writes down. */
export type ExecutionerLine =
  | { readonly kind: 'started'; readonly process: string; readonly pid: number }
  | { readonly kind: 'ended'; readonly process: string; readonly how: string; readonly isMeant: boolean }
  | {
      readonly kind: 'fault'
      readonly phase: 'begins' | 'ends'
      readonly id: number
      readonly name: string
      /** Lives of processes that it is aimed at, or everybody. */
      readonly targets: readonly string[] | 'all'
      /** It must not be felt by anybody, and excuses nothing. */
      readonly isHarmless?: boolean
    }
  /**
   * What was submitted before this (`everything`), or a moment before it (`newest`), is gone, or as it was a moment ago.
   */
  | { readonly kind: 'loss'; readonly startedAt: number; readonly what: 'everything' | 'newest' }
  /** Entries pending for each consumer. */
  | { readonly kind: 'pending'; readonly startedAt: number; readonly consumers: Readonly<Record<string, number>> }
  /** Commands that all processes together sent while there was nothing to do. */
  | {
      readonly kind: 'idle'
      readonly perSecond: number
      readonly workers: number
      readonly counts: Readonly<Record<string, number>>
    }

/** The lines of one kind. */
export type LineOf<K extends ChaosLine['kind']> = Extract<ChaosLine, { readonly kind: K }>
