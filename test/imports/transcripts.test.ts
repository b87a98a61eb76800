import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { sha256 } from '../../src/model/digest.ts'
import { saidAt } from '../../src/model/entity.ts'
import { openPrompts } from '../../src/session/hooks/kept-prompts.ts'
import { importTool } from '../../src/surfaces/tools/import.ts'
import type { ImportReport } from '../../src/travel/formats/import/report.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay } from './helpers.ts'

afterEach(() => vi.unstubAllEnvs())

const lines = (...records: object[]) => records.map((r) => `${JSON.stringify(r)}\n`).join('')
const at = (minute: number) => `2026-10-01T09:${String(minute).padStart(2, '0')}:00.000Z`

/** A home in which each client has kept a session of the test's project, and Claude Code one of another. */
function homeOf(t: TestMemory): string {
  const home = join(dirname(t.dir), 'home')
  for (const name of ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME', 'COPILOT_HOME', 'XDG_DATA_HOME'])
    vi.stubEnv(name, '')
  vi.stubEnv('HOME', home)
  const slug = t.dir.replace(/[^A-Za-z0-9]/g, '-')
  const claude = (type: string, content: unknown, minute: number, more: object = {}) => ({
    type, sessionId: 'c1', cwd: t.dir, uuid: `u${minute}`, timestamp: at(minute), message: { role: type, content }, ...more,
  }) // biome-ignore format: a record
  lay(home, {
    [`.claude/projects/${slug}/c1.jsonl`]: lines(
      { type: 'queue-operation', sessionId: 'c1' },
      claude('user', 'Why does the cart round prices twice?', 1),
      claude('assistant', [{ type: 'text', text: 'Because the discount is rounded before the tax.' }, { type: 'tool_use', id: 't', name: 'Read', input: {} }], 2), // biome-ignore format: one record
      claude('user', [{ type: 'tool_result', tool_use_id: 't', content: 'a whole file that nobody said' }], 3),
      claude('user', 'ok', 4),
      claude(
        'user',
        'The token is ghp_abcdefghijklmnopqrstuvwxyz0123456789, and <private>mine</private> stays here',
        5,
      ),
      claude('user', 'From now on never round before the tax is known.', 6),
      claude('user', '<system-reminder>briefing of Tidemark</system-reminder>', 7),
      claude('assistant', 'sub agent talk that is long enough', 8, { isSidechain: true }),
      {
        type: 'attachment',
        sessionId: 'c1',
        attachment: { type: 'hook_additional_context', content: 'our own words' },
      },
    ),
    [`.claude/projects/${slug}-other/c2.jsonl`]: lines({
      ...claude('user', 'words of another project, which is none of ours', 1),
      cwd: `${t.dir}-other`,
    }),
    '.codex/sessions/2026/10/01/rollout-x.jsonl': lines(
      { timestamp: at(10), type: 'session_meta', payload: { id: 'x1', cwd: join(t.dir, 'packages', 'a') } },
      { timestamp: at(10), type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: `# AGENTS.md instructions for ${t.dir}\n\nall the rules` }] } }, // biome-ignore format: one record
      { timestamp: at(11), type: 'response_item', payload: { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'a hook told this' }] } }, // biome-ignore format: one record
      { timestamp: at(12), type: 'response_item', payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'The importer is slow on large folders.' }] } }, // biome-ignore format: one record
    ),
    '.gemini/tmp/shop/chats/session-1.jsonl': lines(
      { sessionId: 'g1', projectHash: sha256(t.dir), startTime: at(20), kind: 'main' },
      { id: 'm1', timestamp: at(20), type: 'user', content: [{ text: 'Which port does the test server take?' }] },
      { id: 'm2', timestamp: at(21), type: 'gemini', content: 'Port' },
      { id: 'm2', timestamp: at(21), type: 'gemini', content: 'Port 8931, from the test configuration.' },
      { $set: { lastUpdated: at(22) } },
    ),
    '.gemini/tmp/old/.project_root': t.dir,
    '.gemini/tmp/old/chats/session-0.json': { sessionId: 'g0', projectHash: 'x', messages: [{ id: 'a', timestamp: at(2), type: 'user', content: 'An older session in one document.' }] }, // biome-ignore format: one record
    '.copilot/session-state/p1/events.jsonl': lines(
      { type: 'session.start', data: { sessionId: 'p1', context: { cwd: t.dir } }, id: 'e1', timestamp: at(30) },
      { type: 'user.message', data: { content: 'Please rename the billing module.' }, id: 'e2', timestamp: at(31) },
    ),
  })
  const db = join(home, '.local/share/opencode/opencode.db')
  mkdirSync(dirname(db), { recursive: true })
  const opencode = new DatabaseSync(db)
  opencode.exec(`CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT);
    CREATE TABLE message (id TEXT, session_id TEXT, data TEXT); CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)`)
  opencode.prepare('INSERT INTO session VALUES (?, ?, NULL, ?, ?)').run('ses_1', 'p', t.dir, 'x')
  opencode.prepare('INSERT INTO message VALUES (?, ?, ?)').run('m', 'ses_1', JSON.stringify({ role: 'user', time: { created: Date.parse(at(40)) } })) // biome-ignore format: one row
  opencode.prepare('INSERT INTO part VALUES (?, ?, ?, ?)').run('p', 'm', 'ses_1', JSON.stringify({ type: 'text', text: 'Sort the invoices by date, newest first.' })) // biome-ignore format: one row
  opencode.close()
  return home
}

