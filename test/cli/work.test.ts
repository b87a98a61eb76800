import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openMemory } from '../../src/surfaces/library.ts'
import { call, stdioClient } from '../mcp/harness.ts'
import { files, git, inProcess, project } from './run.ts'

test('goal, activity and task: started, drawn, completed, and next says what comes then', async () => {
  const { at, run } = await project()
  const s1 = ['--session', 's1']
  expect(await run('goal', 'start', 'Add', 'OAuth', 'login', ...s1)).toMatch(
    /^started goal Add OAuth login {2}#[a-f][0-9a-f]{2,}\n$/,
  )
  await run('activity', 'start', 'token', 'handling', '--component', 'auth', ...s1)
  await run('task', 'add', 'rotate keys', ...s1)
  await run('task', 'start', 'refresh tokens', ...s1)
  await run('task', 'add', 'deploy', '--blocked-by', 'rotate keys, refresh tokens', ...s1)
  expect(await run('tree', ...s1)).toBe(
    `○ Add OAuth login
└─ ○ token handling
   ├─ ○ rotate keys
   ├─ ○ refresh tokens ← current
   └─ ○ deploy (blocked by "rotate keys", "refresh tokens")
`,
  )
  expect(await run('tree', '--session', 's2')).not.toContain('current')

  await run('act', '[["record-decision", {"name": "d"}]]', ...s1)
  const current = JSON.parse(await run('task', 'list', '--json', ...s1)) as { id: string; current?: boolean }[]
  const task = current.find((t) => t.current)!
  expect(JSON.parse(await run('discover', '(:task (get-decision "d"))'))).toBe(task.id)

  const early = await inProcess(at, ['goal', 'complete', ...s1])
  expect(early.code).toBe(1)
  for (const name of ['rotate keys', 'refresh tokens', 'deploy', '--force']) expect(early.err).toContain(name)

  await run('task', 'complete', '--result', 'a minute ahead', ...s1)
  expect(await run('next', ...s1)).toMatch(
    /^rotate keys \(in activity "token handling"\)\n {2}tidemark task start --ref task:/,
  )
  await run('task', 'start', '--ref', 'rotate keys', ...s1)
  expect(await run('next', ...s1)).toBe(
    'every open task in goal "Add OAuth login" is blocked\n  "deploy" by "rotate keys"\n',
  )
  expect(JSON.parse(await run('next', '--json', ...s1))).toMatchObject({ task: null, blocked: [{ name: 'deploy' }] })
  await run('task', 'abandon', '--reason', 'the provider does it', ...s1)
  expect(JSON.parse(await run('next', '--json', ...s1))).toMatchObject({ task: { name: 'deploy', state: 'open' } })
  await run('task', 'complete', 'deploy', ...s1)
  await run('goal', 'complete', '--result', 'login works', ...s1)
  expect(await run('tree', ...s1)).toBe('no work is open\n… 1 closed: --all shows it\n')
  expect(await run('tree', 'Add OAuth login')).toContain('✗ rotate keys (the provider does it)')
  expect(JSON.parse(await run('goal', 'list', '--all', '--json'))).toMatchObject([
    { state: 'complete', result: 'login works' },
  ])
})

test('next says why there is none, within the current goal, and that there is work elsewhere', async () => {
  const { run } = await project()
  expect(await run('tree')).toBe('no work is recorded yet: `tidemark goal start "…"` starts a goal\n')
  expect(await run('next')).toBe('no task is open\n')
  await run('goal', 'start', 'One', '--session', 'a')
  await run('task', 'add', 'of one', '--session', 'a')
  await run('goal', 'start', 'Two', '--session', 'b')
  await run('task', 'start', 'of two', '--session', 'b')
  expect(await run('next', '--session', 'b')).toBe(
    'no other task is open in goal "Two": "of two" is the session\'s current one\n  1 elsewhere: tidemark next --all\n',
  )
  expect(await run('next', '--all', '--session', 'b')).toMatch(/^of one /)
  expect(await run('next', '--goal', 'One', '--session', 'b')).toMatch(/^of one /)
})

