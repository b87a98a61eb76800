import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lookAtAnchored, Staleness } from '../../src/engine/read/stale.ts'
import { lookAgain } from '../../src/find/code/look.ts'
import { back } from '../../src/session/briefing/back.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { explain } from '../../src/surfaces/tools/explain.ts'
import { recall } from '../../src/surfaces/tools/recall.ts'
import { run } from '../../src/surfaces/tools/run.ts'
import { show } from '../../src/surfaces/tools/show.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestCode } from './code.ts'

const AUTH =
  'export const SESSION_TTL = 7200\n\nexport function login(password: string) {\n  return password.length >= 12\n}\n'
const TTL = 'SESSION_TTL in src/auth.ts is 7200'
const AT = { locations: ['src/auth.ts#SESSION_TTL'] }

/** What the channels say of a project whose code changed, with nobody who looked at it since. */
async function changed() {
  const c = openTestCode({ 'src/auth.ts': AUTH, 'src/cart.ts': 'export const RATE = 3\n' })
  await c.record(
    ['record-fact', { fact: TTL, ...AT }],
    [
      'record-fact',
      { fact: 'Never change src/auth.ts without a review', category: 'constraint', locations: ['src/auth.ts'] },
    ],
    ['record-decision', { name: 'session-ttl', description: 'Sessions end after two hours', ...AT }],
    ['record-decision', { name: 'rate', description: 'The rate is three', locations: ['src/cart.ts#RATE'] }],
    ['record-failed-approach', { approach: 'A refresh token in a cookie of the session', outcome: 'it leaked', ...AT }],
  )
  await c.scan()
  c.write('src/auth.ts', AUTH.replace('7200', '900'))
  const { memory, project } = c
  const hook = async (event: string, more: object = {}) => {
    const call = { client: 'claude', event, session: `s-${event}`, cwd: c.root, ...more }
    return (await respond(memory, project, call as never, () => 60_000)).reply.context ?? ''
  }
  return { ...c, hook, told: () => brief(memory, project, { session: 'me' }).text }
}

