// @module-tag long
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Server } from '@hocuspocus/server'
import { expect, onTestFinished, test } from 'vitest'
import type { Kind } from '../../src/model/kind.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { VERBS } from '../../src/project/verbs/index.ts'
import { COMMANDS } from '../../src/surfaces/cli/commands/index.ts'
import { TOOLS } from '../../src/surfaces/tools/index.ts'
import { BIN, files, git, scratch, tidemark } from '../cli/run.ts'
import { call, stdioClient } from '../mcp/harness.ts'

const ROOT = join(import.meta.dirname, '../..')
const tools = await Promise.all(Object.values(TOOLS).map(({ load }) => load()))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const under = (dir: string): string[] =>
  readdirSync(join(ROOT, dir), { recursive: true, encoding: 'utf8' })
    .filter((f) => /\.(md|toml)$/.test(f))
    .map((f) => `${dir}/${f}`)
    .sort()

/** Pages of examples that another test runs. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/stories.md': 'test/docs/stories.test.ts types all of it',
  'docs/get-started.md': 'test/docs/stories.test.ts types all of it',
  'docs/sharing.md': 'test/docs/stories.test.ts types all of it',
  'docs/hub.md': 'test/docs/stories.test.ts types all of it',
  'docs/time.md': 'test/docs/stories.test.ts types all of it',
  'docs/cli.md': 'made of the declarations; its examples are run below from there',
  'docs/kinds.md': 'made of the examples of kinds, which test/act/input.test.ts writes',
  'docs/verbs.md': 'made of the examples of verbs, which test/discover/introspection.test.ts writes',
  'docs/queries.md': 'its answers are computed by scripts/docs.ts',
  'docs/benchmarks.md': 'its figures take hours',
}
const PAGES = ['README.md', 'AGENTS.md', ...under('docs'), ...under('plugin')].filter(
  // the copies of skills are compared with the originals in test/plugin.test.ts
  (page) => !(page in ELSEWHERE) && !/(portable|gemini)\/skills/.test(page),
)

/** What is not run here, and why. */
const NOT_RUN: readonly (readonly [start: string, why: string])[] = [
  ['tidemark maturity promote', 'needs evidence and a person: test/evolution/maturity.test.ts'],
  ['tidemark mcp', 'serves until its input ends: the last tests of this file'],
  ['tidemark serve', 'serves until it is stopped: docs/stories.md, Team 6'],
  ['tidemark hub', 'serves until it is stopped: test/hub'],
  ['tidemark join', 'needs a hub: test/hub/join.test.ts'],
  ['tidemark events --follow', 'follows until it is stopped: test/share/processes.test.ts'],
  ['tidemark hook', 'reads what a client sends: test/hooks'],
  ['tidemark models add', 'downloads, or asks a person: test/cli/models.test.ts'],
  ['tidemark models remove', 'after models add'],
  ['tidemark bench', 'takes data sets: test/cli/bench.test.ts'],
  ['tidemark demo', 'takes half a minute: test/cli/cli.test.ts'],
  ['tidemark init --with', 'needs a repository inside another: test/store/nested.test.ts'],
  ['tidemark init --from', 'needs what uninstall kept: test/cli/uninstall.test.ts'],
  ['tidemark edit', 'opens an editor: test/cli/person.test.ts'],
  ['EDITOR=', 'opens an editor: test/cli/person.test.ts'],
  ['tidemark uninstall --delete-knowledge', 'asks a person: test/cli/uninstall.test.ts'],
  ['tidemark rules confirm', 'asks a person: test/evolution/rules.test.ts'],
  ['tidemark mutation', 'asks a person, or needs a proposal: test/evolution'],
  ['tidemark adopt', 'needs the store of somebody else: test/store/owner.test.ts'],
  ['npm ', 'this test is run by it'],
  ['cd ', 'the directory is there'],
  ['claude ', 'changes the clients of this machine: test/e2e/plugin.test.ts'],
  ['codex ', 'changes the clients of this machine: test/e2e/plugin.test.ts'],
  ['gemini ', 'changes the clients of this machine: test/e2e/plugin.test.ts'],
  ['copilot ', 'changes the clients of this machine: test/e2e/plugin.test.ts'],
  ['curl ', 'docs/stories.md, Team 6'],
  ['node ', 'scripts and benchmarks of this repository'],
]

