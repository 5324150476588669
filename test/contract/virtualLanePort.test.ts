import { virtualHarness } from './lanePort/virtualHarness.js'
import { lanePortSuite } from './lanePortSuite.js'

lanePortSuite('virtualLanePort', virtualHarness(0))
lanePortSuite('virtualLanePort with a latency', virtualHarness(3))
