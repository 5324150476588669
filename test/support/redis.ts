export { connectClient, type ConnectClientOptions, defaultMajor, type TestClient } from './connectClient.js'
export { redisUrl } from './redisUrl.js'
export { uniquePrefix } from './uniquePrefix.js'