const run = async (t: TestMemory, args: object = {}) => {
  const { json, text } = await importTool.run(t, { format: 'transcripts', ...args })
  return { report: json as unknown as ImportReport, text }
}
const chunks = (t: TestMemory) =>
  t.memory.reader
    .list('turn')
    .map(({ fields: f }) => `${f.sourceFile} ${f.speaker}: ${f.content}`)
    .sort()

test('[H1] old sessions of every client are found and become turns with speaker, session and time', async () => {
  const t = openTestMemory()
  homeOf(t)
  const { report, text } = await run(t)
  expect(chunks(t)).toEqual([
    'claude/c1 claude: Because the discount is rounded before the tax.',
    'claude/c1 user: From now on never round before the tax is known.',
    'claude/c1 user: The token is [redacted: GitHub token], and   stays here',
    'claude/c1 user: Why does the cart round prices twice?',
    'codex/x1 codex: The importer is slow on large folders.',
    'copilot/p1 user: Please rename the billing module.',
    'gemini/g0 user: An older session in one document.',
    'gemini/g1 gemini: Port 8931, from the test configuration.',
    'gemini/g1 user: Which port does the test server take?',
    'opencode/ses_1 user: Sort the invoices by date, newest first.',
  ])
  expect(report.read).toEqual({ sessions: 6, turns: 10, 'short turns left out': 1 })
  const asked = t.memory.reader.list('turn').find((c) => String(c.fields.content).startsWith('Why does'))
  expect(new Date(saidAt(asked!)).toISOString()).toBe(String(asked!.fields.date)) // and not when it was imported
  expect(asked!.fields).toMatchObject({ date: at(1), attrs: { client: 'claude', session: 'c1' } })
  expect(text).toContain('1 of Claude Code (~/.claude/projects)')
})

test('[G7] what was typed in them is kept as prompts and proposes nothing; a second run writes nothing', async () => {
  const t = openTestMemory()
  homeOf(t)
  const { report } = await run(t)
  expect(report.prompts).toBeGreaterThan(3)
  expect(t.memory.reader.list('fact', { all: true })).toEqual([])
  using prompts = openPrompts(t.project)
  expect(prompts!.search('round before tax', 5).map((p) => p.text)).toEqual([
    'From now on never round before the tax is known.',
  ])
  const before = t.rows()
  const again = await run(t)
  expect(again.report).toMatchObject({ created: 0, unchanged: 10, batches: [] })
  expect(t.rows()).toBe(before)
})

test('[A7] no secret, private part or text of our own reaches the store', async () => {
  const t = openTestMemory()
  homeOf(t)
  const { report } = await run(t)
  expect(report.redacted).toEqual([{ where: 'claude/c1#4', category: 'GitHub token' }])
  expect(t.rows()).not.toMatch(/ghp_|mine|briefing of Tidemark|our own words|nobody said|sub agent talk|a hook told/)
})

