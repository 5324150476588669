import { checkFunction } from '../argument/checkFunction.js'
import { checkNumber } from '../argument/checkNumber.js'
import { checkObject } from '../argument/checkObject.js'
import { checkRetentionPolicy } from '../argument/checkRetentionPolicy.js'
import { checkRetryPolicy } from '../argument/checkRetryPolicy.js'
import { checkType } from '../argument/checkType.js'
import { quoted } from '../argument/printable.js'
import { checkVersion } from '../argument/checkVersion.js'
import { ownValue } from '../collections/ownValue.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'
import { DEFAULT_RETENTION_POLICY } from '../task/taskRetentionPolicy.js'
import { MAX_DELAY_MS } from '../time/maxDelayMs.js'

interface TypeHandlers {
  readonly byVersion: Map<number, AnyTaskHandlerDescriptor>
  newest: AnyTaskHandlerDescriptor
  /** The versions that were listed for the type; empty if none were. */
  readonly listed: readonly number[]
}

/** The handlers of one worker, by type and version, and the versions that it takes. */
export class HandlerTable {
  readonly #types = new Map<string, TypeHandlers>()

  constructor(handlers: readonly AnyTaskHandlerDescriptor[], compatibleVersions: Readonly<Record<string, number[]>>) {
    if ((Array.isArray(handlers) ? handlers.length : 0) === 0) {
      throw new InvalidArgumentError('handlers', handlers, 'an array of at least one handler')
    }
    checkObject('compatibleVersions', compatibleVersions)
    for (const [index, handler] of handlers.entries()) {
      checkHandler(`handlers[${index}]`, handler)
      this.#add(handler, ownValue(compatibleVersions, handler.type) ?? [])
    }
    for (const type of Object.keys(compatibleVersions)) {
      if (!this.#types.has(type)) {
        throw new InvalidArgumentError('compatibleVersions', type, 'about types that the worker has a handler for')
      }
    }
  }

  get types(): string[] {
    return [...this.#types.keys()]
  }

  get all(): AnyTaskHandlerDescriptor[] {
    return [...this.#types.values()].flatMap(({ byVersion }) => [...byVersion.values()])
  }

  /** The versions by type that the worker takes. */
  get compatibleVersions(): Record<string, number[]> {
    return this.#map(({ listed, byVersion }) => (listed.length > 0 ? [...listed] : [...byVersion.keys()]))
  }

  /** The visibility by type that handlers ask for: the longest, if the versions of a type differ. */
  get visibilityTimeoutMs(): Record<string, number> {
    const declared = this.all.filter(({ declaresVisibility }) => declaresVisibility === true)
    const byType: Record<string, number> = {}
    for (const { type, visibilityTimeoutMs } of declared) {
      const sofar = ownValue(byType, type) ?? 0
      Object.defineProperty(byType, type, {
        value: Math.max(sofar, visibilityTimeoutMs),
        enumerable: true,
        configurable: true,
      })
    }
    return byType
  }

  /** How often tasks of each type may be delivered: the highest that a handler of it allows, if the versions differ. */
  maxDeliveries(byDefault: number): Record<string, number> {
    return this.#map(({ byVersion }) =>
      Math.max(...[...byVersion.values()].map(({ maxDeliveries = byDefault }) => maxDeliveries)),
    )
  }

  /** The handler for a version of a type, if the worker takes it. */
  find(type: string, version: number): AnyTaskHandlerDescriptor | undefined {
    const handlers = this.#types.get(type)
    if (handlers === undefined) return undefined
    const { byVersion, listed, newest } = handlers
    if (listed.length === 0) return byVersion.get(version)
    return listed.includes(version) ? (byVersion.get(version) ?? newest) : undefined
  }

  #add(handler: AnyTaskHandlerDescriptor, listed: readonly number[]): void {
    const { type, version } = handler
    const present = this.#types.get(type)
    if (present === undefined) {
      const property = `compatibleVersions[${quoted(type)}]`
      // `isArray` would make `any` of what is read only.
      const isList: boolean = Array.isArray(listed)
      if (!isList) throw new InvalidArgumentError(property, listed, 'an array of versions')
      Array.from(listed, (one: unknown, index) => checkVersion(`${property}[${index}]`, one))
      this.#types.set(type, { byVersion: new Map([[version, handler]]), newest: handler, listed: [...listed] })
      return
    }
    if (present.byVersion.has(version)) {
      throw new InvalidArgumentError('handlers', `${type} v${version}`, 'an array with each type and version once')
    }
    present.byVersion.set(version, handler)
    if (version > present.newest.version) present.newest = handler
  }

  #map<T>(pick: (handlers: TypeHandlers) => T): Record<string, T> {
    return Object.fromEntries([...this.#types].map(([type, handlers]) => [type, pick(handlers)]))
  }
}

/** Descriptors are made by `defineTaskHandler`; one that is made by hand has to be like those. */
const checkHandler = (property: string, handler: AnyTaskHandlerDescriptor): void => {
  const { type, version, retryPolicy, retentionPolicy, visibilityTimeoutMs } = checkObject(property, handler)
  checkType(`${property}.type`, type)
  checkVersion(`${property}.version`, version)
  checkFunction(`${property}.handler`, handler.handler)
  checkRetryPolicy(checkObject(`${property}.retryPolicy`, retryPolicy))
  checkRetentionPolicy(retentionPolicy, DEFAULT_RETENTION_POLICY)
  checkNumber(`${property}.visibilityTimeoutMs`, visibilityTimeoutMs, { min: 1, max: MAX_DELAY_MS, integer: true })
}