/** What an example leaves to its reader. */
const FILLED: readonly (readonly [RegExp, string])[] = [
  [/ 2>&1$/, ''],
  [/ ([a-z-]+(?:\|[a-z-]+)+)$/, ' claude-md docs/CLAUDE.md'],
  [/FILE\|-/, '-'],
  [/\[ITEM\] \[--path A\.B\]/, 'left'],
  [/task assign REF/, 'task assign third'],
  [/--(task|ref) REF/, '--$1 second'],
  [/\bREF\b/, 'use-sqlite'],
  [/\bOLD NEW\b/, 'use-json use-sqlite'],
  [/\bA B\b/, 'use-json use-sqlite'],
  [/\bQUESTION\b/, '"Which port?"'],
  [/(append|merge|set|get|history|delete) KEY/, '$1 key-$1'],
  [/append (\S+) JSON/, 'append $1 1'],
  [/\bJSON\b/, `'{"left": 1}'`],
  [/PATH…/, 'src/auth'],
  [/\bTIME\b/, '2020-01-01'],
  [/--session ID/, '--session me'],
  [/\bTEXT\b/, 'words'],
  [/ …$/, ''],
]

/** What is given on standard input. */
const READ: readonly (readonly [start: string, text: string])[] = [
  ['tidemark act', '[["record-learning", {"title": "it reads"}]]'],
  ['tidemark handoff write', '## Next Steps\n- go on\n'],
  ['tidemark review -', 'reject fact:always-use-tabs\n'],
]

interface Example {
  readonly page: string
  readonly text: string
}

const fences = (page: string, kind: string): Example[] =>
  [...read(page).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === kind)
    .map(([, , text]) => ({ page, text: text! }))

