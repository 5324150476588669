import type { CrossNodeBusCapabilities } from './crossNodeBusCapabilities.js'

/**
 * A bus was asked for something it cannot do. Raised by `replay` of a bus without that capability, and by
 * `assertBusCapabilities`.
 *
 * @example
 * ```ts
 * if (error instanceof UnsupportedCapabilityError) console.error(`Choose a bus that offers ${error.capability}`)
 * ```
 */
export class UnsupportedCapabilityError extends Error {
  override readonly name = 'UnsupportedCapabilityError'

  constructor(
    /** The capability that was needed. */
    readonly capability: keyof CrossNodeBusCapabilities,
  ) {
    super(`This bus does not support the capability "${capability}"`)
  }
}
