import type { CreateTask } from '@furystack/task-runner'

/**
 * How many bytes the payload of a task takes on its way to the server.
 *
 * @example
 * payloadBytesOf({ ...draft, payloadJson: '"é"' }) // 4
 */
export const payloadBytesOf = ({ payloadJson }: Pick<CreateTask, 'payloadJson'>): number =>
  payloadJson === undefined ? 0 : Buffer.byteLength(payloadJson)