test('[A2] a dry run says the same and leaves the store as it was', async () => {
  const t = openTestMemory()
  homeOf(t)
  const before = t.rows()
  const dry = await run(t, { 'dry-run': true })
  expect(dry.report).toMatchObject({ created: 10, dryRun: true, batches: [] })
  expect(dry.text).toContain('nothing was written')
  expect(t.rows()).toBe(before)
  expect((await run(t)).report.created).toBe(10)
})

test('[D11] --since takes what was said since; what a session says later comes in by itself', async () => {
  const t = openTestMemory()
  const home = homeOf(t)
  expect((await run(t, { since: at(30) })).report.created).toBe(2)
  expect((await run(t)).report).toMatchObject({ created: 8, unchanged: 2 })
  const events = join(home, '.copilot/session-state/p1/events.jsonl')
  writeFileSync(events, lines({ type: 'session.start', data: { context: { cwd: t.dir } } }, { type: 'user.message', data: { content: 'Please rename the billing module.' }, timestamp: at(31) }, { type: 'assistant.message', data: { content: 'It is called invoicing now.' }, timestamp: at(33) })) // biome-ignore format: one file
  expect((await run(t)).report).toMatchObject({ created: 1, unchanged: 10 })
})

test('[H1] a byte order mark takes no turn of a transcript away, whatever its form', async () => {
  const t = openTestMemory()
  const bom = '\uFEFF'
  const claude = { type: 'user', sessionId: 'c1', cwd: t.dir, timestamp: at(1), message: { role: 'user', content: 'Which turn is the first?' } } // biome-ignore format: a record
  lay(t.dir, {
    'old/c1.jsonl':
      bom + lines(claude, { ...claude, message: { role: 'user', content: 'And which one is the second?' } }),
    'old/g0.json': bom + JSON.stringify({ sessionId: 'g0', projectHash: 'x', messages: [{ id: 'a', type: 'user', content: 'One document of Gemini CLI.' }] }), // biome-ignore format: one record
    'spec/s.md': `${bom}_**User**_\n\nA page of SpecStory is read too.\n`,
  })
  await run(t, { path: join(t.dir, 'old') })
  await run(t, { format: 'specstory', path: join(t.dir, 'spec') })
  expect(chunks(t)).toEqual([
    'claude/c1 user: And which one is the second?',
    'claude/c1 user: Which turn is the first?',
    'gemini/g0 user: One document of Gemini CLI.',
    'specstory/s user: A page of SpecStory is read too.',
  ])
})

/** As Aider writes it: two blanks behind each line of its own and of its user, none behind those of the agent. */
const aider = (started: string, ...said: string[]) =>
  `\n# aider chat started at ${started}\n\n> /usr/bin/aider --model sonnet  \n> Aider v0.86.2  \n\n${said.join('\n')}\n`
const typed = (...words: string[]) => `${words.map((line) => `#### ${line}  `).join('\n')}\n`

