import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { respond } from '../../src/session/hooks/run.ts'
import { buildMcpServer } from '../../src/surfaces/mcp/mcp.ts'
import { back } from '../../src/surfaces/tools/back.ts'
import { brief } from '../../src/surfaces/tools/brief.ts'
import { explain } from '../../src/surfaces/tools/explain.ts'
import { list } from '../../src/surfaces/tools/list.ts'
import { recall } from '../../src/surfaces/tools/recall.ts'
import { review } from '../../src/surfaces/tools/review.ts'
import { show } from '../../src/surfaces/tools/show.ts'
import { EXPORTERS } from '../../src/travel/formats/export/index.ts'
import { refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { openTestCode } from '../code/code.ts'
import { replicaOf, sync } from './helpers.ts'

const AUTH = 'export const SESSION_TTL = 7200\n'
const AT = ['src/auth.ts#SESSION_TTL']

/** One entity in each state: a word that it alone holds, its id, and what has to stand beside it wherever it is told. */
const STATES = {
  binds: { word: 'squash', ref: 'fact:always-squash', beside: /squash/ },
  proposed: { word: 'rebase', ref: 'fact:always-rebase', beside: /proposed|binds nobody|wait|Unconfirmed/i },
  others: { word: 'cents', ref: 'decision:prices', beside: /unverified/ },
  stale: { word: 'two hours', ref: 'decision:session-ttl', beside: /src\/auth\.ts changed/ },
  failed: { word: 'signed cookies', ref: 'decision:use-cookies', beside: /failed: Proxies refused them/ },
  replaced: { word: 'plain json', ref: 'decision:use-json', beside: /superseded by|superseded-by|replacedBy/i },
  apart: {
    word: 'rabbit queue',
    ref: 'decision:use-a-queue',
    beside: /on branch feature\/queue, which is not merged here|"branch": ?"feature\/queue"/,
  },
  old: {
    word: 'logrotate',
    ref: 'decision:keep-logs',
    beside: /2026-02|9 months|40 weeks|280 days|\d+ (?:months|weeks|days) ago/,
  },
} as const

type State = keyof typeof STATES

async function project() {
  const c = openTestCode({ 'src/auth.ts': AUTH, 'src/db.ts': 'export const db = 1\n' })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: c.root, stdio: 'ignore' })
  git('init', '-q', '-b', 'main')
  git('add', 'src')
  git('commit', '-qm', 'one')
  git('checkout', '-qb', 'feature/queue')
  git('commit', '-q', '--allow-empty', '-m', 'two')
  git('checkout', '-q', 'main')
  c.clock.days(-280)
  c.memory.act([['record-decision', { name: 'keep-logs', description: 'logrotate in src/auth.ts keeps a week', locations: ['src/db.ts'] }]]) // biome-ignore format: one row
  c.clock.days(280)
  c.memory.act([['record-fact', { fact: 'Always squash', category: 'workflow' }]], { by: 'person' })
  c.memory.act([['record-fact', { fact: 'Always rebase', category: 'workflow' }]], { by: 'agent', agent: 'claude' })
  c.memory.act([['record-decision', { name: 'use-a-queue', description: 'Orders go to a rabbit queue' }]], {
    branch: 'feature/queue',
  })
  const other = replicaOf(c)
  other.act([['record-decision', { name: 'prices', description: 'Prices are whole cents', locations: ['src/db.ts'] }]])
  sync(other, c.memory)
  await c.record(
    ['record-decision', { name: 'session-ttl', description: 'Sessions end after two hours', locations: AT }],
    ['record-decision', { name: 'use-json', description: 'State is kept as plain json', locations: ['src/db.ts'] }],
    ['record-decision', { name: 'use-sqlite', description: 'State is kept in a database' }],
    ['supersede', { old: 'use-json', new: 'use-sqlite' }],
    ['record-decision', { name: 'use-cookies', description: 'Sessions are kept in signed cookies', locations: ['src/db.ts'] }], // biome-ignore format: one row
    ['record-result', { text: 'Proxies refused them', outcome: 'failed' }],
    ['link-entities', { from: 'use-cookies', type: 'led-to', to: 'Proxies refused them' }],
  )
  await c.scan()
  c.write('src/auth.ts', AUTH.replace('7200', '900'))
  return c
}

