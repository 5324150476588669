import fc from 'fast-check'
import { expect, it } from 'vitest'

import { clockLua } from '../../src/scripts/fragments.js'
import { assertProperty } from '../support/assertProperty.js'
import { connectClient } from '../support/connectClient.js'

it('writes whole numbers out, of any size that is exact, and rounds others', async () => {
  const client = await connectClient()
  const write = (numbers: readonly string[]): Promise<unknown> =>
    client.eval(
      `${clockLua} local texts = {} for i, n in ipairs(ARGV) do texts[i] = int(tonumber(n)) end return texts`,
      { arguments: [...numbers] },
    )
  const edges = ['0', '7', '-7', '999999', '1000000', '1000001', '1999999', '1793000000000', '9007199254740991']
  expect(await write(edges)).toEqual(edges)
  expect(await write(['999999.7', '1793000000000.25', '-0.7'])).toEqual(['1000000', '1793000000000', '-1'])
  await assertProperty([fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 50 })], async ([numbers]) => {
    expect(await write(numbers.map(String))).toEqual(numbers.map(String))
  })
})
