/**
 * What the core answers for a claim. Every kind but `requeue` settles the claim for good; `failed` is also the answer
 * for an attempt that will be retried, because the retry has an entry of its own by then.
 *
 * @example
 * const later: ClaimOutcome = { kind: 'requeue', notBefore: new Date(Date.now() + 1_000) }
 */
export type ClaimOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'requeue'; readonly notBefore?: Date }
