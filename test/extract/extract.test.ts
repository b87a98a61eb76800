import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { asPerson, git, inProcess } from '../cli/run.ts'
import { found, jsonl, openai, place, server, talk } from './run.ts'

test('[A7] off: no hook and no command asks anybody, whatever the repository says', async () => {
  const { at, run, hook } = await place()
  const s = await server(() => openai(found, 900))
  const config = join(at.dir, '.tidemark', 'config.json')
  const said = { use: 'openai', url: s.url, model: 'm1', budget: 50_000 }
  const own = JSON.parse(readFileSync(config, 'utf8'))
  writeFileSync(config, JSON.stringify({ ...own, extractor: said, hooks: { extractor: said } }))
  await hook('SessionStart', { source: 'startup' })
  expect((await hook('Stop')).code).toBe(0)
  expect((await hook('SessionEnd', { reason: 'other' })).code).toBe(0)
  expect(await run('extract')).toMatch(/^extraction is off/)
  expect(await run('extract', '--meter')).toMatch(/^extraction is off/)
  expect(await run('status')).not.toContain('extraction')
  expect(existsSync(join(at.env.HOME!, '.local/state/tidemark/extraction.db'))).toBe(false)
  expect(s.requests).toEqual([])
})

test('[A7] a session that ends waits, is read by the model that the user allowed, and what it finds is only proposed', async () => {
  const { run, json, hook, allow } = await place()
  const s = await server(() => openai(found, 1234))
  expect(await allow(s.url)).toMatch(/go to m1 at 127\.0\.0\.1:\d+, at most 50000 tokens a day/)
  await hook('Stop')
  expect(await run('status')).toMatch(/extraction 0 of 50000 tokens today in 0 calls, 1 session waits/)
  const out = await run('extract')
  expect(out).toMatch(/s1: 2 proposed, 1234 tokens\n {2}decision:import-cursor-in-store\n {2}failed-approach:/)
  expect(out).toMatch(/extraction 1234 of 50000 tokens today in 1 call\n/)
  const [request] = s.requests
  expect(request!.path).toBe('/v1/chat/completions')
  expect(request!.body).toMatchObject({ model: 'm1', max_tokens: 2000, stream: false })
  expect(request!.body.messages[1].content).toContain(
    '[command] npm run import -- --resume\n[failed] Error: no cursor was kept',
  )
  const review = await run('review')
  expect(review).toContain('decision:import-cursor-in-store')
  expect(review).toContain('watching the WAL file')
  const [decision] = await json('list', 'decision', '--standing', 'proposed')
  expect(decision).toMatchObject({ standing: 'proposed', confidence: 0.9 })
  expect(JSON.stringify(decision.provenance)).toContain('"source":"llm:m1"')
  expect(JSON.stringify(decision.evidence)).toContain('the cursor is kept in a table of the store')
  // nothing new was said: nobody is asked again
  await hook('Stop')
  expect(await run('extract')).toContain('too little was said')
  expect(s.requests).toHaveLength(1)
})

test('[A7] what was rejected is not proposed again, nor the same words under another name', async () => {
  const { at, run, hook, allow, transcript } = await place()
  const again = { ...found.candidates[0], name: 'another-name' }
  const s = await server((_, n) => openai(n === 1 ? found : { candidates: [...found.candidates, again] }, 500))
  await allow(s.url)
  await hook('Stop')
  await run('extract')
  asPerson(at, ['reject', { ref: 'decision:import-cursor-in-store' }], ['confirm', { ref: 'watching the WAL file' }])
  writeFileSync(transcript, jsonl([...talk, ...talk]))
  await hook('Stop')
  expect(await run('extract')).toContain('s1: 0 proposed')
  expect(s.requests).toHaveLength(2)
  expect(await run('review')).toMatch(/nothing is proposed/)
})

test('[A7] only what is new in a transcript is sent', async () => {
  const { run, hook, allow, transcript } = await place()
  const s = await server(() => openai({ candidates: [] }, 400))
  await allow(s.url)
  await hook('Stop')
  await run('extract')
  const next =
    'We also agreed that exports are written in the order of the ids, since diffs of two exports are read by people. '
  appendFileSync(transcript, jsonl([{ type: 'user', message: { content: next.repeat(2) } }]))
  await hook('Stop')
  await run('extract')
  const sent = s.requests[1]!.body.messages[1].content
  expect(sent).toContain('exports are written in the order of the ids')
  expect(sent).not.toContain('importer')
})

