/**
 * What a bus can do. The object is a frozen constant for the life of the bus, so a component that relies on one of
 * these checks it once, when it is set up, with `assertBusCapabilities`.
 *
 * @example
 * ```ts
 * if (!bus.capabilities.crossNodeDelivery) console.warn('Other processes will not hear of this')
 * ```
 */
export type CrossNodeBusCapabilities = {
  /** Messages outlive the process that published them. */
  readonly persistent: boolean
  /** `replay` and `oldestSeq` work. */
  readonly replay: boolean
  /** `seq` is on every message and increases within a topic. */
  readonly assignsSequence: boolean
  /** Messages reach other processes. */
  readonly crossNodeDelivery: boolean
}