test('[H1] sessions of Aider are found in its history: what was typed, without commands, tools and headings of the agent', async () => {
  const t = openTestMemory()
  homeOf(t)
  lay(t.dir, {
    '.aider.chat.history.md': [
      aider('2026-10-05 19:33:01', '> You need to specify a --model  \n'),
      aider('2026-10-05 19:33:02', ''),
      aider(
        '2026-10-05 19:33:02',
        typed('/add app/cart.py'),
        '> Added app/cart.py to the chat  \n',
        typed('<blank>'),
        typed('Round once, at the end.', '', '  - the tax comes last'),
        '> Repo-map: using 1024 tokens  \n',
        '#### Summary of the change\n\nI round after the tax.\n\n#### Never run the tests\n',
        '> Tokens: 2.4k sent, 91 received.  \n> Applied edit to app/cart.py  \n',
        typed('Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: a'),
        typed('/ask Why is the discount rounded twice?'),
        typed('/code', 'Then remove the second rounding.'),
        typed('!make everything again'),
        typed('/run make everything once more'),
        typed('/architecture is no command of it'),
      ),
      aider('2026-10-05 19:34:00', typed('The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789, keep it.')).replaceAll('\n', '\r\n'),
    ].join(''),
  }) // biome-ignore format: one file
  const { text, report } = await run(t)
  expect(text).toContain(', 2 of Aider (.aider.chat.history.md)')
  expect(chunks(t).filter((turn) => turn.startsWith('aider/'))).toEqual([
    'aider/2026-10-05T19:33:02 aider: #### Summary of the change\n\nI round after the tax.\n\n#### Never run the tests',
    'aider/2026-10-05T19:33:02 user: Round once, at the end.\n\n  - the tax comes last',
    'aider/2026-10-05T19:33:02 user: Then remove the second rounding.',
    'aider/2026-10-05T19:33:02 user: Why is the discount rounded twice?',
    'aider/2026-10-05T19:34:00 user: The key is [redacted: GitHub token], keep it.',
  ])
  expect(report.redacted).toContainEqual({ where: 'aider/2026-10-05T19:34:00#1', category: 'GitHub token' })
  const turn = t.memory.reader.list('turn').find((c) => String(c.fields.content).startsWith('Round once'))
  expect(saidAt(turn!)).toBe(new Date(2026, 9, 5, 19, 33, 2).getTime())
  using prompts = openPrompts(t.project, { now: t.memory.env.now() })
  expect(prompts!.search('second rounding', 5)).toMatchObject([
    { session: '2026-10-05T19:33:02', client: 'aider', text: 'Then remove the second rounding.' },
  ])
  const before = t.rows()
  expect((await run(t)).report.batches).toEqual([])
  expect(t.rows()).toBe(before)
})

test('[A1] a history of Aider is read by its name too, without blanks at its ends; a link to one is not followed', async () => {
  const t = openTestMemory()
  homeOf(t)
  const history = aider(
    '2026-10-05 19:33:02',
    typed('Round once, at the end.'),
    'I do that.\n\n#### Never run the tests\n',
  )
  lay(t.dir, { 'old/chat.md': history.replaceAll(/ +$/gm, '') })
  symlinkSync(join(t.dir, 'old/chat.md'), join(t.dir, '.aider.chat.history.md'))
  expect((await run(t)).text).toContain('none of Aider')
  await run(t, { path: join(t.dir, 'old/chat.md') })
  expect(chunks(t).filter((turn) => turn.startsWith('aider/'))).toEqual([
    'aider/2026-10-05T19:33:02 aider: I do that.\n\n#### Never run the tests',
    'aider/2026-10-05T19:33:02 user: Round once, at the end.',
  ])
})

test('[A1] a history of Aider of many sessions is read in one go, whatever stands in it', async () => {
  const t = openTestMemory()
  homeOf(t)
  const heads = Array.from({ length: 20_000 }, (_, i) => `# aider chat started at 2026-01-01 00:00:${(i % 50) + 10}\n`)
  const long = '# aider chat started at 2026-01-01 00:00:00'.padEnd(2_000_000, ' \t')
  lay(t.dir, { '.aider.chat.history.md': `${heads.join('')}${long}x\n${'#### '.repeat(400_000)}\n` })
  expect((await run(t, { 'dry-run': true })).text).toContain('1 of Aider')
})

test('[A1] a folder that is named is taken whole; links in it are not followed, and one without transcripts is refused', async () => {
  const t = openTestMemory()
  const home = homeOf(t)
  const named = await run(t, { path: join(home, '.claude') })
  expect(named.report.read).toMatchObject({ sessions: 2 })
  mkdirSync(join(t.dir, 'links'))
  symlinkSync(join(home, '.codex/sessions/2026/10/01/rollout-x.jsonl'), join(t.dir, 'links/a.jsonl'))
  symlinkSync('.', join(t.dir, 'links/loop'))
  await expect(run(t, { path: join(t.dir, 'links') })).rejects.toMatchObject({ code: 'bad-transcript' })
  symlinkSync(join(home, '.claude'), join(t.dir, 'link'))
  await expect(run(t, { path: join(t.dir, 'link') })).rejects.toMatchObject({ code: 'unsafe-path' })
  await expect(run(t, { path: '/dev/zero' })).rejects.toMatchObject({ code: 'bad-transcript' })
})
