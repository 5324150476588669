export { connectClient, type ConnectClientOptions, type TestClient } from './connectClient.js'
export { redisUrl } from './redisUrl.js'
export { uniquePrefix } from './uniquePrefix.js'
