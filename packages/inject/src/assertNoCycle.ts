import type { AnyToken } from './anyToken.js'
import { CircularDependencyError } from './circularDependencyError.js'
import type { Container } from './container.js'
import type { Instance } from './instance.js'

/**
 * Throws `CircularDependencyError` if `requester` is being built for an instance of `token`, directly or through others:
 * giving it to the requester could make both wait for ever. `cached` is the instance of `token` that is in flight.
 *
 * @example
 * const check = (requester: Instance, cached: Instance) => assertNoCycle(Clock, requester, requester.container, cached)
 */
export const assertNoCycle = (
  token: AnyToken<unknown>,
  requester: Instance | undefined,
  owner: Container,
  cached: Instance | undefined,
): void => {
  const chain = requester && findChain(requester, token, owner)
  if (chain) {
    refuse(chain[0], chain, requester)
  }
  if (cached?.phase === 'building') {
    // Its factory is on the stack and came back here through a request that it made on an injector directly.
    refuse(cached, requester ? [cached, requester] : [cached], requester)
  }
}

const refuse = (instance: Instance, chain: readonly Instance[], requester: Instance | undefined): never => {
  // When the instance is replaced, the failure that follows from this error is outdated as well.
  requester?.relateTo(instance, 'refused')
  throw new CircularDependencyError([...chain, instance].map(({ token }) => token.name))
}

/**
 * Follows those who made requests, from the requester upwards. That covers the ancestors of one resolution as well as
 * independent resolutions that meet in pending instances, while branches that merely share a dependency do not match.
 * Services on the way may be built already and still pass on a promise, so only the end of the chain must be in flight.
 */
const findChain = (
  requester: Instance,
  token: AnyToken<unknown>,
  owner: Container,
): readonly [Instance, ...Instance[]] | undefined => {
  if (!requester.inFlight) {
    // Whoever called a service that is built already does not have to be one of those it was built for.
    return undefined
  }
  const requests = new Map<Instance, Instance | undefined>([[requester, undefined]])
  // Iterating over a map also visits what is added on the way.
  for (const [instance] of requests) {
    if (isUnderConstruction(instance, token, owner)) {
      return chainFrom(instance, requests)
    }
    for (const [dependant, relation] of instance.dependants) {
      if (relation !== 'refused' && dependant.phase !== 'failed' && !requests.has(dependant)) {
        requests.set(dependant, instance)
      }
    }
  }
  return undefined
}

// A superseded instance is nothing that a request could still be given.
const isUnderConstruction = (instance: Instance, token: AnyToken<unknown>, owner: Container): boolean =>
  instance.inFlight && !instance.superseded && instance.token.id === token.id && instance.container === owner

const chainFrom = (
  first: Instance,
  requests: ReadonlyMap<Instance, Instance | undefined>,
): readonly [Instance, ...Instance[]] => {
  const chain: [Instance, ...Instance[]] = [first]
  for (let next = requests.get(first); next; next = requests.get(next)) {
    chain.push(next)
  }
  return chain
}
