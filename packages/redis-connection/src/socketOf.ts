/** The settings of a client's socket, which node-redis tells though its types do not. */
export const socketOf = (client: object): object => (client as { options?: { socket?: object } }).options?.socket ?? {}
