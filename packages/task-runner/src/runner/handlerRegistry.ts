import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'

/** The handlers that are, or have been, registered in this process, by type and version. */
export class HandlerRegistry {
  readonly #byType = new Map<string, Map<number, AnyTaskHandlerDescriptor>>()

  add(handler: AnyTaskHandlerDescriptor): void {
    const versions = this.#byType.get(handler.type) ?? new Map<number, AnyTaskHandlerDescriptor>()
    this.#byType.set(handler.type, versions.set(handler.version, handler))
  }

  /** The newest version of a type that is known here. */
  newestVersion(type: string): number | undefined {
    const versions = this.#byType.get(type)
    return versions && Math.max(...versions.keys())
  }

  find(type: string, version: number): AnyTaskHandlerDescriptor | undefined {
    return this.#byType.get(type)?.get(version)
  }
}
