import { deferred } from '../../../../test/support/deferred.js'
import { gatedClient } from '../../../../test/support/gatedClient.js'
import { Link } from '../../../../test/support/link.js'
import type { RedisClient } from '../../src/index.js'
import { STATE_SCRIPT } from '../../src/streams/streamScripts.js'
import { templateClient } from './startBus.js'

/** What Redis has answered, and whoever asked has not seen yet. */
export interface HeldAnswer {
  readonly release: () => void
}

/** A client whose duplicates do not get to know where one stream stands until the test lets them. */
export interface HoldingClient {
  readonly client: RedisClient
  /** In the order in which Redis has given them. */
  readonly answers: readonly HeldAnswer[]
}

/** Makes such a client, for the stream with this key. Everything else goes through. */
export const holdPositions = (key: string): HoldingClient => {
  const link = new HoldingLink()
  const nameOf = ([command = '', script, , asked]: readonly string[]): string =>
    script === STATE_SCRIPT && asked === key ? POSITION : command
  return { client: gatedClient(templateClient(), link, nameOf), answers: link.answers }
}

const POSITION = 'position'

class HoldingLink extends Link {
  readonly answers: HeldAnswer[] = []

  override async call<T>(name: string, effect: () => Promise<T>): Promise<T> {
    const answer = await super.call(name, effect)
    if (name !== POSITION) return answer
    const held = deferred()
    this.answers.push({ release: held.resolve })
    await held.promise
    return answer
  }
}
