/** What a server has spent since it started. */
export interface Cost {
  /** Seconds of CPU, of user and system together. */
  readonly cpu: number
  /** Bytes in use now. */
  readonly memory: number
  readonly commands: number
}

/** Reads it from a server. */
export const costSoFar = async (client: { info(section: string): Promise<string> }): Promise<Cost> => {
  const info = await client.info('everything')
  const read = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
  return {
    cpu: read('used_cpu_user') + read('used_cpu_sys'),
    memory: read('used_memory'),
    commands: read('total_commands_processed'),
  }
}
