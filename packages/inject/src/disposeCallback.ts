/**
 * A teardown step that a factory registers with `onDispose`. A returned promise is awaited before the next step runs.
 *
 * @example
 * const close: DisposeCallback = async () => { await socket.end() }
 */
export type DisposeCallback = () => void | Promise<void>
