import type { AnyToken } from './anyToken.js'
import { CircularDependencyError } from './circularDependencyError.js'
import type { Container } from './container.js'
import type { Instance } from './instance.js'

/**
 * Throws `CircularDependencyError` if an instance of `token` waits, directly or through others, for `requester`: giving
 * it to the requester would make both wait for ever. `cached` is the instance of `token` that is not resolved yet.
 *
 * @example
 * assertNoCycle(token, requester, owner, cache.get(token.id))
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
 * Follows those who wait, from the requester upwards. That covers the ancestors of one resolution as well as independent
 * resolutions that meet in pending instances, while branches that merely share a dependency do not match.
 */
const findChain = (
  requester: Instance,
  token: AnyToken<unknown>,
  owner: Container,
): readonly [Instance, ...Instance[]] | undefined => {
  if (!requester.inFlight) {
    return undefined
  }
  const awaits = new Map<Instance, Instance | undefined>([[requester, undefined]])
  // Iterating over a map also visits what is added on the way.
  for (const [instance] of awaits) {
    if (instance.token.id === token.id && instance.container === owner && !instance.superseded) {
      return chainFrom(instance, awaits)
    }
    for (const [dependant, relation] of instance.dependants) {
      if (relation === 'uses' && dependant.inFlight && !awaits.has(dependant)) {
        awaits.set(dependant, instance)
      }
    }
  }
  return undefined
}

const chainFrom = (
  first: Instance,
  awaits: ReadonlyMap<Instance, Instance | undefined>,
): readonly [Instance, ...Instance[]] => {
  const chain: [Instance, ...Instance[]] = [first]
  for (let next = awaits.get(first); next; next = awaits.get(next)) {
    chain.push(next)
  }
  return chain
}
