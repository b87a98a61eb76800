import { existsSync, readdirSync } from 'node:fs'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, onTestFinished, test } from 'vitest'
import { openAt } from '../../src/project/open.ts'
import { resumeNow, switchOff } from '../../src/session/hooks/pause.ts'
import { TOOLS } from '../../src/surfaces/tools/index.ts'
import { call, decide, ERAS, httpClient, listening, next, stdioClient, tempDir, tempProject } from './harness.ts'

for (const era of ERAS) {
  test(`[M1] stdio, ${era}: tools are listed with annotations, in a fixed order`, async () => {
    const client = await stdioClient(tempProject(), { era })
    const { tools } = await client.listTools()
    expect(tools.map((t) => t.name)).toEqual(['act', 'brief', 'discover', 'open_questions', 'recall'])
    for (const tool of tools) {
      expect(tool.title).toBeTruthy()
      expect(tool.annotations).toMatchObject({ openWorldHint: false, readOnlyHint: tool.name !== 'act' })
      expect(tool._meta).toMatchObject({ 'anthropic/alwaysLoad': true })
      expect(tool.inputSchema.properties).toMatchObject({ session: { type: 'string' }, project: { type: 'string' } })
      expect(tool.description!.length).toBeLessThan(2048)
    }
    expect(client.getInstructions()!.length).toBeLessThan(2048)
    expect(client.getServerVersion()).toMatchObject({ name: 'tidemark', title: 'Tidemark' })
  })

  test(`[M1] stdio, ${era}: what act records, discover and the resource give; both know who wrote it`, async () => {
    const client = await stdioClient(tempProject(), { era, name: 'some-agent', env: { TIDEMARK_SESSION: 's-1' } })
    const done = await call(client, 'act', decide('use-sqlite'))
    expect(done).toMatchObject({ isError: false, structured: { results: [{ id: 'decision:use-sqlite' }] } })
    expect(done.text).toContain('decision:use-sqlite')
    const asked = await call(client, 'discover', { expr: '(map :name (get-decisions))' })
    expect(asked.text).toContain('use-sqlite')
    const read = await client.readResource({ uri: 'tidemark://entity/decision:use-sqlite' })
    const entity = JSON.parse((read.contents[0] as { text: string }).text)
    expect(entity.fields.provenance[0]).toMatchObject({ agent: 'some-agent', session: 's-1' })
    await call(client, 'act', { ...decide('other'), session: 's-2' })
    const other = await client.readResource({ uri: 'tidemark://entity/other' })
    expect((other.contents[0] as { text: string }).text).toContain('"s-2"')
    await expect(client.readResource({ uri: 'tidemark://entity/decision:none' })).rejects.toThrow()
  })

  test(`[M1] stdio, ${era}: a client that is called with control characters, endlessly or not at all is served`, {
    tags: ['long'],
  }, async () => {
    const project = tempProject()
    for (const [name, known] of [
      ['bad\x07na\u202eme\x1b[31m\nclient', 'badname client'],
      ['x'.repeat(5000), /^x{79}…$/],
      ['\u200b', undefined],
    ] as const) {
      const client = await stdioClient(project, { era, name })
      const expr = '(map (lambda (s) (@ s :client)) (sessions))'
      expect((await call(client, 'discover', { expr })).isError).toBe(false)
      expect(await call(client, 'act', decide(`by-${name.length}`))).toMatchObject({ isError: false })
      const read = await client.readResource({ uri: `tidemark://entity/decision:by-${name.length}` })
      const { provenance } = JSON.parse((read.contents[0] as { text: string }).text).fields
      if (known === undefined) expect(provenance.at(-1)).not.toHaveProperty('agent')
      else expect(provenance.at(-1).agent).toMatch(known)
      await client.close()
    }
  })

  test(`[M1] stdio, ${era}: refusals are tool errors that say what to do`, async () => {
    const client = await stdioClient(tempProject(), { era })
    const refused = await call(client, 'act', { actions: [['record-decison', { name: 'x' }]] })
    expect(refused).toMatchObject({ isError: true, structured: undefined })
    expect(refused.text).toContain('nothing was written')
    expect(refused.text).toContain('record-decision')
    const wrong = await call(client, 'act', { action: [], redact: 'perhaps' })
    expect(wrong.isError).toBe(true)
    for (const part of ['did you mean actions', 'redact: flag expected', 'actions: missing'])
      expect(wrong.text).toContain(part)
    await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow(/no_such_tool/)
  })

  test(`[M1] stdio, ${era}: where there is no project the server works and says what to do; nothing is created`, async () => {
    const dir = tempDir()
    const client = await stdioClient(dir, { era })
    expect((await client.listTools()).tools.length).toBeGreaterThan(1)
    const answer = await call(client, 'act', decide('x'))
    expect(answer.isError).toBe(true)
    expect(answer.text).toContain('tidemark init')
    expect(readdirSync(dir)).toEqual([])
  })

  test(`[M1] stdio, ${era}: who follows an entity is told when another process changes it`, async () => {
    const project = tempProject()
    const writer = await stdioClient(project)
    await call(writer, 'act', decide('followed'))
    const reader = await stdioClient(project, { era })
    const uri = 'tidemark://entity/decision:followed'
    const told = next<string>()
    reader.setNotificationHandler('notifications/resources/updated', ({ params }) => told.got(params.uri))
    if (era === 'legacy') await reader.subscribeResource({ uri })
    else await reader.listen({ resourceSubscriptions: [uri] })
    // the subscription is acknowledged before the watch stands: a call on the same connection comes after it
    await call(reader, 'discover', { expr: '1' })
    await call(writer, 'act', decide('not-followed'))
    await call(writer, 'act', decide('followed', { rationale: 'other' }))
    expect(await told.promise).toBe(uri)
  })
}

