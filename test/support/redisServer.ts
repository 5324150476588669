export { startRedisServer, type RedisServer, type RedisServerOptions } from '../../scripts/startRedisServer.js'
