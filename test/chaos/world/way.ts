/** How a process gets to its Redis; goes to it as JSON. */
export type Way =
  | { readonly kind: 'single'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly name: string; readonly host: string; readonly port: number }
  | { readonly kind: 'cluster'; readonly urls: readonly string[] }
