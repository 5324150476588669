import { describe, expect, it } from 'vitest'

import { ensureValgrind } from '../../scripts/ensureValgrind.js'

const PATH = '/usr/bin/valgrind'
const nothing = {
  findOnPath: () => undefined,
  canInstall: () => false,
  install: () => Promise.resolve(),
  say: () => undefined,
}

describe('ensureValgrind', () => {
  it('takes what is on PATH and does nothing else', async () => {
    const install = () => Promise.reject(new Error('must not be called'))
    expect(await ensureValgrind({ ...nothing, findOnPath: () => PATH, canInstall: () => true, install })).toBe(PATH)
  })

  it('installs the package where it can, and says so in one line', async () => {
    let installed = false
    const said: string[] = []
    const path = await ensureValgrind({
      findOnPath: () => (installed ? PATH : undefined),
      canInstall: () => true,
      install: () => {
        installed = true
        return Promise.resolve()
      },
      say: (line) => said.push(line),
    })
    expect(path).toBe(PATH)
    expect(said).toEqual([expect.stringContaining('installing')])
  })

  it.each([
    ['where it may not install', nothing, 'No valgrind found: put it on PATH, or install the package of that name.'],
    [
      'where it cannot',
      { ...nothing, canInstall: () => true, install: () => Promise.reject(new Error('no network')) },
      'No valgrind found (tried: apt-get: no network): put it on PATH, or install the package of that name.',
    ],
  ])('says in one line what to do %s', async (_, lookups, problem) => {
    await expect(ensureValgrind(lookups)).rejects.toThrow(problem)
  })
})
