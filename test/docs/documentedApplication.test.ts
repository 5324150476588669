import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'
import { expect, it } from 'vitest'

/** The application as users are shown it. */
const DOCUMENTED = `
const client = createClient({ url: process.env.REDIS_URL })
await client.connect()
const s3Client = new S3Client({ region: process.env.AWS_REGION })
await using injector = createInjector()
injector.bind(CrossNodeBus, defineRedisCrossNodeBusAdapter({ client, serviceName: 'svc-a' }))
injector.bind(BlobStore, defineS3BlobStore({ client: s3Client, bucket: 'svc-a-blobs' }))
injector.bind(TaskRunner, defineRedisTaskRunner({ client, serviceName: 'svc-a', topicPrefix: 'svc-a/', visibilityTimeoutMs: 60_000 }))
const runner = injector.get(TaskRunner)
// shutdown
await injector[Symbol.asyncDispose]()
await client.quit()
`

const example = readFileSync(fileURLToPath(new URL('../../examples/04-full-application.ts', import.meta.url)), 'utf8')

/** The statements of a text with their comments, however they are laid out. */
const statementsOf = (text: string): string[] =>
  ts
    .createSourceFile('application.ts', text, ts.ScriptTarget.Latest)
    .statements.map((statement) =>
      text.slice(statement.pos, statement.end).replaceAll(/\s+/g, '').replaceAll(/,\)/g, ')'),
    )

it('the example of a full application has each statement of the documented one, in its order', () => {
  const documented = statementsOf(DOCUMENTED)
  expect(documented).toHaveLength(10)
  expect(statementsOf(example).filter((statement) => documented.includes(statement))).toEqual(documented)
})
