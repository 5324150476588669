/** A role that one process at a time has. */
export interface Role {
  /** Names it among all processes that share the store. */
  role: string
  /** Names whoever wants it; unique. */
  holder: string
}

/** Asks for a role, or to keep it. */
export interface LeadRole extends Role {
  /** How long it is held unless it is asked for again; at least 1. */
  ttlMs: number
}
