import type { ChildHandle } from './childHandle.js'

/** What the child behind a handle returns. */
export type ResultOf<H> = H extends ChildHandle<infer R> ? R : never