test('references that are missing, and references to other kinds are refused with what would do', async () => {
  const { at, run } = await project()
  await run('goal', 'start', 'One', '--session', 'a')
  for (const [args, told] of [
    [['task', 'complete'], 'no current task'],
    [['task', 'complete', 'One'], 'goal:one is a goal, not a task'],
    [['goal', 'abandon', 'One'], 'reason'],
    [['tree', 'Onne'], 'did you mean "One" (goal:one)?'],
  ] as const) {
    const ran = await inProcess(at, args)
    expect([args, ran.code]).toEqual([args, 1])
    expect(ran.err).toContain(told)
  }
})

test('[X6] next says first what the session was given, though an older task is free; to start it makes no second claim', async () => {
  const { run } = await project()
  await run('session', 'start', 'b', '--role', 'implementer')
  await run('task', 'add', 'the old one')
  await run('task', 'add', 'the given one')
  await run('task', 'assign', 'the given one', '--role', 'implementer', '--session', 'lead')
  expect(await run('next', '--session', 'c')).toMatch(/^the old one/)
  expect(await run('next', '--session', 'b')).toMatch(/^the given one/)
  expect(await run('next', '--claim', '--session', 'b')).toMatch(/^the given one/)
  const { claims } = JSON.parse(await run('claims', '--json')) as { claims: object[] }
  expect(claims).toMatchObject([{ session: 'b', what: 'task', role: 'implementer' }])
})

test('[X6] in a sub-folder a path counts from there, else from the root where only that is there', async () => {
  const { at, run } = await project()
  files(at.dir, { 'apps/web/a.ts': 'export const one = 1\n', 'lib/b.ts': 'export const two = 2\n' })
  const sub = { ...at, dir: join(at.dir, 'apps/web') }
  for (const path of ['a.ts', 'lib/b.ts', 'apps/web/new.ts'])
    expect((await inProcess(sub, ['claim', path, '--session', 'a'])).code).toBe(0)
  const claims = JSON.parse(await run('claims', '--json')).claims.map((c: { on: string }) => c.on)
  expect(claims.sort()).toEqual(['apps/web/a.ts', 'apps/web/apps/web/new.ts', 'lib/b.ts'])
  expect((await inProcess(sub, ['explain', 'a.ts'])).out).toContain('apps/web/a.ts')
})

test('[X6] [E3] a file whose name ends like a part of one is claimed, edited and released as itself', async () => {
  const { at, run } = await project()
  files(at.dir, { 'src/page#main.ts': 'one\n', 'src/x:12': 'two\n', 'app/[id]/page.ts': 'export function load() {}\n' })
  const client = await stdioClient(at.dir, { env: at.env as Record<string, string> })
  const act = (session: string, ...actions: unknown[]) => call(client, 'act', { actions, session })
  const held = async () => JSON.parse(await run('claims', '--json')).claims.map((c: { on: string }) => c.on)
  for (const path of ['src/page#main.ts', 'src/x:12']) {
    expect(await run('claim', path, '--session', 'a')).toContain(`claimed ${path} for`)
    const edit = await act('b', ['claim', { paths: [path], implicit: true }])
    expect(edit.text).toContain(`${path} is claimed by a`)
    expect((await act('b', ['claim', { paths: ['src/page', 'src/x'] }], ['release', {}])).isError).toBe(false)
    expect((await act('b', ['claim', { paths: ['src'] }])).text).toContain(`${path} is claimed by a`)
    expect(await run('release', path, '--session', 'a')).toBe(`released ${path}\n`)
    expect((await act('b', ['claim', { paths: [path] }])).isError).toBe(false)
    expect((await inProcess(at, ['claim', path, '--session', 'a'])).err).toContain('is claimed by b')
    expect(await held()).toEqual([path])
    expect((await act('b', ['release', { paths: [path] }])).isError).toBe(false)
    // a hook claims a file before it is there
    const fresh = `new/${path}`
    await act('b', ['claim', { paths: [fresh], implicit: true }])
    expect((await act('a', ['claim', { paths: ['new/'] }])).text).toContain(`${fresh} is claimed by b`)
    await act('b', ['release', {}])
  }
  expect(await run('claim', 'app/[id]/page.ts#load', '--session', 'a')).toContain('claimed app/[id]/page.ts#load for')
})

