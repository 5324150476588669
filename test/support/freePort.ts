export { freePort } from '../../scripts/redis/freePort.js'
