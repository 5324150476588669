import type { CrossNodeBusCapabilities } from './crossNodeBusCapabilities.js'
import { UnsupportedCapabilityError } from './unsupportedCapabilityError.js'

/**
 * Makes sure that a bus can do everything in `required`. Call it where a component is set up, so that it refuses to
 * start instead of failing later, or not at all, on a bus that cannot serve it.
 *
 * @throws UnsupportedCapabilityError naming the first capability in `required` that the bus lacks.
 *
 * @example
 * ```ts
 * assertBusCapabilities(bus, 'replay', 'assignsSequence')
 * ```
 */
export function assertBusCapabilities(
  bus: { readonly capabilities: CrossNodeBusCapabilities },
  ...required: ReadonlyArray<keyof CrossNodeBusCapabilities>
): void {
  for (const capability of required) {
    if (!bus.capabilities[capability]) throw new UnsupportedCapabilityError(capability)
  }
}