test('[A7] the key of an endpoint comes from the variable and stands nowhere', async () => {
  const { at, run, hook } = await place()
  const s = await server(() => openai(found, 780))
  const args = ['--url', s.url, '--model', 'claude-x', '--key-env', 'MY_KEY', '--budget', '20000']
  await run('models', 'add', 'extractor', ...args)
  await hook('Stop')
  expect(await run('extract')).toMatch(/the environment variable MY_KEY, which holds the key, is empty/)
  expect(s.requests).toEqual([])
  const key = 'key-of-the-user-0123'
  const ran = await inProcess({ ...at, env: { ...at.env, MY_KEY: key } }, ['extract', '--of', 's1'])
  expect(ran.out).toMatch(/s1: 2 proposed, 780 tokens/)
  expect(s.requests[0]!.path).toBe('/v1/chat/completions')
  expect(s.requests[0]!.headers).toMatchObject({ authorization: `Bearer ${key}` })
  expect(s.requests[0]!.body).toMatchObject({ model: 'claude-x', max_tokens: 2000 })
  expect(readFileSync(join(at.env.HOME!, '.local/state/tidemark/extraction.db')).includes(key)).toBe(false)
})

test('[A7] a client without a head: the prompt on stdin, JSON on stdout, in no project, and no hook of ours answers it', async () => {
  const { at, run, hook, dir } = await place()
  const script = join(dir, 'model.mjs')
  const envelope = { type: 'result', is_error: false, result: JSON.stringify(found), usage: { input_tokens: 300, output_tokens: 40, cache_read_input_tokens: 5 } } // biome-ignore format: as it is printed
  const main = `import { writeFileSync } from 'node:fs'
    let text = ''
    for await (const d of process.stdin) text += d
    writeFileSync(${JSON.stringify(join(dir, 'seen.json'))}, JSON.stringify({ text, cwd: process.cwd(), env: process.env }))
    console.log(${JSON.stringify(JSON.stringify(envelope))})`
  writeFileSync(script, main)
  const command = JSON.stringify([process.execPath, script])
  await run('models', 'add', 'extractor', '--command', command, '--model', 'local', '--budget', '50000')
  await hook('Stop')
  const env = { ...at.env, CLAUDE_CODE_SESSION_ID: 's1', CLAUDE_PROJECT_DIR: at.dir }
  expect((await inProcess({ ...at, env }, ['extract'])).out).toMatch(/s1: 2 proposed, 345 tokens/)
  const seen = JSON.parse(readFileSync(join(dir, 'seen.json'), 'utf8'))
  expect(seen.text).toContain('missed commits when the checkpoint ran')
  expect(seen.cwd.startsWith(at.dir)).toBe(false)
  expect(seen.env.TIDEMARK_EXTRACTING).toBe('1')
  expect(seen.env.CLAUDE_CODE_SESSION_ID).toBeUndefined()
  expect(seen.env.CLAUDE_PROJECT_DIR).toBeUndefined()
  // such a client fires hooks: they say nothing and note nothing
  const inside = { ...at, env: { ...at.env, TIDEMARK_EXTRACTING: '1' } }
  const payload = JSON.stringify({ session_id: 'inner', cwd: at.dir, source: 'startup' })
  expect((await inProcess(inside, ['hook', 'claude', 'SessionStart'], payload)).out).toBe('')
  expect(await run('session', 'list', '--all')).not.toContain('inner')
})

