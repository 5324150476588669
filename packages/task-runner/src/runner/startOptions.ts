/** How a draft is started. If the member `payload` is there, even as `undefined`, it replaces the draft's. */
export interface StartOptions<P> {
  payload?: P
}