test('[X6] [E3] a part is released in the words that claimed it, from the command line, over MCP and by the library', async () => {
  const { at, run } = await project()
  files(at.dir, { 'src/a.ts': 'export function f() {}\nexport class C {\n  m() {}\n}\n' })
  git(at.dir, 'add', '-A')
  git(at.dir, 'commit', '-qm', 'code')
  git(at.dir, 'worktree', 'add', '-q', '../tree')
  const client = await stdioClient(at.dir, { env: at.env as Record<string, string> })
  const library = openMemory({ projectPath: at.dir })
  onTestFinished(() => library.close())
  const held = () => library.claims().map((c) => `${c.on}${c.part}`)
  const from = (dir: string) => async (verb: 'claim' | 'release', path: string) => {
    const { code, out, err } = await inProcess({ ...at, dir: join(at.dir, dir) }, [verb, path, '--session', 's'])
    expect([code, err]).toEqual([0, ''])
    return out
  }
  const overMcp = async (verb: 'claim' | 'release', path: string) => {
    const said = await call(client, 'act', { actions: [[verb, { paths: [path] }]], session: 's' })
    expect(said.isError, said.text).toBe(false)
    return said.text
  }
  const byLibrary = async (verb: 'claim' | 'release', path: string) =>
    JSON.stringify((await library.act([[verb, { paths: [path] }]], { session: 's' })).results)
  const doors = { root: from('.'), below: from('src'), tree: from('../tree/src'), overMcp, byLibrary }
  for (const [door, says] of Object.entries(doors))
    for (const part of ['#C.m', ':4-2']) {
      const path = `${['below', 'tree'].includes(door) ? 'a.ts' : './src/a.ts'}${part}`
      await says('claim', path)
      expect([door, held()]).toEqual([door, [`src/a.ts${part}`]])
      expect(await says('release', path)).toContain(`src/a.ts${part}`)
      expect([door, held()]).toEqual([door, []])
    }
  await run('session', 'start', 'other', '--pid', String(process.pid))
  await run('claim', 'src/a.ts#f', 'src/a.ts#C', '--session', 's')
  expect(await run('release', 'src/a.ts#f', '--to', 'other', '--session', 's')).toContain("src/a.ts#f is other's now")
  const whole = await inProcess(at, ['release', 'src/a.ts', '--session', 's'])
  expect(whole.err).toMatch(/s holds no claim on src\/a\.ts;.*\n.*src\/a\.ts#C/)
  expect(library.claims().map((c) => [c.session, c.part])).toEqual([['s', '#C'], ['other', '#f']]) // biome-ignore format: pairs
})

test.each([
  'src/a.ts:0',
  'src/a.ts:3-',
  'src/a.ts:2,3',
  'src/a.ts:12:5',
  'src/a.ts#f:3',
  'src/a.ts#',
  'src/*.ts#f',
  'src/{a,b}.ts:3',
])('[X6] [E3] %s is the name of no file and of no part of one: refused, with what is accepted', async (place) => {
  const { at } = await project()
  files(at.dir, { 'src/a.ts': 'one\ntwo\nthree\n' })
  const ran = await inProcess(at, ['claim', place, '--session', 'a', '--json'])
  expect(ran.code).toBe(1)
  expect(ran.err + ran.out).toContain(`${place} is no part of a file`)
  expect(ran.err + ran.out).toContain('a.ts#total')
  files(at.dir, { [place]: 'one' })
  expect((await inProcess(at, ['claim', place, '--session', 'a'])).out).toContain(`claimed ${place} for`)
})