test('[M5] two clients of two processes and of two eras see at once what the other wrote', async () => {
  const project = tempProject()
  const [a, b] = await Promise.all([stdioClient(project, { era: 'legacy' }), stdioClient(project, { era: 'modern' })])
  await call(a, 'act', decide('from-a'))
  expect((await call(b, 'discover', { expr: '(map :name (get-decisions))' })).text).toContain('from-a')
  await call(b, 'act', decide('from-b'))
  expect((await call(a, 'discover', { expr: '(map :name (get-decisions))' })).text).toContain('from-b')
  const server = await listening({ projectPath: project })
  const c = await httpClient(`${server.url}/mcp`, server.token)
  expect((await call(c, 'discover', { expr: '(map :name (get-decisions))' })).text).toContain('from-b')
})

test('[A8] eight servers that write at once lose nothing', { tags: ['long'] }, async () => {
  const project = tempProject()
  const clients = await Promise.all(Array.from({ length: 8 }, (_, i) => stdioClient(project, { era: ERAS[i % 2]! })))
  const wanted: string[] = []
  await Promise.all(
    clients.map(async (client, i) => {
      for (let n = 0; n < 10; n++) {
        wanted.push(`d-${i}-${n}`)
        const answer = await call(client, 'act', decide(`d-${i}-${n}`))
        expect(answer.isError, answer.text).toBe(false)
      }
    }),
  )
  const { text } = await call(clients[0]!, 'discover', { expr: '(map :name (get-decisions :limit 100))' })
  expect(wanted.filter((name) => !text.includes(name))).toEqual([])
})

test('[M1] the session of Codex is taken from its _meta, that of Claude Code from the environment', async () => {
  const project = tempProject()
  const codex = await stdioClient(project, { era: 'legacy', name: 'codex-mcp-client' })
  const sent = { name: 'act', arguments: decide('by-codex'), _meta: { threadId: 'thread-7' } }
  const answer = await codex.callTool(sent)
  expect(answer.structuredContent).toBeUndefined() // Codex would show it in place of the text
  const claude = await stdioClient(project, { name: 'claude-code', env: { CLAUDE_CODE_SESSION_ID: 'claude-9' } })
  await call(claude, 'act', decide('by-claude'))
  for (const [name, session] of [
    ['by-codex', 'thread-7'],
    ['by-claude', 'claude-9'],
  ]) {
    const read = await claude.readResource({ uri: `tidemark://entity/decision:${name}` })
    expect((read.contents[0] as { text: string }).text).toContain(session)
  }
})

test('[M1] a second project is named by its path', async () => {
  const [one, two] = [tempProject('one'), tempProject('two')]
  const client = await stdioClient(one)
  await call(client, 'act', { ...decide('in-two'), project: two })
  const ask = { expr: '(map :name (get-decisions))' }
  expect((await call(client, 'discover', ask)).text).not.toContain('in-two')
  expect((await call(client, 'discover', { ...ask, project: two })).text).toContain('in-two')
  const unknown = await call(client, 'discover', { ...ask, project: 'nowhere' })
  expect(unknown).toMatchObject({ isError: true })
  expect(unknown.text).toContain(one)
  expect(existsSync(`${one}/.tidemark`)).toBe(true)
})

test('[M1] all tool schemas together are and the instructions are at most 1,100 tokens, and exactly the tools marked for MCP are offered', async () => {
  const client = await stdioClient(tempProject())
  const { tools } = await client.listTools()
  const tokens = tools.map(({ name, description, inputSchema }) => [
    name,
    encode(JSON.stringify({ name, description, input_schema: inputSchema })).length,
  ])
  tokens.push(['instructions', encode(client.getInstructions() ?? '').length])
  const total = tokens.reduce((sum, [, n]) => sum + Number(n), 0)
  console.log('tokens of the tool schemas:', Object.fromEntries(tokens), total)
  expect(total).toBeLessThanOrEqual(1100)
  const marked = Object.keys(TOOLS).filter((name) => TOOLS[name]!.mcp)
  expect(tools.map((t) => t.name)).toEqual(marked.sort())
})

test('[A7] [M1] an agent gets nothing from a Tidemark that its user has switched off', async () => {
  const dir = tempProject()
  const { memory } = openAt({ projectPath: dir, unlisted: true })
  onTestFinished(() => memory.close())
  switchOff(memory.db, Date.now())
  const client = await stdioClient(dir)
  for (const [tool, args] of [
    ['act', decide('use-sqlite')],
    ['recall', { text: 'sqlite' }],
  ] as const)
    expect(await call(client, tool, args)).toMatchObject({
      isError: true,
      text: expect.stringContaining('switched Tidemark off'),
    })
  resumeNow(memory.db, Date.now())
  expect(await call(client, 'act', decide('use-sqlite'))).toMatchObject({ isError: false })
})
