import type { LeadRole, Role } from '../role.js'

/** Who has which role. Several runners may share a store within their process. */
export class MemoryRoles {
  readonly #holders = new Map<string, { holder: string; until: number }>()

  lead({ role, holder, ttlMs }: LeadRole, at: number): boolean {
    const present = this.#holders.get(role)
    if (present !== undefined && present.holder !== holder && present.until > at) return false
    this.#holders.set(role, { holder, until: at + ttlMs })
    return true
  }

  resign({ role, holder }: Role): void {
    if (this.#holders.get(role)?.holder === holder) this.#holders.delete(role)
  }
}
