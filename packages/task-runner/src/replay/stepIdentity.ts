import { createHash } from 'node:crypto'

import type { ReplayStepKind } from './replayStepKind.js'

/** What makes a step the one that it is, so that another run of the handler finds it again. */
export interface StepIdentity {
  readonly kind: ReplayStepKind
  /** The kind and what was asked for. */
  readonly name: string
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/**
 * Identities of the steps that handlers can take.
 *
 * @example
 * stepIdentity.fetch('GET', 'https://example.com/').name // 'fetch GET https://example.com/'
 */
export const stepIdentity = {
  now: (): StepIdentity => ({ kind: 'now', name: 'now' }),
  random: (): StepIdentity => ({ kind: 'random', name: 'random' }),
  sleep: (ms: number): StepIdentity => ({ kind: 'sleep', name: `sleep ${ms}` }),
  fetch: (method: string, url: string): StepIdentity => ({ kind: 'fetch', name: `fetch ${method} ${url}` }),
  spawn: (type: string, payloadJson: string | undefined): StepIdentity => ({
    kind: 'spawn-child',
    name: `spawn-child ${JSON.stringify(type)} ${hashOf(payloadJson ?? '')}`,
  }),
  awaitChildren: (kind: 'await-children' | 'await-children-settled', taskIds: readonly string[]): StepIdentity => ({
    kind,
    name: `${kind} ${taskIds.length} ${hashOf(taskIds.join('\n'))}`,
  }),
} as const