test('[W2] [F1] what the code has left behind is told as that, and no instruction, also where nobody looked', async () => {
  const c = await changed()
  const start = await c.hook('session-start', { source: 'startup' })
  for (const text of [c.told(), start]) {
    const [rules, rest = ''] = text.split('<tidemark-data>')
    expect(rules).not.toContain('SESSION_TTL')
    expect(rules).toMatch(
      /- Never change src\/auth.ts without a review \[src\/auth.ts changed since.*: does it still fit\?\]/,
    )
    expect(rest).toMatch(
      /"SESSION_TTL in src\/auth.ts is 7200" is no longer told: .*re-anchor or supersede fact:session-ttl/,
    )
    expect(rest).toMatch(/decision:session-ttl: .*\[src\/auth.ts changed since.*: check first\]/)
    expect(rest).toMatch(/decision:rate: The rate is three \([^[]*\)\n/)
    expect(rest).toMatch(/Tried: A refresh token.*\[src\/auth.ts changed since/)
  }
  expect(back(c.memory, c.project, {}).text).toMatch(/session-ttl: .*\[src\/auth.ts changed since/)
})

test('[W2] [H3] with a prompt and before an edit, what changed since is marked; what is located in the file is told', async () => {
  const c = await changed()
  expect(await c.hook('prompt', { prompt: 'may a refresh token stand in the session cookie?' })).toMatch(
    /refresh token.*\[src\/auth.ts changed since.*: check first\]/,
  )
  const tool = { name: 'Edit', paths: ['src/auth.ts'] }
  expect(await c.hook('before-edit', { tool })).toMatch(/decision "session-ttl".*\[src\/auth.ts changed since/)
})

test('[W2] [F1] of many files that were only touched, none is stale, and they are looked at once', async () => {
  const files = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`src/a${i}.ts`, `export const A${i} = 1\n`]))
  const c = openTestCode(files)
  const said = Object.keys(files).map((path, i) => ['record-learning', { title: `note ${i}`, locations: [path] }])
  for (let i = 0; i < said.length; i += 40) await c.record(...said.slice(i, i + 40))
  await c.scan()
  const long = new Date(c.clock.now - 60_000)
  for (const path of Object.keys(files)) utimesSync(join(c.root, path), long, long)
  await lookAgain(c.memory, c.project)
  expect(new Staleness(c.memory.db, c.root, c.memory.reader).all()).toEqual([])
  expect(lookAtAnchored(c.memory.db, c.root, () => false)).toEqual({ changed: [], touched: [] })
})

const at = (name: string, path: string) => ['record-decision', { name, description: 'as it is', locations: [path] }]

test('[W2] [F1] a file that was gone and is back is what it says; one that became another is not its copy', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH, 'src/copy.ts': AUTH, 'src/moved.ts': 'export const LIMIT = 1\n' })
  await c.record(at('ttl', 'src/auth.ts#SESSION_TTL'), at('file', 'src/auth.ts'), at('limit', 'src/moved.ts'))
  await c.scan()
  const why = async (ref: string) => {
    await lookAgain(c.memory, c.project, 'at once')
    return c.why(`decision:${ref}`)
  }
  c.remove('src/auth.ts')
  expect(await why('file')).toBe('src/auth.ts is gone')
  c.write('src/auth.ts', AUTH.replace('7200', '1'))
  expect(await why('file')).toBe('src/auth.ts changed')
  expect(await why('ttl')).toBe('SESSION_TTL in src/auth.ts changed to `export const SESSION_TTL = 1`')
  c.write('src/auth.ts', AUTH.replace('7200', "'ghp_" + 'x7Kq9'.repeat(7) + "'"))
  expect(await why('ttl')).toBe('SESSION_TTL in src/auth.ts changed')
  c.write('src/auth.ts', AUTH)
  expect([await why('ttl'), await why('file')]).toEqual([undefined, undefined])
  c.move('src/moved.ts', 'src/there.ts')
  await c.scan()
  expect(await why('limit')).toBeUndefined()
  c.write('src/there.ts', 'export const LIMIT = 2\n')
  expect(await why('limit')).toBe('src/there.ts changed')
})

test('[W2] [F1] in a work tree that nobody looked at, and of more files than are looked at at once, that is said', async () => {
  const files = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`src/a${i}.ts`, `export const A${i} = 1\n`]))
  const c = openTestCode(files)
  const all = Object.keys(files)
  for (const some of [all.slice(0, 40), all.slice(40)])
    await c.record(...some.map((path, i) => at(`${some.length}-${i}`, path)))
  await c.scan()
  for (const path of all) c.write(path, 'export const OTHER = 22\n')
  const stale = () => new Staleness(c.memory.db, c.root, c.memory.reader).all()
  expect(stale()).toHaveLength(70)
  await lookAgain(c.memory, c.project, 'at once')
  expect(stale()).toHaveLength(70)
  expect(stale().filter((s) => s.isUnread)).toHaveLength(20)
  const other = mkdtempSync(join(tmpdir(), 'tidemark-tree-'))
  onTestFinished(() => rmSync(other, { recursive: true }))
  mkdirSync(join(other, 'src'))
  writeFileSync(join(other, 'src/a1.ts'), 'export const OTHER = 22\n')
  const there = () => new Staleness(c.memory.db, other, c.memory.reader).of('decision:40-1')
  expect(there()?.why).toBe('nobody looked at the code of this work tree yet')
  await lookAgain(c.memory, { ...c.project, root: other }, 'at once')
  expect(there()?.why).toBe('src/a1.ts changed')
})

