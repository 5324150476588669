import type { AsyncServiceFactory } from './asyncServiceFactory.js'
import type { ServiceFactory } from './serviceFactory.js'

/** A factory of either kind, as the works of the injector handle it. */
export type AnyFactory = ServiceFactory<unknown> | AsyncServiceFactory<unknown>
