/** Says what is missing in an environment, in place of whatever would go wrong later. */
export function needs<const Name extends string>(
  env: NodeJS.ProcessEnv,
  ...names: Name[]
): asserts env is NodeJS.ProcessEnv & Record<Name, string> {
  const missing = names.filter((name) => env[name] === undefined)
  if (missing.length > 0) throw new Error(`Missing in the environment: ${missing.join(', ')}`)
}
