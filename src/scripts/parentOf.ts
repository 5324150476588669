import type { ParentUpdate } from '@furystack/task-runner'

/**
 * Reads what the fragment `tellParent` answered, as the member of a result.
 *
 * @example
 * parentOf('{"taskId":"a","type":"mail","woken":true}') // { parent: { taskId: 'a', type: 'mail', woken: true } }
 * parentOf('') // {}
 */
export const parentOf = (text: string): { parent?: ParentUpdate } =>
  text === '' ? {} : { parent: JSON.parse(text) as ParentUpdate }
