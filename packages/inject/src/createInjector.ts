import { Injector } from './injector.js'

/**
 * Makes a root injector: it owns the singletons of its tree and is a scope of its own. Never throws.
 *
 * @example
 * await using injector = createInjector()
 * injector.get(Clock)
 */
export const createInjector = (): Injector => new Injector()
