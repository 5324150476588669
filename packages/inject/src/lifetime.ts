/**
 * How long an instance of a service lives and who shares it.
 *
 * - `singleton`: one instance per tree of injectors, owned by the root.
 * - `scoped`: one instance per injector that asks for it. The root is a scope of its own.
 * - `transient`: a new instance for every request, never cached.
 *
 * @example
 * const lifetime: Lifetime = 'scoped'
 */
export type Lifetime = 'singleton' | 'scoped' | 'transient'
