export { AdapterDisposedError } from './errors/adapterDisposedError.js'
export { defineRedisTaskRunner } from './adapter/defineRedisTaskRunner.js'
export { fillSlots } from './lane/fillSlots.js'
export { InvalidOptionError } from './errors/invalidOptionError.js'
export { lane, parseLaneName } from './keys/lane.js'
export { laneBook } from './lane/laneBook.js'
export { LaneError } from './errors/laneError.js'
export { openLanePort } from './adapter/openLanePort.js'
export { OutcomeUnknownError } from './errors/outcomeUnknownError.js'
export { pausable } from './sources/pausable.js'
export { promoteWhenDue } from './delayed/promoteWhenDue.js'
export { readNew } from './sources/readNew.js'
export { readWhenCalled } from './sources/readWhenCalled.js'
export { redisQueueAdapter } from './adapter/redisQueueAdapter.js'
export { RedisRefusedError } from './errors/redisRefusedError.js'
export { RedisTaskRunner } from './adapter/redisTaskRunner.js'
export { RedisUnavailableError } from './errors/redisUnavailableError.js'
export { restOnError } from './sources/restOnError.js'
export { ScriptReplyError } from './errors/scriptReplyError.js'
export { sweepStale } from './sources/sweepStale.js'
export { sweepThenRead } from './sources/sweepThenRead.js'
export { waitWhenEmpty } from './sources/waitWhenEmpty.js'
export { WorkingClaims } from './claim/workingClaims.js'
export { workLanes } from './lane/workLanes.js'

export type {
  Bell,
  Entry,
  LanePort,
  LaneReading,
  ListenReply,
  ListenRequest,
  PromoteReply,
  SetAside,
  PromoteRequest,
} from './port/lanePort.js'
export type { ReadReply, ReadRequest, RetireRequest, Settlement, SettleReply, SweepReply } from './port/lanePort.js'
export type { SweepRequest } from './port/lanePort.js'
export type {
  AnyRedisClient,
  RedisClient,
  RedisClientPool,
  RedisCluster,
  RedisClusterNode,
  RedisSentinel,
} from '@furystack/redis-connection'
export type { Claim } from './claim/claim.js'
export type { WorkingClaim } from './claim/workingClaims.js'
export type { ClaimSource } from './sources/claimSource.js'
export type { FillSlotsOptions } from './lane/fillSlots.js'
export type { Lane } from './keys/lane.js'
export type { LaneBook, LaneBookOptions } from './lane/laneBook.js'
export type { LaneEvent, Report } from './events/laneEvent.js'
export type { OpenLanePortOptions } from './adapter/openLanePort.js'
export type { PromoteWhenDueOptions } from './delayed/promoteWhenDue.js'
export type { ReadNewOptions } from './sources/readNew.js'
export type { ReadWhenCalledOptions } from './sources/readWhenCalled.js'
export type { RedisQueueAdapter } from './adapter/redisQueueAdapter.js'
export type { RedisQueueOptions } from './adapter/redisQueueOptions.js'
export type { RedisTaskRunnerDeps, RedisTaskRunnerOptions } from './adapter/redisTaskRunner.js'
export type { RestOnErrorOptions } from './sources/restOnError.js'
export type { RestsOptions } from './sources/rests.js'
export type { SweepStale, SweepStaleOptions } from './sources/sweepStale.js'
export type { WorkLanesOptions } from './lane/workLanes.js'
