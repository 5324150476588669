import type { Fault } from '../../support/link.js'
import type { Moment } from './moments.js'
import type { RedisStack } from './redisStage.js'

/** What a process is told that plays a scenario: it dies in the moment, or when it has come to the end. */
export interface ProcessTask {
  readonly url: string
  readonly prefix: string
  readonly stack: RedisStack
  readonly scenario: string
  readonly origin: string
  /** Where it writes down what was done, a line of JSON each. */
  readonly logFile: string
  /** Where it writes down the commands that it sends, if anywhere. */
  readonly namesFile?: string
  readonly moment?: Moment
  readonly when?: Fault['when']
}
