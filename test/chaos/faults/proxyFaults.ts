import type { TcpProxy } from '../../support/tcpProxy.js'
import type { Random } from '../run/random.js'
import type { ChaosProcess } from '../world/chaosProcess.js'
import { type Fault, nothing, type Scene } from './fault.js'

/** Faults of the network between one process, or all of them, and the server. */
export const proxyFaults = (proxyOf: (process: string) => TcpProxy): readonly Fault[] => {
  const fault = (
    name: string,
    begin: (proxy: TcpProxy) => unknown,
    [min, max]: readonly [number, number],
    end: (proxy: TcpProxy) => unknown = nothing,
  ): Fault => ({
    name,
    scope: 'network',
    prepare: (scene, random) => {
      const targets = someOf(scene, random)
      const proxies = targets.map((process) => proxyOf(process.name))
      const each = (act: (proxy: TcpProxy) => unknown) => async () => void (await Promise.all(proxies.map(act)))
      return {
        targets,
        begin: each(begin),
        holdMs: random.int(min, max),
        end: each(end),
      }
    },
  })

  return [
    fault('a network that cuts all connections', (proxy) => proxy.cut(), [0, 0]),
    fault(
      'a network that cuts all connections, and refuses new ones',
      (proxy) => {
        proxy.refuse()
        proxy.cut()
      },
      [500, 3_500],
      (proxy) => proxy.accept(),
    ),
    fault(
      'a network that stalls both ways without closing',
      (proxy) => proxy.stall(),
      [500, 4_000],
      (proxy) => proxy.resume(),
    ),
    fault(
      'a slow network',
      (proxy) => proxy.delayMs(150),
      [1_000, 3_000],
      (proxy) => proxy.delayMs(0),
    ),
    fault('a network that loses a reply and then the connection', (proxy) => proxy.swallow('cut'), [300, 1_000]),
    fault(
      'a network that loses a reply and is silent from then on',
      (proxy) => proxy.swallow('silence'),
      [2_000, 3_000],
    ),
  ]
}

const someOf = ({ workers, submitters }: Scene, random: Random): readonly ChaosProcess[] => {
  const all = [...workers, ...submitters]
  return random.chance(0.3) ? all : [random.pick(all)]
}