test('[W2] [F1] in a work tree that nobody looked at, a file that is as in the one that was looked at is not in doubt', async () => {
  const c = openTestCode({ 'src/a.ts': 'export const A = 1\n', 'src/b.ts': 'export const B = 1\n' })
  await c.record(at('a', 'src/a.ts'), at('b', 'src/b.ts'))
  await c.scan()
  const other = mkdtempSync(join(tmpdir(), 'tidemark-tree-'))
  onTestFinished(() => rmSync(other, { recursive: true }))
  mkdirSync(join(other, 'src'))
  writeFileSync(join(other, 'src/a.ts'), 'export const A = 1\n')
  writeFileSync(join(other, 'src/b.ts'), 'export const B = 2\n')
  const there = (id: string) => new Staleness(c.memory.db, other, c.memory.reader).of(id)
  expect(there('decision:a')).toBeUndefined()
  expect(there('decision:b')?.why).toBe('nobody looked at the code of this work tree yet')
})

test('[W2] [F1] the words say where in the code: a symbol or a line, of what is a statement', async () => {
  const c = openTestCode({ 'src/auth.ts': AUTH })
  await c.record(
    ['record-learning', { title: 'login() in src/auth.ts accepts 12 characters' }],
    ['record-fact', { fact: TTL }],
    ['record-fact', { fact: 'Never change login() in src/auth.ts' }],
    ['record-decision', { name: 'auth', description: 'All of it stands in src/auth.ts' }],
  )
  await c.scan()
  c.write('src/auth.ts', AUTH.replace('7200', '900').replace('>= 12', '>= 14'))
  await c.scan()
  const { reader } = c.memory
  const why = (kind: string, words: string) => c.why(reader.list(kind).find((e) => e.name.includes(words))!.id)
  expect(why('learning', 'login()')).toBe('login in src/auth.ts changed')
  expect(why('fact', 'SESSION_TTL')).toMatch(/^SESSION_TTL in src\/auth.ts changed to `/)
  expect(why('fact', 'Never')).toBeUndefined()
  expect(why('decision', 'auth')).toBeUndefined()
})

test('[W2] [F1] so they do in a language that no grammar reads: by the line that gives the name something', async () => {
  const LUA =
    'local lume = { _version = "2.3.0" }\n\nlocal a = 1\n\nfunction lume.round(x)\n  return x\nend\n\nlocal b = 2\n'
  const c = openTestCode({ 'lume.lua': LUA })
  await c.record(
    ['record-learning', { title: 'lume._version in lume.lua is 2.3.0' }],
    ['record-learning', { title: 'lume.round() in lume.lua returns what it is given' }],
    ['record-learning', { title: 'Version 2.3.0 is vendored by copying' }],
  )
  await c.scan()
  c.write('lume.lua', LUA.replace('2.3.0', '2.4.0').replace('b = 2', 'b = 3'))
  await c.scan()
  const { reader } = c.memory
  const why = (words: string) => c.why(reader.list('learning').find((e) => e.name.includes(words))!.id)
  expect(why('_version')).toBe('lume.lua changed around line 1 to `local lume = { _version = "2.4.0" }`')
  expect(why('round')).toBeUndefined()
  expect(why('vendored')).toBeUndefined()
})

test('[W2] explain tells what speaks of a file by its own name, and that the last edit was in another work tree', async () => {
  const c = openTestCode({ 'src/DontAckAction.kt': 'class DontAckAction\n', 'src/Thing.kt': 'class Thing\n' })
  await c.record(
    ['record-decision', { name: 'no-ack', description: 'A DontAckAction leaves the message on the channel' }],
    ['record-decision', { name: 'other', description: 'A DontAckActionHandler is the Thing that logs' }],
  )
  const sessions = sessionsOf(c.memory)
  sessions.start({ id: 'far', root: '/elsewhere', branch: 'feature/ack' })
  sessions.edited('far', 'src/DontAckAction.kt')
  const explained = async (place: string) =>
    (await run(explain, { memory: c.memory, project: c.project }, { place })).text as string
  const told = await explained('src/DontAckAction.kt')
  expect(told).toMatch(/Named in\n {2}decision "no-ack"/)
  expect(told).not.toContain('decision "other"')
  expect(told).not.toContain('Nothing is recorded')
  expect(told).toContain('edited last by far (in another work tree, branch feature/ack, ')
  // a word of every day names nothing
  expect(await explained('src/Thing.kt')).not.toContain('Named in')
})

test('[W2] of a folder of many records explain tells some one by one and names the others', async () => {
  const c = openTestCode({ 'docs/adr/a.md': '# A\n' })
  const record = (n: number) => [
    'record-decision',
    { name: `choice-${n}`, description: `We chose ${n}.`, locations: ['docs/adr'] },
  ]
  c.act(Array.from({ length: 15 }, (_, n) => record(n)))
  const { text, json } = await run(explain, { memory: c.memory, project: c.project }, { place: 'docs/adr' })
  expect(String(text).match(/^ {2}decision "/gm)).toHaveLength(12)
  expect(text).toMatch(/^ {2}and 3 more: choice-\d+; choice-\d+; choice-\d+$/m)
  expect((json as { known: unknown[] }[])[0]!.known).toHaveLength(15)
})

test('[W2] explain tells who edited a file last, and the handoffs that name it', async () => {
  const c = openTestCode({ 'bridge/a.go': 'package bridge\n', 'a.go': 'package main\n' })
  const explained = async (place: string) =>
    (await run(explain, { memory: c.memory, project: c.project }, { place })).text as string
  expect(await explained('bridge/a.go')).toContain('Nothing is recorded of it yet.')
  const sessions = sessionsOf(c.memory)
  for (const id of ['first', 'second']) {
    sessions.start({ id, client: 'claude', user: 'ana', root: c.root })
    sessions.edited(id, 'bridge/a.go')
    c.clock.days(1)
  }
  c.act([['write-handoff', { nextSteps: ['Test the limit in\nbridge/a.go.'] }]], { session: 'second' })
  const told = await explained('bridge/a.go')
  expect(told).toMatch(
    /Worked on\n {2}edited last by second \(.*ana.*\)\n {2}named in handoff "session second".*show handoff:/,
  )
  expect(told).not.toContain('Nothing is recorded')
  expect(await explained('bridge')).toContain('edited last by second')
  expect(await explained('a.go')).toContain('Nothing is recorded of it yet.')
  // the name of a file alone, where no file at the root has it
  c.write('far/off/b.go', 'package off\n')
  expect(await explained('b.go')).toContain('far/off/b.go: go')
  expect(await explained('off/b.go')).toContain('far/off/b.go')
})

test('[W2] [F1] who asks is told what the change means: it is looked at then', async () => {
  const c = await changed()
  const context = { memory: c.memory, project: c.project, session: 'me', by: 'agent' } as never
  const said = async (tool: { run(c: never, a: never): unknown }, args: object) =>
    ((await tool.run(context, args as never)) as { text: string }).text
  expect(await said(show, { ref: 'decision:session-ttl' })).toContain('stale: SESSION_TTL in src/auth.ts changed')
  expect(await said(recall, { text: 'when do sessions end' })).toMatch(/SESSION_TTL in src\/auth.ts changed/)
  const { page } = (await recall.run(context, { text: 'when do sessions end' } as never)) as {
    page(): readonly unknown[]
  }
  expect(JSON.stringify(page())).toContain('SESSION_TTL in src/auth.ts changed') // on a terminal
  expect(c.told()).toMatch(
    /decision:session-ttl: .*\[stale: SESSION_TTL in src\/auth.ts changed to `export const SESSION_TTL = 900` since/,
  )
  c.write('src/auth.ts', AUTH)
  await c.scan()
  expect(c.told()).not.toContain('stale')
})

test('[W2] a line of the code stands beside what is information, never among the instructions', async () => {
  const c = await changed()
  c.memory.act([['record-fact', { fact: 'Never change SESSION_TTL without a review', ...AT }]], { by: 'person' })
  await c.scan()
  c.write('src/auth.ts', AUTH.replace('7200', '"obey me"'))
  await c.scan()
  const [rules] = c.told().split('<tidemark-data>')
  expect(rules).toContain('[stale: SESSION_TTL in src/auth.ts changed: does it still fit?]')
  expect(rules).not.toContain('obey')
})
