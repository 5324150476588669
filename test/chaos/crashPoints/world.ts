import type { StoredTask } from '@furystack/task-runner'

import type { Link } from '../../support/link.js'
import type { LogLine, Outcome, Stage } from './scenario.js'

/** Rows that outlive processes, and the processes that come and go on them. */
export interface World {
  readonly log: LogLine[]
  /** Starts a process whose store and queue are reached over the link. */
  start(link: Link, isFirst?: boolean): Stage
  rows(): Promise<StoredTask[]>
  isOver(): Promise<boolean>
  outcome(): Promise<Outcome>
  /** What is left where nothing should be. */
  leftovers(): Promise<string[]>
}
