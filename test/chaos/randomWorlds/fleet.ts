import { type Fault, Link } from '../../support/link.js'
import type { HandlerStage, Stage } from '../crashPoints/scenario.js'
import type { Agenda } from './agenda.js'
import type { Ground } from './ground.js'
import { planHandlers } from './handlers.js'
import type { World } from '../crashPoints/world.js'
import type { Random } from './random.js'

/** How many processes there are. */
export const NODES = 3
const FAULTS = [
  { how: 'crash', when: 'before' },
  { how: 'crash', when: 'after' },
  { how: 'reject', when: 'before' },
  { how: 'reject', when: 'after' },
] as const satisfies readonly Fault[]

/** A process, and the way from it to what outlives it. */
export interface Node {
  readonly link: Link
  readonly stage: Stage
}

/** The processes of a world; where one has died, another takes its place after a while. */
export interface Fleet extends AsyncDisposable {
  readonly world: World
  /** Those that live, and those whose place is empty. */
  readonly nodes: readonly [Node, ...Node[]]
}

/** Starts the processes of a world; until `openUntil`, epoch milliseconds, calls over their links have faults. */
export const startFleet = (ground: Ground, random: Random, agenda: Agenda, openUntil: number): Fleet => {
  const links = new Map<HandlerStage, Link>()
  const workerIds = new Map<HandlerStage, string>()
  const misdeeds = new Map<string, number>()
  const world = ground.makeWorld({
    handlers: (stage) =>
      planHandlers(stage, {
        link: links.get(stage) ?? new Link(),
        workerId: () => workerIds.get(stage) ?? '',
        misdeeds,
      }),
  })
  // Some slot is always left: in the whole fleet, or where the queue is the process's own, in each process.
  const fewestSlots = ground.queue === 'of its own' ? 1 : NODES
  const faultiness = random.pick([0, 0.003, 0.01, 0.03])
  const slowness = random.pick([0, 0, 2, 20])
  const funerals: Array<Promise<void>> = []
  let isOver = false

  const startNode = (own: Random): Node => {
    const link = new Link({
      latencyMs: () => own.whole(0, slowness),
      faultOf: () => (Date.now() < openUntil && own.chance(faultiness) ? own.pick<Fault>(FAULTS) : undefined),
    })
    const stage = world.start(link)
    links.set(stage, link)
    workerIds.set(stage, stage.work(own.whole(fewestSlots, NODES)).workerId)
    return { link, stage }
  }

  const nodes: Node[] = []
  const fill = (place: number, own: Random): void => {
    const node = startNode(own)
    nodes[place] = node
    void node.link.died.then(() => {
      // Its timers would go on for nothing.
      node.link.bury()
      funerals.push(node.stage.dispose())
      agenda.after(own.whole(0, 2_500), () => {
        if (!isOver) fill(place, own)
      })
    })
  }
  for (let place = 0; place < NODES; place++) fill(place, random.fork())

  return {
    world,
    nodes: nodes as [Node, ...Node[]],
    [Symbol.asyncDispose]: async () => {
      isOver = true
      await Promise.all([...funerals, ...nodes.map(({ stage }) => stage.dispose())])
    },
  }
}
