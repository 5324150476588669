/** What is used of the package, which brings no types. */
declare module '@20minutes/s3rver' {
  import type { Server } from 'node:http'

  interface Options {
    readonly address: string
    readonly port: number
    readonly directory: string
    readonly silent: boolean
    readonly configureBuckets: ReadonlyArray<{ readonly name: string; readonly configs: readonly string[] }>
  }
  export default class S3rver {
    constructor(options: Options)
    /** Once it runs. */
    readonly httpServer: Server
    run(): Promise<{ readonly address: string; readonly port: number }>
    close(): Promise<void>
  }
}
