/**
 * Which helper recorded a step. `progress` is announced, but never recorded.
 *
 * @example
 * const answersFromRecord = (kind: ReplayStepKind): boolean => kind !== 'progress'
 */
export type ReplayStepKind =
  'spawn-child' | 'await-children' | 'await-children-settled' | 'progress' | 'now' | 'random' | 'sleep' | 'fetch'
