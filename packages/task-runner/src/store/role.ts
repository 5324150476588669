/**
 * A role that one process at a time has.
 *
 * @example
 * const role: Role = { role: 'retention', holder: 'process-7' }
 * await store.resign(role)
 */
export interface Role {
  /** Names it among all processes that share the store. */
  role: string
  /** Names whoever wants it; unique. */
  holder: string
}

/**
 * Asks for a role, or to keep it.
 *
 * @example
 * const input: LeadRole = { role: 'retention', holder: 'process-7', ttlMs: 60_000 }
 * if (await store.lead(input)) console.log('it is our turn')
 */
export interface LeadRole extends Role {
  /** How long it is held unless it is asked for again; at least 1. */
  ttlMs: number
}
