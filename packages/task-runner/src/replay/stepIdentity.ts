import { createHash } from 'node:crypto'

import { printable } from '../argument/printable.js'
import type { ReplayStepKind } from './replayStepKind.js'

/** What makes a step the one that it is, so that another run of the handler finds it again. */
export interface StepIdentity {
  readonly kind: ReplayStepKind
  /** The kind and what was asked for. */
  readonly name: string
}

/** UTF-16 units of a URL that are part of a name. */
const MAX_URL = 1_024

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex').slice(0, 32)

/** A step is stored under its name: it must neither change on the way through UTF-8 nor be as long as a `data:` URL. */
const shortened = (url: string): string =>
  url.length <= MAX_URL && url.isWellFormed() ? url : `${printable(url, 40)} ${hashOf(url)}`

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
  /** `body`: what is known of it; two calls that differ in it are two steps. */
  fetch: (method: string, url: string, body?: string | Uint8Array): StepIdentity => ({
    kind: 'fetch',
    name: `fetch ${method} ${shortened(url)}${body === undefined ? '' : ` ${hashOf(body)}`}`,
  }),
  spawn: (type: string, payloadJson: string | undefined): StepIdentity => ({
    kind: 'spawn-child',
    name: `spawn-child ${JSON.stringify(type)} ${hashOf(payloadJson ?? '')}`,
  }),
  awaitChildren: (kind: 'await-children' | 'await-children-settled', taskIds: readonly string[]): StepIdentity => ({
    kind,
    name: `${kind} ${taskIds.length} ${hashOf(taskIds.join('\n'))}`,
  }),
} as const
