import { randomUUID } from 'node:crypto'

const UUID_LENGTH = 36

/**
 * Marks what a runner puts on the bus, so that it knows it again, and so that runners of other queues know that it is none
 * of their business: services may share a bus, and names of types.
 */
export class Sender {
  readonly mark: string

  /** `scope` names the queue among all on the bus; empty for one that has no name. */
  constructor(private readonly scope: string) {
    this.mark = scope + randomUUID()
  }

  /** Whether a message is of a runner of the same queue, this one or another. What has no mark comes from whoever knows the topics. */
  isOfSameQueue(mark: unknown): boolean {
    return typeof mark !== 'string' || mark.slice(0, -UUID_LENGTH) === this.scope
  }
}