test('[A7] what is private, secret, excluded or our own is not sent', async () => {
  const long =
    'We talked for long about how the importer should go on after a crash, and what it needs for that. '.repeat(3)
  const { at, run, hook, allow } = await place([
    { type: 'user', message: { content: `${long}<private>my salary is 4711 crowns</private> and <private>nobody hears` } },
    { type: 'assistant', message: { content: [{ type: 'text', text: 'You said my salary is 4711 crowns, so be it.' }] } },
    { type: 'user', message: { content: 'the token is ghp_0123456789abcdefABCDEF0123456789abcd\nsee secrets/prod.env for the hosts' } },
    { type: 'user', isMeta: true, message: { content: 'meta words of the client' } },
    { type: 'user', message: { content: '<system-reminder>injected by a hook</system-reminder>' } },
    { type: 'user', message: { content: 'Stop hook feedback:\nBefore you stop: this session recorded nothing' } },
    { type: 'attachment', attachment: { type: 'hook_additional_context', content: 'what the briefing told' } },
    { type: 'assistant', message: { content: [
      { type: 'thinking', thinking: 'thoughts stay here' },
      { type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'vault read kv/db' } },
      { type: 'tool_use', id: 'b', name: 'Read', input: { file_path: 'src/a.ts' } },
      { type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'tidemark recall "what we know"' } },
    ] } },
    { type: 'user', message: { content: [
      { type: 'tool_result', tool_use_id: 'a', is_error: true, content: 'vault says: denied' },
      { type: 'tool_result', tool_use_id: 'b', content: 'contents of a file' },
      { type: 'tool_result', tool_use_id: 'b', is_error: true, content: 'contents of a failing read' },
    ] } },
  ]) // biome-ignore format: one message a line
  const config = join(at.dir, '.tidemark', 'config.json')
  const own = JSON.parse(readFileSync(config, 'utf8'))
  writeFileSync(config, JSON.stringify({ ...own, hooks: { excludePaths: ['secrets/**'], excludeCommands: ['vault'] } }))
  const s = await server(() => openai({ candidates: [] }, 300))
  await allow(s.url)
  await hook('Stop')
  await run('extract')
  const sent: string = s.requests[0]!.body.messages[1].content
  expect(sent).toContain('the importer should go on after a crash')
  expect(sent).toContain('[redacted: GitHub token]')
  for (const word of ['4711', 'nobody hears', 'ghp_', 'prod.env', 'meta words', 'injected', 'Before you stop', 'briefing', 'thoughts', 'vault', 'denied', 'contents', 'tidemark recall'])
    expect(sent, word).not.toContain(word) // biome-ignore format: a list to read at a glance
})

test('[A7] paused: nothing is sent, and what was said meanwhile is not sent later either', async () => {
  const said = (content: string, at: number) => ({
    type: 'user',
    timestamp: new Date(at).toISOString(),
    message: { content },
  })
  const now = Date.now()
  const { run, hook, allow, transcript } = await place([
    said('Before the pause we spoke of the importer. '.repeat(8), now - 60_000),
  ])
  const s = await server(() => openai({ candidates: [] }, 300))
  await allow(s.url)
  await hook('Stop')
  await run('pause')
  expect(await run('extract')).toContain('nothing was sent: paused')
  appendFileSync(transcript, jsonl([said('In the pause we spoke of somebody. '.repeat(8), Date.now())]))
  await run('resume')
  await hook('Stop')
  await run('extract')
  expect(s.requests).toHaveLength(1)
  expect(s.requests[0]!.body.messages[1].content).toContain('Before the pause')
  expect(s.requests[0]!.body.messages[1].content).not.toContain('In the pause')
})

test('[A7] models remove extractor and uninstall end it; another project was never allowed', async () => {
  const { at, run, hook, allow } = await place()
  const s = await server(() => openai(found, 300))
  await allow(s.url)
  expect(await run('models')).toMatch(/extractor {2}m1 at 127/)
  const other = await place()
  const elsewhere = { ...other.at, env: { ...other.at.env, HOME: at.env.HOME } }
  expect(await inProcess(elsewhere, ['adopt', '--yes'])).toMatchObject({ code: 0 }) // its store was made by a user with another home
  expect((await inProcess(elsewhere, ['extract'])).out).toMatch(/^extraction is off/)
  await hook('Stop')
  expect(await run('models', 'remove', 'extractor')).toMatch(/no transcript is sent any more/)
  expect(await run('extract')).toMatch(/^extraction is off/)
  await allow(s.url)
  await hook('Stop')
  await run('uninstall')
  await run('init', '--client', 'none', '--yes')
  expect(await run('extract')).toMatch(/^extraction is off/)
  expect(s.requests).toEqual([])
})

test('[A7] uninstall takes the leave back that a project had before it moved: whatever comes to lie there has none', async () => {
  const { at, run, allow } = await place()
  const s = await server(() => openai(found, 300))
  await allow(s.url)
  expect(await run('extract')).not.toMatch(/^extraction is off/)
  const moved = { ...at, dir: `${at.dir}-moved` }
  renameSync(at.dir, moved.dir)
  expect((await inProcess(moved, ['extract'])).out).toMatch(/^extraction is off/)
  expect((await inProcess(moved, ['uninstall'])).code).toBe(0)
  mkdirSync(at.dir)
  git(at.dir, 'init', '-q')
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  expect((await inProcess(at, ['extract'])).out).toMatch(/^extraction is off/)
})