type Project = Awaited<ReturnType<typeof project>>

/** Every channel, with the pieces that it says: each is looked at by itself. */
const CHANNELS: Record<string, (c: Project) => Promise<string[]>> = {
  'session start': (c) => hooked(c, 'session-start', { source: 'startup' }),
  'sub-agent start': (c) => hooked(c, 'subagent-start', { parent: 'p', agent: 'Explore' }),
  prompt: async (c) =>
    (await Promise.all(['Which prices are whole cents?', 'When do sessions end after two hours?', 'Who keeps logrotate a week?', 'Is state kept as plain json?', 'Are sessions kept in signed cookies?', 'Do orders go to a rabbit queue?'].map((prompt) => hooked(c, 'prompt', { prompt })))).flat(), // biome-ignore format: one row
  'before an edit': (c) => hooked(c, 'before-edit', edit),
  'after an edit': (c) => hooked(c, 'after-edit', edit),
  'first read': (c) => hooked(c, 'after-tool', { tool: { name: 'Read', paths: [], reads: ['src/db.ts'] } }),
  'tool brief': (c) => asked(c, brief, {}),
  'tool back': (c) => asked(c, back, {}),
  'tool recall': async (c) =>
    (await Promise.all(Object.values(STATES).map(({ word }) => asked(c, recall, { text: word, all: true, budget: 4000 })))).flat(), // biome-ignore format: one row
  'tool show': async (c) => (await Promise.all(refs(c).map((ref) => whole(c, show, { ref })))).flat(),
  'tool list': (c) => asked(c, list, { all: true }),
  'tool explain': async (c) => [...(await asked(c, explain, { place: 'src/db.ts' })), ...(await asked(c, explain, { place: 'src/auth.ts' }))], // biome-ignore format: one row
  'tool review': (c) => whole(c, review, {}),
  'API list': async (c) => json(await run(c, list, { all: true })),
  'API show': async (c) => (await Promise.all(refs(c).map(async (ref) => JSON.stringify((await run(c, show, { ref })).json)))).flat(), // biome-ignore format: one row
  'API recall': async (c) =>
    (await Promise.all(Object.values(STATES).map(async ({ word }) => json(await run(c, recall, { text: word, all: true, budget: 4000 }), 'results')))).flat(), // biome-ignore format: one row
  'API explain': async (c) => json((await run(c, explain, { place: 'src/db.ts' })) as never, '0.known'),
  'MCP resource entity': async (c) => Promise.all(refs(c).map((ref) => resource(c, `tidemark://entity/${ref}`))),
  'MCP resource rules': async (c) => pieces(await resource(c, 'tidemark://rules')),
  views: async (c) => {
    refreshViews(c.memory, c.project)
    const dir = join(c.root, '.tidemark')
    return readdirSync(dir).filter((f) => f.endsWith('.md')).flatMap((f) => pieces(readFileSync(join(dir, f), 'utf8'))) // biome-ignore format: one row
  },
  'export markdown': async (c) => exported(c, 'markdown').split(/^## /m),
}

const edit = { tool: { name: 'Edit', paths: ['src/db.ts', 'src/auth.ts'] } }
const refs = (c: Project) => Object.values(STATES).map(({ word }) => entityWith(c, word))
const entityWith = (c: Project, word: string): string =>
  ['fact', 'decision'].flatMap((kind) => c.memory.reader.list(kind, { all: true })).find((e) => JSON.stringify(e.fields).includes(word))!.id // biome-ignore format: one row

async function hooked(c: Project, event: string, more: object): Promise<string[]> {
  const call = { client: 'claude', event, session: `s-${event}`, cwd: c.root, ...more }
  return pieces((await respond(c.memory, c.project, call as never, () => 60_000)).reply.context ?? '')
}

interface Answer {
  text: string
  json: unknown
}
const run = (c: Project, tool: { run(context: never, args: never): unknown }, args: object) =>
  tool.run({ memory: c.memory, project: c.project, by: 'agent' } as never, args as never) as Promise<Answer>
const asked = async (c: Project, tool: Parameters<typeof run>[1], args: object) =>
  pieces((await run(c, tool, args)).text)
const whole = async (c: Project, tool: Parameters<typeof run>[1], args: object) => [(await run(c, tool, args)).text]

/** The lines of a text, with the heading and what is indented below. */
function pieces(text: string): string[] {
  let heading = ''
  const all: string[] = []
  for (const line of text.split('\n')) {
    if (/^#{1,3} |^\S.*:$/.test(line)) heading = line
    if (/^\s+\S/.test(line) && all.length > 0) all[all.length - 1] += `\n${line}`
    else all.push(`${heading}\n${line}`)
  }
  return all
}

function json(answer: { json: unknown }, path = ''): string[] {
  const at = path.split('.').filter(Boolean).reduce((v, key) => (v as Record<string, unknown>)[key], answer.json) // biome-ignore format: one row
  return (at as unknown[]).map((item) => JSON.stringify(item))
}

async function resource(c: Project, uri: string): Promise<string> {
  const server = buildMcpServer({
    era: 'legacy',
    asks: false,
    tools: [],
    resolve: async () => ({ memory: c.memory, project: c.project, by: 'agent' }) as never,
  })
  const { Client } = await import('@modelcontextprotocol/client')
  const { InMemoryTransport } = await import('@modelcontextprotocol/server')
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  await Promise.all([server.connect(there), client.connect(here)])
  const { contents } = await client.readResource({ uri })
  await client.close()
  return String((contents[0] as { text?: string }).text)
}

const exported = (c: Project, name: string): string =>
  String(
    (EXPORTERS.find((e) => e.name === name)!.write as (m: unknown, o: object) => unknown)(c.memory, { command: '' }),
  )

/** `decisions.md` and exports last longer than a look at the code; the log says what was decided when. */
const UNMARKED: Record<string, readonly State[]> = {
  views: ['others', 'stale', 'replaced', 'failed', 'apart'],
  'export markdown': ['stale', 'apart'],
}

test.each(Object.keys(CHANNELS))(
  '[W1] [W3] [E4] %s: what holds, is proposed, of others, stale, failed, replaced, of another branch or old is told as that, or left out',
  async (channel) => {
    const said = await CHANNELS[channel]!(await project())
    const told: string[] = []
    for (const state of Object.keys(STATES) as State[]) {
      const { word, beside } = STATES[state]
      const pieces = said.filter((piece) => piece.toLowerCase().includes(word))
      if (pieces.length > 0) told.push(state)
      if (!UNMARKED[channel]?.includes(state)) for (const piece of pieces) expect(piece, state).toMatch(beside)
    }
    expect(TABLE.get(channel)).toBe(told.join(', ') || 'nothing')
  },
)

/** The table of the page: what each channel tells of. */
const TABLE = new Map(
  readFileSync(join(import.meta.dirname, '../../docs/told.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, channel = '', tells = ''] = line.split('|').map((cell) => cell.trim())
      return Object.hasOwn(CHANNELS, channel) ? [[channel, tells] as const] : []
    }),
)

/** What lists only what is stale or waits, and so says why. */
const QUEUES = [
  'src/find/recall/told.ts',
  'src/session/briefing/brief.ts', // hands it on to told.ts
  'src/session/briefing/sections/news.ts', // who changed it, not who said it
  'src/surfaces/tools/history.ts', // what happened, not what holds
  'src/surfaces/tools/retro.ts',
  'src/surfaces/tools/review-walk.ts',
  'src/surfaces/tools/review.ts',
]

test('[W1] no channel formats standing or staleness by itself', () => {
  const root = join(import.meta.dirname, '../../src')
  const forms = /\bmarkOf\(|superseded by \$|, unverified'|check first/
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (f) => /(?<!\.test)\.ts$/.test(f) && forms.test(readFileSync(join(root, f), 'utf8')),
  )
  expect(found.map((f) => `src/${f.replaceAll('\\', '/')}`).sort()).toEqual(QUEUES)
})
