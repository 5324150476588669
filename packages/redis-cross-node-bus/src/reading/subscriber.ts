import type { BusMessageHandler } from '@furystack/cross-node-bus'

/** A handler and what it is entitled to. */
export type Subscriber = {
  /** As the subscriber calls it, without prefix. */
  readonly topic: string
  readonly phase: 'subscribe' | 'subscribeForeign'
  readonly handler: BusMessageHandler
  /** Whether it does without the messages of its own bus. */
  readonly remoteOnly: boolean
  /** Up to where it has got, or need not get, the entries; unknown until the stream was asked where it stands. */
  position: string | undefined
  /** Resolves when the position is known, or does not matter any more. */
  readonly ready: Promise<void>
  readonly setReady: () => void
}

export function createSubscriber(fields: Pick<Subscriber, 'topic' | 'phase' | 'handler' | 'remoteOnly'>): Subscriber {
  let setReady!: () => void
  const ready = new Promise<void>((resolve) => {
    setReady = resolve
  })
  return { ...fields, position: undefined, ready, setReady }
}
