/**
 * A teardown step that a factory registers with `onDispose`. A returned promise is awaited before the next step runs.
 *
 * @example
 * const close: DisposeCallback = async () => { await fetch('https://example.org/bye') }
 */
export type DisposeCallback = () => void | Promise<void>
