import { InProcessCrossNodeBus, type CrossNodeBus } from '@furystack/cross-node-bus'

/** A bus that counts the subscriptions by topic. */
export const countingBus = () => {
  const bus = new InProcessCrossNodeBus()
  const open = new Map<string, number>()
  const count = (topic: string, by: number): void => void open.set(topic, (open.get(topic) ?? 0) + by)
  const counting: CrossNodeBus = new Proxy(bus, {
    get: (target, name) => {
      if (name === 'subscribe') {
        return (topic: string, handler: Parameters<CrossNodeBus['subscribe']>[1]) => {
          count(topic, 1)
          const subscription = target.subscribe(topic, handler)
          return {
            [Symbol.dispose]: () => {
              count(topic, -1)
              subscription[Symbol.dispose]()
            },
          }
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { bus: counting, openOn: (topic: string) => open.get(topic) ?? 0 }
}
