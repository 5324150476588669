/**
 * Parts that do not fit together: several nodes share the tasks, but not what the tasks need.
 *
 * @example
 * assertCapabilities(runner, blobStore, bus) // throws a MissingCapabilityError if blobs stay on one node
 */
export class MissingCapabilityError extends Error {
  public override readonly name = 'MissingCapabilityError'

  constructor(
    /** The first part that lacks something; the message names all. */
    public readonly part: 'blob store' | 'bus',
    message: string,
  ) {
    super(message)
  }
}
