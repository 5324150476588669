import { type AttemptRecord, isoTime, type RunnableTask } from '@furystack/task-runner'

import type { Lane } from '../keys/lane.js'

const NO_ATTEMPTS: AttemptRecord[] = []

/**
 * A task at the beginning of its first run, which is all that most tasks ever have. What the lane tells is not read from
 * the row, and times are made into text when somebody asks.
 */
export class FirstRun implements RunnableTask {
  readonly type: string
  readonly handlerVersion: number
  readonly tags: string[]
  readonly payload: unknown
  readonly attempts = NO_ATTEMPTS
  private readonly submittedMs: number
  private readonly notBeforeMs: number | undefined

  /**
   * @param isUsual whether the row holds nothing but this and what every row does
   * @param payload JSON; '' for none
   * @param submitted epoch milliseconds; so is `notBefore`, or '' for none
   * @throws {SyntaxError} for a payload that is not JSON
   */
  constructor(
    readonly id: string,
    lane: Lane,
    payload: string,
    submitted: string,
    notBefore: string,
    readonly isUsual = false,
  ) {
    this.type = lane.type
    this.handlerVersion = lane.handlerVersion
    this.tags = lane.tags.length > 0 ? [...lane.tags] : NO_TAGS
    this.payload = payload === '' ? undefined : JSON.parse(payload)
    this.submittedMs = Number(submitted)
    this.notBeforeMs = notBefore === '' ? undefined : Number(notBefore)
  }

  get submittedAt(): string {
    return isoTime(this.submittedMs)
  }

  get notBefore(): string | undefined {
    return this.notBeforeMs === undefined ? undefined : isoTime(this.notBeforeMs)
  }
}

const NO_TAGS: string[] = []