/** What stands between backticks in running text, and in a client's command between `!{` and `}`. */
const inline = (page: string): Example[] =>
  [
    ...read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/`([^`]+)`|!\{([^}]+)\}/g),
  ].map(([, ticked, command]) => ({ page, text: (ticked ?? command!).replaceAll(/\s+/g, ' ').trim() }))

/** A project that holds what examples speak of, and a shell in it. */
async function prepared() {
  const at = scratch()
  const bin = join(at.home, 'bin')
  mkdirSync(bin)
  symlinkSync(BIN, join(bin, 'tidemark'))
  const env = { ...at.env, PATH: `${bin}:${at.env.PATH}` }
  git(at.dir, 'init', '-q')
  files(at.dir, {
    '.github/instructions/ci.instructions.md': '',
    'docs/CLAUDE.md': '- Always use pnpm\n',
    'src/auth/token.ts': '',
  })
  await tidemark({ dir: at.dir, env }, ['init', '--yes', '--no-import', '--client', 'none'])
  const known = [
    ['record-decision', { name: 'use-sqlite', rationale: 'one file' }],
    ['record-decision', { name: 'use-json', rationale: 'simple' }],
    ['record-decision', { name: 'json-files', rationale: 'simple' }],
    ['propose', { action: ['record-fact', { fact: 'Always use tabs' }] }],
    ['record-question', { question: 'Which port?' }],
    ['record-learning', { title: 'words' }],
    ['share-set', { key: 'key-get', value: 1 }],
    ['share-set', { key: 'key-history', value: 1 }],
    ['share-set', { key: 'key-delete', value: { left: 1 } }],
  ]
  await tidemark({ dir: at.dir, env }, ['act', JSON.stringify(known)])
  for (const session of ['me', 's1'])
    await tidemark({ dir: at.dir, env }, ['session', 'start', session, '--client', 'cli'])
  for (const task of ['first', 'second', 'third']) await tidemark({ dir: at.dir, env }, ['task', 'add', task])
  /** One command, with an answer that is no error on standard input. */
  const run = (command: string) =>
    new Promise<{ code: number; out: string }>((resolve) => {
      const child = spawn('bash', ['-c', command], {
        cwd: at.dir,
        env: { ...env, TIDEMARK_SESSION: 'me' },
        timeout: 20_000,
      })
      onTestFinished(() => void child.kill())
      let out = ''
      child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
      child.stderr.setEncoding('utf8').on('data', (text) => (out += text))
      child.on('close', (code) => resolve({ code: code ?? -1, out }))
      child.stdin.on('error', () => {}).end(READ.find(([start]) => command.startsWith(start))?.[1] ?? '')
    })
  return { dir: at.dir, env, run }
}

/** Whether a command alone is wrong use. */
const needs = (name: string): boolean =>
  Object.values(tools.find((tool) => tool.name === name)?.params ?? {}).some(({ required }) => required === true)

const helpExamples = [...read('docs/cli.md').matchAll(/^example:\n {2}(.*)$/gm)].map(([, example]) => example!)

const commands = PAGES.flatMap((page) => [
  ...inline(page).filter(({ text }) => /^tidemark [a-z]/.test(text)),
  ...fences(page, 'sh').flatMap(({ text }) =>
    text
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => ({ page, text: line.replace(/ +# .*$/, '').trim() }))
      .filter((line) => line.text !== ''),
  ),
])

test('every command that the pages name is run, but for those of the list', { timeout: 240_000 }, async () => {
  const { run } = await prepared()
  const todo = new Map(
    commands.map(({ page, text }) => [FILLED.reduce((t, [what, by]) => t.replace(what, by), text), page]),
  )
  const last = (command: string) => (/--erase|--compact|init/.test(command) ? 1 : /uninstall/.test(command) ? 2 : 0)
  const failed: string[] = []
  for (const [command, page] of [...todo].sort(([a], [b]) => last(a) - last(b))) {
    if (NOT_RUN.some(([start]) => command.startsWith(start))) continue
    const bare = /^tidemark ([a-z]+)$/.exec(command)?.[1]
    // the name of a command that takes something is no example of it
    const asked = bare && needs(bare) ? `${command} --help` : command
    const { code, out } = command.includes('…') ? { code: 0, out: '' } : await run(asked)
    if (code !== 0) failed.push(`${page}: ${asked}\n${out}`)
  }
  expect(failed.join('\n')).toBe('')
})

test('the examples of --help are commands that can be given', { timeout: 240_000 }, async () => {
  const { run } = await prepared()
  const failed: string[] = []
  for (const example of helpExamples) {
    if (NOT_RUN.some(([start]) => example.startsWith(start))) continue
    const { code, out } = await run(example)
    // a thing that an example names need not be here; but its words are understood
    if (code === 2 || code < 0) failed.push(`${example}\n${out}`)
  }
  expect(failed.join('\n')).toBe('')
})

test('the list of what is not run names nothing that is gone', () => {
  const all = [...commands.map((c) => c.text), ...PAGES.flatMap(inline).map((e) => e.text), ...helpExamples]
  expect(
    NOT_RUN.filter(([start]) => !all.some((text) => text.startsWith(start.trim()))).map(([start]) => start),
  ).toEqual([])
})

test('every query that the pages name is answered', async () => {
  const { dir, env } = await prepared()
  const client = await stdioClient(dir, { env: env as Record<string, string>, command: [BIN, 'mcp'] })
  const queries = PAGES.flatMap(inline).filter(({ text }) => /^\([a-z@:].*\)$/.test(text) && !text.includes('…'))
  expect(queries.length).toBeGreaterThan(8)
  for (const { page, text } of queries) {
    const { text: answer } = await call(client, 'discover', { expr: text })
    expect(answer.startsWith('(error') ? `${page}: ${text} ${answer}` : '').toBe('')
  }
})

test('every tool call and batch that plugin, docs and README show is taken by the server', async () => {
  const { dir, env } = await prepared()
  const client = await stdioClient(dir, { env: env as Record<string, string>, command: [BIN, 'mcp'] })
  await tidemark({ dir, env }, ['session', 'start', 'SESSION'])
  let calls = 0
  for (const page of PAGES)
    for (const { text } of [...fences(page, 'json'), ...inline(page)]) {
      const [, tool = 'act', json] =
        /^([a-z_]+) (\{[\s\S]*\})$/.exec(text) ?? (/^\[\s*\[/.test(text) ? ['', 'act', text] : [])
      if (!json || /…|XXX/.test(json)) continue
      // what is released by one example is handed over by the next
      if (json.includes('hand-over')) await call(client, 'act', { actions: [['claim', { paths: ['src/auth/**'] }]] })
      const input = JSON.parse(json)
      const { text: answer, isError } = await call(client, tool, Array.isArray(input) ? { actions: input } : input)
      expect(isError ? `${page}: ${text}\n${answer}` : '').toBe('')
      calls++
    }
  expect(calls).toBeGreaterThan(6)
})

test('all JSON of the pages is JSON, and every configuration starts `tidemark mcp`', async () => {
  const shown = PAGES.flatMap((page) => [...fences(page, 'json'), ...fences(page, 'toml')])
  const starts = shown.filter(({ text }) => text.includes('mcp'))
  for (const { text } of PAGES.flatMap((page) => fences(page, 'json'))) JSON.parse(text)
  for (const { text } of starts) expect(text.replaceAll(/[\s"[\]]/g, '')).toMatch(/command[=:]tidemark,?(args[=:])?mcp/)
  expect(starts.length).toBeGreaterThan(5)
})

test('the TypeScript of the pages runs as it stands, beside a stock server of Yjs', async () => {
  const { dir, run } = await prepared()
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(ROOT, join(dir, 'node_modules', 'tidemark'))
  for (const name of ['yjs', '@hocuspocus'])
    symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name))
  const server = new Server({ port: 0, address: '127.0.0.1', quiet: true, stopOnSignals: false })
  await server.listen()
  onTestFinished(() => server.destroy())
  const answers: string[] = []
  for (const page of PAGES)
    for (const { text } of fences(page, 'ts')) {
      writeFileSync(join(dir, 'example.ts'), text.replace('127.0.0.1:1234', server.URL))
      const { code, out } = await run('node example.ts')
      expect([page, code, out.replace(/\d+/, 'N')]).toEqual([
        page,
        0,
        page.endsWith('moving.md') ? 'N entities are shared\n' : '',
      ])
      answers.push(page)
    }
  expect(answers).toEqual(['docs/moving.md', 'docs/shared-context.md'])
})

test('a skill names tools, their parameters, verbs and kinds as they are called', () => {
  const names = new Set<string>([
    ...tools.flatMap((t) => [t.name, ...Object.keys(t.params)]),
    ...Object.keys(COMMANDS),
    ...VERBS.map((v) => v.name),
    ...(KINDS as readonly Kind[]).flatMap((k) => [k.name, `record-${k.name}`, ...(k.aliases ?? [])]),
    ...readdirSync(join(ROOT, 'plugin/skills')),
    'tidemark',
  ])
  for (const page of PAGES.filter((p) => p.startsWith('plugin/') && p !== 'plugin/README.md'))
    for (const { text } of inline(page))
      if (/^[a-z_-]+$/.test(text)) expect([page, names.has(text) ? '' : text]).toEqual([page, ''])
})

test('an agent is told to follow rules, and to leave open questions alone until they matter', () => {
  const skill = read('plugin/skills/recall/SKILL.md').replaceAll(/\s+/g, ' ')
  expect(skill).toContain('Project rules in the briefing are authoritative: follow them like CLAUDE.md.')
  expect(skill).toContain('Ask for open questions only when the conversation naturally touches on an unresolved area')
})
