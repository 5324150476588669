import fc from 'fast-check'

/** Does something to one side of a comparison, and tells what has to be the same for every side. */
export interface NamedStep<Side> {
  readonly run: (side: Side) => Promise<unknown>
  readonly [fc.toStringMethod]: () => string
}

/** A step by its name, which counterexamples are told by. */
export const namedStep = <Side>(name: string, args: unknown, run: NamedStep<Side>['run']): NamedStep<Side> => ({
  run,
  [fc.toStringMethod]: () => `${name} ${JSON.stringify(args)}`,
})