test('[A7] models add extractor says what is wrong with what it is given', async () => {
  const { at } = await place()
  const add = async (...args: string[]) => (await inProcess(at, ['models', 'add', 'extractor', ...args])).err
  const url = ['--url', 'http://localhost:1/v1', '--model', 'm']
  expect(await add(...url)).toMatch(/--budget is needed/)
  expect(await add(...url, '--budget', '10')).toMatch(/--budget is needed/)
  expect(await add('--budget', '90000')).toMatch(/one of --url, --client and --command/)
  expect(await add('--url', 'ftp://x', '--model', 'm', '--budget', '9000')).toMatch(/not the url of an endpoint/)
  expect(await add('--url', 'http://models.example/v1', '--model', 'm', '--budget', '9000', '--key-env', 'K')).toMatch(
    /for anyone to read/,
  )
  expect(await add(...url, '--budget', '9000', '--key-env', 'sk-not a name')).toMatch(/never the key/)
  expect(await add('--client', 'claude', '--budget', '9000')).toMatch(/at least 30000/)
  expect(await add('--client', 'other', '--budget', '90000')).toMatch(/no such client/)
  expect(await add('--command', 'my-model --json', '--budget', '90000')).toMatch(/not a JSON list/)
})

test('[A7] rules, questions, insights, topics and relations to earlier decisions are found, and all of it is only proposed', async () => {
  const rule = 'please always write importers so that a second run changes nothing'
  const long = 'We talked for long about how the importer should go on after a crash, and what it needs. '.repeat(3)
  const { run, json, hook, allow } = await place([
    { type: 'user', message: { content: `${long}${rule}` } },
    {
      type: 'assistant',
      message: {
        content: [
          {
            type: 'text',
            text: 'You must always trust the cache. Is the cursor needed at all? Batches were slow because of fsync.',
          },
        ],
      },
    },
  ])
  await run(
    'act',
    '[["record-decision", {"name": "cursor-in-store", "description": "The cursor is kept in the store"}]]',
  )
  const of = (kind: string, fields: object, quote: string, more: object = {}) => ({
    kind,
    ...fields,
    quote,
    confidence: 0.9,
    ...more,
  })
  const s = await server(() =>
    openai(
      {
        candidates: [
          of('fact', { fact: 'Importers are idempotent', category: 'odd' }, rule, {
            topics: ['Import', 7, 'x'.repeat(99)],
          }),
          of('fact', { fact: 'Trust the cache' }, 'always trust the cache'),
          of('question', { question: 'Is the cursor needed?' }, 'Is the cursor needed at all?', {
            relations: [
              { type: 'informs', to: 'cursor-in-store' },
              { type: 'informs', to: 'unknown' },
              { type: 'owns', to: 'cursor-in-store' },
            ],
          }),
          of('insight', { summary: 'fsync makes batches slow' }, 'slow because of fsync'),
          of('decision', { name: 'drop-cursor', description: 'No cursor' }, 'is the cursor needed', {
            relations: [{ type: 'supersedes', to: 'cursor-in-store' }],
          }),
        ],
      },
      900,
    ),
  )
  await allow(s.url)
  await hook('Stop')
  expect(await run('extract')).toMatch(/s1: 6 proposed/)
  expect(s.requests[0]!.body.messages[1].content).toContain(
    'Earlier decisions:\n- cursor-in-store: The cursor is kept in the store',
  )
  const facts = await json('list', 'fact', '--standing', 'proposed')
  expect(facts).toMatchObject([{ fact: 'Importers are idempotent', topics: ['import'] }])
  expect(facts[0].category).toBeUndefined()
  const links = await json('list', 'relationship', '--standing', 'proposed')
  expect(links.map((l: { type: string }) => l.type).sort()).toEqual(['informs', 'supersedes'])
  const [old] = await json('list', 'decision', '--standing', 'confirmed')
  expect(old).toMatchObject({ name: 'cursor-in-store' })
  expect(old.status ?? 'active').toBe('active')
})
