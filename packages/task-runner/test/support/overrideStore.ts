import type { TaskStore } from '../../src/index.js'

/** A store with some of its operations replaced; the others are those of the given one. */
export const overrideStore = (store: TaskStore, overrides: Partial<TaskStore>): TaskStore =>
  new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(overrides, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
