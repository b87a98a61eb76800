import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Memory } from '../../src/engine/memory.ts'
import type { Project } from '../../src/engine/store/project.ts'
import type { HookCall, HookReply } from '../../src/session/hooks/call.ts'
import { excludedCommand, HOOK_DEFAULTS } from '../../src/session/hooks/config.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

beforeEach(() => {
  process.env.TIDEMARK_USER = 'Ana'
  onTestFinished(() => void delete process.env.TIDEMARK_USER)
})

/** Calls a hook as a client would, with a clock of the test. */
function hooks(t: TestMemory, project: Project = t.project) {
  return async (session: string, event: HookCall['event'], more: Partial<HookCall> = {}): Promise<HookReply> => {
    const call: HookCall = { client: 'claude', event, session, cwd: t.dir, pid: process.pid, ...more }
    const { reply, errors } = await respond(t.memory, project, call, () => 1_000)
    expect(errors).toEqual([])
    return reply
  }
}

const edit = (path: string): Partial<HookCall> => ({ tool: { name: 'Edit', paths: [path] } })
const bash = (command: string, more: object = {}): Partial<HookCall> => ({
  tool: { name: 'Bash', paths: [], command, ...more },
})
const withConfig = (t: TestMemory, config: object): Project => ({ ...t.project, hooks: config })
const proposed = (memory: Memory) =>
  memory.reader
    .registry()
    .kinds()
    .flatMap((k) => memory.reader.list(k.name, { standing: 'proposed' }))

test('[X7] a session starts, is briefed, lives on through every hook and ends; its person sees one line', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  t.act([['record-fact', { fact: 'Always run the tests before committing', category: 'workflow' }]])
  const reply = await hook('s1', 'session-start', { source: 'startup' })
  expect(reply.context).toContain('- Always run the tests before committing')
  expect(reply.visible).toMatch(/^Tidemark: 1 rule, /)
  expect(sessionsOf(t.memory).get('s1')).toMatchObject({ client: 'claude', state: 'active', root: t.dir })
  expect(sessionsOf(t.memory).toldOf('s1').at(-1)).toMatchObject({ door: 'claude session-start' })
  t.clock.now += 4 * 60_000
  await hook('s1', 'other')
  expect(sessionsOf(t.memory).get('s1')!.seen).toBe(t.clock.now)
  await hook('s1', 'session-end', { reason: 'other' })
  expect(sessionsOf(t.memory).get('s1')!.state).toBe('ended')
  await hook('s1', 'stop')
  await hook('s1', 'status-line', { contextUsed: 3 })
  expect(sessionsOf(t.memory).get('s1')!.state).toBe('ended')
})

test('[X6] who edits a link to a file edits that file, and meets who holds it', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  writeFileSync(join(t.dir, 'CLAUDE.md'), 'one\n')
  symlinkSync('CLAUDE.md', join(t.dir, 'AGENTS.md'))
  symlinkSync('/etc/hostname', join(t.dir, 'outside'))
  for (const session of ['s1', 's2']) await hook(session, 'session-start', { source: 'startup' })
  await hook('s1', 'before-edit', edit('CLAUDE.md'))
  for (const said of ['deny', 'warn']) expect((await hook('s2', 'before-edit', edit('AGENTS.md'))).decision).toBe(said)
  await hook('s1', 'before-edit', edit('outside'))
  const held = claimsOf(t.memory).held()
  expect(new Set(held.map((c) => c.on))).toEqual(new Set(['CLAUDE.md', 'AGENTS.md', 'outside']))
  // a command writes through a link, and takes away the link alone
  const run = (command: string) => hook('s3', 'before-tool', { tool: { name: 'Bash', paths: [], command }, cwd: t.dir })
  t.act([['claim', { paths: ['CLAUDE.md'] }]], { session: 's1' })
  symlinkSync('CLAUDE.md', join(t.dir, 'GEMINI.md'))
  expect((await run('echo z >> GEMINI.md')).reason).toContain('CLAUDE.md is claimed by s1')
  expect(await run('rm GEMINI.md')).toEqual({})
})

test('[X7] after /clear the new session goes on with the thread of the old one, whose id means the new one', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('old', 'session-start', { source: 'startup' })
  await hook('old', 'before-edit', edit('a.ts'))
  await hook('old', 'after-edit', edit('a.ts'))
  await hook('old', 'session-end', { reason: 'clear' })
  await hook('new', 'session-start', { source: 'clear' })
  const sessions = sessionsOf(t.memory)
  expect(sessions.resolve('old')).toBe('new')
  expect(sessions.get('new')!.files).toEqual(['a.ts'])
  expect(claimsOf(t.memory).held()).toEqual([])
})

test('[X7] a subagent that edits has its block in the swarm state under the type that its client tells, and is done when it stops', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  const child = { parent: 's1', agent: 'test-writer' }
  const blocks = () =>
    claimsOf(t.memory)
      .blocks()
      .map(({ role, status, claimed, result }) => ({ role, status, claimed, result }))
  await hook('s1', 'session-start', { source: 'startup' })
  await hook('s1', 'before-edit', edit('main.ts'))
  await hook('s1/a1', 'subagent-start', child)
  await hook('s1/a2', 'subagent-start', { parent: 's1', agent: 'Explore' })
  expect(blocks()).toEqual([])
  await hook('s1/a1', 'before-edit', { ...child, ...edit('test/auth.test.ts') })
  expect(blocks()).toEqual([
    { role: 'test-writer', status: 'active', claimed: ['test/auth.test.ts'], result: undefined },
  ])
  t.clock.now += 11 * 60_000 // its edit is claimed no more, and it works on
  await hook('s1/a1', 'before-tool', { ...child, tool: { name: 'Read', paths: [] } })
  await hook('s1', 'before-edit', edit('main.ts'))
  expect(blocks()[0]).toMatchObject({ status: 'active' })
  await hook('s1/a1', 'before-edit', { ...child, ...edit('test/login.test.ts') })
  await hook('s1/a1', 'subagent-stop', { ...child, said: '12 tests written, all RED\nThe details follow.' })
  await hook('s1/a2', 'subagent-stop', { parent: 's1', agent: 'Explore', said: 'found it' })
  expect(blocks()).toMatchObject([{ role: 'test-writer', status: 'complete', result: '12 tests written, all RED' }])
  expect(
    claimsOf(t.memory)
      .held()
      .map((c) => c.session),
  ).toEqual(['s1'])
})

test('[X7] a subagent that has claimed for a role of its own keeps to that', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  const child = { parent: 's1', agent: 'general-purpose' }
  await hook('s1', 'session-start', { source: 'startup' })
  await hook('s1/a1', 'subagent-start', child)
  t.act([['claim', { role: 'implementer', paths: ['src/auth'] }]], { session: 's1/a1' })
  await hook('s1/a1', 'before-edit', { ...child, ...edit('src/auth/a.ts') })
  await hook('s1/a1', 'before-edit', { ...child, ...edit('docs/auth.md') })
  await hook('s1/a1', 'subagent-stop', { ...child, said: 'Done.' })
  expect(
    claimsOf(t.memory)
      .blocks()
      .map((b) => [b.role, b.status]),
  ).toEqual([['implementer', 'abandoned']])
})

test('[X7] a subagent is a child session with its own claims; what is no subagent is none', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  const child = { parent: 's1', agent: 'Explore' }
  await hook('s1/a1', 'subagent-start', child)
  await hook('s1/a1', 'before-edit', { ...child, ...edit('b.ts') })
  expect(sessionsOf(t.memory).get('s1/a1')).toMatchObject({ parent: 's1', agent: 'Explore', state: 'active' })
  expect(claimsOf(t.memory).held()).toMatchObject([{ session: 's1/a1', on: 'b.ts', implicit: true }])
  // its parent is not in its way, nor it in its parent's
  expect(await hook('s1', 'before-edit', edit('b.ts'))).toEqual({})
  await hook('s1/a1', 'subagent-stop', child)
  expect(sessionsOf(t.memory).get('s1/a1')!.state).toBe('ended')
  expect(
    claimsOf(t.memory)
      .held()
      .map((c) => c.session),
  ).toEqual([])
})

test('[X6] an edit of what another session claimed is refused, with the owner, since when and until when', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  await hook('s2', 'session-start', { client: 'codex', pid: process.ppid })
  t.act([['claim', { paths: ['src/auth/**'], note: 'token refresh' }]], { session: 's2' })
  const reply = await hook('s1', 'before-edit', edit(join(t.dir, 'src/auth/login.ts')))
  expect(reply.decision).toBe('deny')
  expect(reply.reason).toMatch(
    /src\/auth\/login\.ts is claimed by s2 \(codex, Ana, just now\) since \d\d:\d\d \S+, "token refresh" \(claim \d+: src\/auth\/\*\*, until \d\d:\d\d \S+\)/,
  )
  expect(
    claimsOf(t.memory)
      .held()
      .map((c) => c.session),
  ).toEqual(['s2'])
  expect(await hook('s2', 'before-edit', { client: 'codex', ...edit('src/auth/login.ts') })).toEqual({})
  expect(await hook('s1', 'before-edit', edit('src/other.ts'))).toEqual({})
  await hook('s2', 'session-end', { client: 'codex' })
  expect(await hook('s1', 'before-edit', edit('src/auth/login.ts'))).toEqual({})
})

test('[X6] the configuration says whether a conflict warns, asks or denies', async () => {
  const t = openTestMemory()
  await hooks(t)('s2', 'session-start', { pid: process.ppid })
  t.act([['claim', { paths: ['a.ts'] }]], { session: 's2' })
  for (const conflict of ['warn', 'ask', 'deny'] as const)
    expect((await hooks(t, withConfig(t, { conflict }))('s1', 'before-edit', edit('a.ts'))).decision).toBe(conflict)
})

test('[X6] an edit takes a claim for ten minutes that every edit renews: the next session is refused once, then warned', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  await hook('s2', 'session-start', { pid: process.ppid })
  expect(await hook('s1', 'before-edit', edit('a.ts'))).toEqual({})
  expect(claimsOf(t.memory).held()).toMatchObject([
    { session: 's1', on: 'a.ts', implicit: true, until: t.clock.now + 600_000 },
  ])
  t.clock.now += 5 * 60_000
  const reply = await hook('s2', 'before-edit', edit('a.ts'))
  expect(reply).toMatchObject({ decision: 'deny', reason: expect.stringMatching(/a\.ts is being edited by s1/) })
  expect((await hook('s2', 'before-edit', edit('a.ts'))).decision).toBe('warn')
  await hook('s1', 'before-edit', edit('a.ts'))
  expect(claimsOf(t.memory).held()[0]!.until).toBe(t.clock.now + 600_000)
  t.clock.now += 11 * 60_000
  expect(await hook('s2', 'before-edit', edit('a.ts'))).toEqual({})
  const off = openTestMemory()
  await hooks(off, withConfig(off, { implicitClaims: false }))('s1', 'before-edit', edit('a.ts'))
  expect(claimsOf(off.memory).held()).toEqual([])
})

test('[E2] [X6] a shell command that writes, moves, removes or resets what another session holds is judged as an edit', async () => {
  const t = openTestMemory()
  const hook = hooks(t, withConfig(t, { conflict: 'deny' }))
  const run = (command: string) => hook('s1', 'before-tool', { tool: { name: 'Bash', paths: [], command }, cwd: t.dir })
  await hook('s1', 'session-start')
  expect(await run('sed -i s/1/2/ src/cart.ts')).toEqual({})
  await hook('s2', 'session-start', { pid: process.ppid })
  t.act([['claim', { paths: ['src/cart.ts'], note: 'the totals' }]], { session: 's2' })
  await hook('s2', 'before-edit', edit('src/tax.ts'))
  const stopped = [
    ...['sed -i s/1/2/ src/cart.ts', 'cd src && sed -i s/1/2/ cart.ts', 'echo x > src/cart.ts', 'rm src/cart.ts'],
    ...['mv src/cart.ts old.ts', 'rm -rf src', 'git checkout src/cart.ts', 'git checkout -- .', 'npm test; git reset --hard'],
    ...['git stash', 'git clean -fd', 'git read-tree -u --reset HEAD', 'cat <<EOF > src/cart.ts\nx\nEOF', 'git checkout src/tax.ts', 'bash -c "rm src/cart.ts"'],
  ] // biome-ignore format: a list to read at a glance
  for (const command of stopped) {
    const reply = await run(command)
    expect([command, reply.decision]).toEqual([command, 'deny'])
    expect(reply.reason).toMatch(/src\/(?:cart|tax)\.ts is (?:claimed|being edited) by s2/)
  }
  // of what is only being edited nothing is lost
  expect((await run('tee -a src/tax.ts')).decision).toBe('deny')
  expect((await run('tee -a src/tax.ts')).decision).toBe('warn')
  expect((await run('sed -i s/1/2/ src/tax.ts')).decision).toBe('deny') // another one may change other lines
  expect(t.rows()).not.toContain('tee -a') // a command may hold a secret
  mkdirSync(join(t.dir, 'src'))
  expect(await run('cp lib/cart.ts src')).toMatchObject({
    decision: 'deny',
    reason: expect.stringContaining('src/cart.ts is'),
  })
  const passes = [
    'cp lib/other.ts src',
    ...['cat src/cart.ts', 'grep -n total src/cart.ts', 'npx vitest run src/cart.test.ts', 'git add -A', 'git diff src/cart.ts'],
    ...['sed -n 1,5p src/cart.ts', 'git commit -qm done', 'rm src/other.ts', 'git checkout -b next', 'echo "rm src/cart.ts"'],
  ] // biome-ignore format: a list to read at a glance
  for (const command of passes) expect([command, await run(command)]).toEqual([command, {}])
  await hook('s2', 'session-end', {})
  expect(await run('git reset --hard')).toEqual({})
})

test('[X7] the same path in another work tree only warns: the two will meet at merge', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  const other = join(t.dir, '..', 'worktree')
  mkdirSync(join(other, '.git'), { recursive: true })
  mkdirSync(join(t.dir, '.git'), { recursive: true })
  await hook('s2', 'session-start', { cwd: other, pid: process.ppid })
  t.act([['claim', { paths: ['a.ts'] }]], { session: 's2' })
  expect(await hook('s1', 'before-edit', edit(join(t.dir, 'a.ts')))).toMatchObject({
    decision: 'warn',
    reason: expect.stringMatching(/in another work tree \(.+\): the two will meet at merge/),
  })
})

test('[H3] before an edit, rules and failed approaches that speak of the file are told once', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  t.act([
    [
      'record-fact',
      { fact: 'Migrations are append-only', category: 'constraint', locations: ['src/store/migrations.ts'] },
    ],
    [
      'record-failed-approach',
      { approach: 'editing an old function in migrations.ts', outcome: 'old stores did not open' },
    ],
    ['record-fact', { fact: 'Use pnpm', category: 'tool' }],
    ['propose', { action: ['record-fact', { fact: 'migrations.ts is generated', category: 'pattern' }] }],
  ])
  await hook('s1', 'session-start')
  await hook('s2', 'session-start', { pid: process.ppid })
  t.memory.db.run("DELETE FROM told WHERE session='s2'")
  const { context } = await hook('s2', 'before-edit', edit('src/store/migrations.ts'))
  expect(context).toMatch(/Known of src\/store\/migrations\.ts/)
  expect(context).toContain('editing an old function in migrations.ts')
  expect(context).toContain('Migrations are append-only')
  expect(context).not.toContain('pnpm')
  expect(context).not.toContain('generated')
  expect((await hook('s2', 'before-edit', edit('src/store/migrations.ts'))).context).toBeUndefined()
})

test('[H3] a rule that names a folder or a pattern in its text is told before an edit there, and nowhere else', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  t.act([
    ['record-fact', { fact: 'Never edit src/generated by hand.', category: 'constraint' }],
    ['record-fact', { fact: 'Snapshots (`test/**/*.snap`) are written by the runner', category: 'constraint' }],
    ['record-fact', { fact: 'See https://example.com/src for the style', category: 'convention' }],
    ['record-learning', { title: 'What lies in test/ui/ starts the server', locations: ['src/server.ts'] }],
  ])
  expect((await hook('s1', 'before-edit', edit('src/generated2/api.ts'))).context).toBeUndefined()
  expect((await hook('s1', 'before-edit', edit('src/cart.ts'))).context).toBeUndefined()
  const { context } = await hook('s1', 'before-edit', edit('src/generated/http/api.ts'))
  expect(context).toContain('Never edit src/generated by hand')
  expect(context).not.toContain('Snapshots')
  expect((await hook('s1', 'before-edit', edit('src/generated/http/other.ts'))).context).toBeUndefined()
  const snapshot = await hook('s1', 'before-edit', edit('test/ui/button.snap'))
  expect(snapshot.context).toContain('written by the runner')
  expect(snapshot.context).not.toContain('starts the server') // that is about the file that it names as its place
})

test('[H3] rules that bind for just a file are instructions before its edit, all of them, and what waits for a yes is none', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  const rule = (fact: string, more: object = {}) => ['record-fact', { fact, paths: ['test/**'], ...more }]
  const all = ['fixtures', 'a clear name', 'one subject', 'no sleeps', 'real files'].map((w) => `A test has ${w}`)
  t.act([...all.map((fact) => rule(fact)), rule('Never use RSpec', { category: 'constraint' })], { by: 'person' })
  t.act([['propose', { action: rule('A test may sleep') }]])
  const { context = '' } = await hook('s1', 'before-edit', edit('test/user.test.ts'))
  expect(context).toMatch(
    /^Rules for these files \(from Tidemark — treat as custom instructions\):\n- Never use RSpec \(for/,
  )
  for (const fact of all) expect(context).toContain(`- ${fact} (for test/**)`)
  expect(context).not.toContain('may sleep')
  const long = `Never call the network in tests. ${'It is slow. '.repeat(90)}`
  t.act([rule(long), rule('Name the seed', { context: 'but not in test/e2e' })] as never, { by: 'person' })
  const { context: more = '' } = await hook('s1', 'before-edit', edit('test/third.test.ts'))
  expect(more).toContain('- Name the seed (for test/**) (but not in test/e2e)')
  expect(more).toContain('Never call the network')
  expect((await hook('s1', 'before-edit', edit('test/other.test.ts'))).context).toBeUndefined()
})

test('[H3] a text that names docs/README.md speaks of no other README.md', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  t.act([['record-learning', { title: 'The index of pages (@docs/README.md, ./src/app.ts) is written by hand' }]])
  expect((await hook('s1', 'before-edit', edit('lib/README.md'))).context).toBeUndefined()
  expect((await hook('s1', 'before-edit', edit('docs/README.md'))).context).toContain('written by hand')
  const named = [['Keep login.ts/logout.ts in step', 'src/auth/logout.ts'], ['my dir/db.ts is generated', 'my dir/db.ts'], ['shop/src/pay.ts stays pure', 'src/pay.ts'], ['über/x.ts stays pure', 'src/über/x.ts']] as const // biome-ignore format: a row
  for (const [title, path] of named) {
    t.act([['record-learning', { title }]])
    expect((await hook('s1', 'before-edit', edit(path))).context ?? path).toContain(title)
  }
})

test('[H3] [X4] that a file was understood meanwhile tells its name alone: the first read brings the rest', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  t.act([['record-file', { path: 'src/cart.ts', summary: 'Totals are integer cents' }]], {
    agent: 'codex',
    session: 's2',
  })
  expect((await hook('s3', 'session-start', { pid: process.ppid })).context).toMatch(/new: file:src-cart/)
  const { context } = await hook('s3', 'after-tool', { tool: { name: 'Read', paths: [], reads: ['src/cart.ts'] } })
  expect(context).toContain('Totals are integer cents')
})

test('[H3] what was understood of a file comes once: with a prompt that names it, the first read, or the first edit', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  t.act([
    ['record-file', { path: 'src/cart.ts', summary: 'Totals are integer cents; rounding happens once, in total()' }],
    ['record-learning', { title: 'The mock in src/cart.ts hides a race' }],
    ['record-file', { path: 'lib/cart.ts', summary: 'The old cart' }],
  ])
  const prompt = { prompt: 'please add a discount to @src/cart.ts:12, will you?' }
  const read = (path: string) => ({ tool: { name: 'Read', paths: [], reads: [path] } })
  for (const [event, call] of [
    ['prompt', prompt],
    ['after-tool', read(join(t.dir, 'src/cart.ts'))],
    ['before-edit', edit('src/cart.ts')],
    ['after-tool', { tool: { name: 'Bash', paths: [], command: "sed -n '1,80p' src/cart.ts | head" } }],
  ] as const) {
    const session = `of ${event} ${Object.keys(call)} ${JSON.stringify(call).length}`
    const start = await hook(session, 'session-start')
    const { context } = await hook(session, event, call)
    expect(context, event).toContain('rounding happens once')
    expect(start.context).toContain('hides a race')
    expect(context, event).not.toContain('old cart')
    for (const [again, more] of [
      ['after-tool', read('src/cart.ts')],
      ['prompt', prompt],
    ] as const)
      expect((await hook(session, again, more)).context ?? '', event).not.toContain('rounding')
  }
  expect((await hook('s9', 'after-tool', read('src/other.ts'))).context).toBeUndefined()
})

test('[X4] with a prompt come the news of others, once, and never the own', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  await hook('s2', 'session-start', { pid: process.ppid })
  t.act([['record-decision', { name: 'use-redis', description: 'Redis for sessions' }]], { session: 's2' })
  t.act([['record-decision', { name: 'own', description: 'my own' }]], { session: 's1' })
  const { context } = await hook('s1', 'prompt', { prompt: 'go on' })
  expect(context).toMatch(/s2 \(claude, Ana\) recorded decision "use-redis"/)
  expect(context).not.toContain('own')
  expect(await hook('s1', 'prompt', { prompt: 'go on' })).toEqual({})
})

test('[H3] with a prompt comes what answers it, if it clears a high bar, and only once', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  t.act([
    ['record-decision', { name: 'rotate-refresh-tokens', description: 'Refresh tokens rotate at every login' }],
    ...Array.from({ length: 40 }, (_, i) => [
      'record-decision',
      { name: `other-${i}`, description: `The page number ${i} has its own layout` },
    ]),
  ])
  sessionsOf(t.memory).start({ id: 's1' })
  const { context } = await hook('s1', 'prompt', { prompt: 'How do refresh tokens rotate?' })
  expect(context).toContain('decision:rotate-refresh-tokens')
  expect(context).not.toContain('other-')
  expect(await hook('s1', 'prompt', { prompt: 'How do refresh tokens rotate?' })).toEqual({})
  expect(await hook('s1', 'prompt', { prompt: 'Please make the page nicer' })).toEqual({})
})

test('[H3] a long prompt meets what it names; the words of a path meet nothing', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  t.act([
    ['record-learning', { title: 'p5 setup runs twice under vitest', body: 'guard it' }],
    ['record-learning', { title: 'The docs folder of apps is deployed alone', body: 'see apps/docs' }],
  ])
  sessionsOf(t.memory).start({ id: 's1' })
  const error = `Now the tests fail since p5 setup runs two times under vitest, the trace says so:\n${'TypeError of something at line '.repeat(20)}`
  const { context } = await hook('s1', 'prompt', { prompt: error })
  expect(context).toContain('guard it')
  expect(await hook('s1', 'prompt', { prompt: 'Please look at @apps/docs/page.tsx and make the title blue' })).toEqual(
    {},
  )
})

test('[H3] the little words of another language bring nothing, its telling words do; a long prompt has to share more than a word', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  t.act([
    [
      'record-learning',
      { title: 'Le panier perd la remise', body: 'Le cache de la session est vidé par le paiement et pas par le menu' },
    ],
    ...['Orders are sorted', 'Mails go out twice', 'The menu flickers'].map((title) => [
      'record-learning',
      { title, body: 'seen' },
    ]),
  ])
  sessionsOf(t.memory).start({ id: 's1' })
  const told = async (prompt: string) => (await hook('s1', 'prompt', { prompt })).context ?? ''
  expect(await told('est ce que la page de garde est prête et pas le reste ?')).toBe('')
  const long = 'There is a session in which we talked of colours, fonts, margins, icons, buttons, headings and shadows'
  expect(await told(long)).toBe('')
  expect(await told('la remise du panier a encore disparu')).toContain('vidé par le paiement')
})

test('[H3] [R2] what failed is met in other words', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  t.act([
    ['record-failed-approach', { approach: 'Prices in a shared Redis instance', outcome: 'two carts lost updates' }],
    ['record-fact', { fact: 'Never round prices in the cart', category: 'constraint' }],
  ])
  sessionsOf(t.memory).start({ id: 's1' })
  const { context } = await hook('s1', 'prompt', { prompt: 'Let us cache prices with a Redis cluster' })
  expect(context).toContain('two carts lost updates')
  expect(context).not.toContain('Never round')
  expect(await hook('s1', 'prompt', { prompt: 'Let us show prices with a nicer font' })).toEqual({})
})

test('[G7] a rule in a prompt is put to the person, with no word to the agent, and nothing is recorded before the yes', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  const asked = await hook('s1', 'prompt', { prompt: 'We use pnpm for installs. Now fix the page.' })
  expect(asked).toEqual({ visible: expect.stringContaining('"We use pnpm for installs" — confirm?') })
  expect(t.get('fact:we-use-pnpm-for-installs')).toBeUndefined()
  await hook('s1', 'prompt', { prompt: 'yes' })
  expect(t.get('fact:we-use-pnpm-for-installs')!.fields).toMatchObject({ category: 'tool' })
  expect((await hook('s3', 'prompt', { prompt: 'We use pnpm for installs.' })).visible).toBeUndefined()
})

test('[A7] what is private, secret, excluded or said while capture is paused is not captured', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'prompt', { prompt: '<private>Always deploy with the key under the mat</private>' })
  await hook('s1', 'prompt', { prompt: 'Always use password=hunter2hunter2 for the database' })
  await hooks(t, withConfig(t, { capture: false }))('s1', 'prompt', { prompt: 'We use pnpm for installs' })
  const config = { ...HOOK_DEFAULTS, excludeCommands: ['vault *', 'pass'] }
  for (const command of [
    'vault read x',
    'cd a && vault read x',
    'A=1 B="c d" sudo -E vault read x',
    'x=$(pass show y)',
    'a | pass',
    '/usr/local/bin/vault read x',
    'if ! vault read x; then y; fi',
    'bash -c "cd a && sudo -E vault read x"',
  ])
    expect(excludedCommand(config, command), command).toBe(true)
  for (const command of ['make vault', 'ls vault x', 'passwd', 'echo a; ls'])
    expect(excludedCommand(config, command), command).toBe(false)
  const quiet = hooks(t, withConfig(t, { excludeCommands: ['vault *'], excludePaths: ['secret/**', '*.env'] }))
  for (let i = 0; i < 3; i++) await quiet('s1', 'tool-failed', bash('vault read kv/key', { failed: true }))
  await quiet('s1', 'before-edit', edit('secret/a.ts'))
  await quiet('s1', 'after-edit', edit('deep/prod.env'))
  expect(proposed(t.memory)).toEqual([])
  expect(claimsOf(t.memory).held()).toEqual([])
  expect(sessionsOf(t.memory).get('s1')!.files).toEqual([])
  expect(t.rows()).not.toMatch(/under the mat|hunter2|kv\/key/)
})

test('[G7] a command that failed three times in a session is told to the agent, once', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  const failed = () =>
    hook(
      's1',
      'tool-failed',
      bash('npm run build -- --token=ghp_abcdefghijklmnopqrst', { failed: true, response: 'error TS2322' }),
    )
  expect(await failed()).toEqual({})
  expect(await failed()).toEqual({})
  const { context } = await failed()
  expect(context).toMatch(/has failed 3 times here.*record-failed-approach/)
  expect(proposed(t.memory)).toEqual([])
  expect(await failed()).toEqual({})
  expect(t.rows()).not.toContain('ghp_abcdefghijklmnopqrst')
  await hook('s1', 'after-tool', bash('npm run build -- --token=ghp_abcdefghijklmnopqrst'))
  expect(sessionsOf(t.memory).get('s1')!.data.failing).toEqual({})
})

test('[G7] a command that only asks has not failed: its exit code is the answer', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  for (const asks of [
    'grep -rn TODO src',
    'cd src && rg TODO',
    'cat a.ts | grep x',
    'diff a b',
    '[ -f a.ts ]',
    'which cargo',
  ])
    await hook('s1', 'tool-failed', bash(asks, { failed: true, response: 'Exit code 1' }))
  expect(sessionsOf(t.memory).get('s1')?.data.failing).toBeUndefined()
  await hook('s1', 'tool-failed', bash('grep x a.ts | sort && make', { failed: true, response: 'Exit code 2' }))
  expect(Object.keys(sessionsOf(t.memory).get('s1')!.data.failing as object)).toHaveLength(1)
})

test('[G7] a test that fails after each edit, as in TDD, is no failed approach', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  const red = () => hook('s1', 'tool-failed', bash('npm test', { failed: true, response: '1 failed' }))
  for (const file of ['cart.test.ts', 'cart.ts', 'cart.ts', 'tests/cart.py', 'cart.ts']) {
    await hook('s1', 'after-edit', edit(file))
    expect((await red()).context).toBeUndefined()
    expect((await red()).context).toBeUndefined()
    if (file.includes('test')) expect((await red()).context).toBeUndefined() // it was just written, and is to fail
  }
  expect((await red()).context).toMatch(/has failed 3 times here/)
  // all tests pass, and not this one alone: what was counted is forgotten
  await hook('s1', 'after-edit', edit('cart.ts'))
  await hook('s1', 'tool-failed', bash('npm test -- cart', { failed: true }))
  await hook('s1', 'after-tool', bash('npm test'))
  expect(sessionsOf(t.memory).get('s1')!.data.failing).toEqual({})
})

test('[X6] a shell command that changed what another session holds is noticed after the fact and said', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  await hook('s2', 'session-start', { pid: process.ppid })
  t.act([['claim', { paths: ['a.ts'] }]], { session: 's2' })
  const touch = (name: string) => {
    writeFileSync(join(t.dir, name), 'x')
    utimesSync(join(t.dir, name), t.clock.now / 1000, t.clock.now / 1000)
  }
  touch('a.ts')
  touch('b.ts')
  const reply = await hook('s1', 'after-tool', bash(`sed -i s/a/b/ a.ts '${join(t.dir, 'b.ts')}'`, { ms: 800 }))
  expect(reply.context).toMatch(/a\.ts, which s2 \(.*\) has claimed \(claim \d+\)/)
  expect(sessionsOf(t.memory).get('s1')!.files).toEqual(['a.ts', 'b.ts'])
  t.clock.now += 60_000
  expect(await hook('s1', 'after-tool', bash('npm test', { ms: 800 }))).toEqual({})
  touch('a.ts')
  expect((await hook('s1', 'after-tool', bash('npm run format', { ms: 800 }))).context).toMatch(/a\.ts, which s2/)
  // where the client does not say how long a command ran, the same change is not of the next one too
  expect(await hook('s1', 'after-tool', bash('pnpm -v'))).toEqual({})
  const { context } = await hook('s2', 'prompt', { pid: process.ppid, prompt: 'go on' })
  expect(context).toMatch(/a\.ts, which you have in hand, changed while s1 .* ran a command/)
  expect(await hook('s1', 'after-tool', bash('cat a.ts', { ms: 800 }))).toEqual({})
})

test('[P4] at 80 % of the context the handoff is written and the agent asked to complete it, once', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  await hook('s1', 'before-edit', edit('a.ts'))
  await hook('s1', 'after-edit', edit('a.ts'))
  t.act([['record-decision', { name: 'use-redis', description: 'Redis for sessions' }]], { session: 's1' })
  await hook('s1', 'status-line', { contextUsed: 79 })
  expect(await hook('s1', 'after-tool')).toEqual({})
  await hook('s1', 'status-line', { contextUsed: 81 })
  const { context } = await hook('s1', 'after-tool')
  expect(context).toMatch(/81% of this session's context is used\. A handoff was put together/)
  expect(context).toContain('write-handoff')
  expect(await hook('s1', 'after-tool')).toEqual({})
  expect(t.memory.reader.list('handoff')).toHaveLength(1)
  await hook('s1', 'pre-compact', { trigger: 'auto' })
  await hook('s1', 'status-line', { contextUsed: 20 })
  await hook('s1', 'status-line', { contextUsed: 85 })
  expect((await hook('s1', 'after-tool')).context).toMatch(/85%/)
})

test('[P4] how full the context is, is read from the end of the transcripts of Claude Code, Codex and Gemini CLI', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  const transcript = join(t.dir, 't.jsonl')
  const line = (tokens: number, more = {}) =>
    `${JSON.stringify({ type: 'assistant', message: { model: 'claude-haiku-4-5', usage: { input_tokens: 10, cache_read_input_tokens: tokens, output_tokens: 5 } }, ...more })}\n`
  writeFileSync(
    transcript,
    line(1_000) + line(165_000) + line(199_000, { isSidechain: true }) + '{"type":"user"}\n{"half',
  )
  expect((await hook('s1', 'after-tool', { transcript })).context).toMatch(/83% of this session/)
  const rollout = join(t.dir, 'r.jsonl')
  writeFileSync(
    rollout,
    `${JSON.stringify({ type: 'event_msg', payload: { type: 'token_count', info: { last_token_usage: { total_tokens: 900 }, model_context_window: 1_000 } } })}\n`,
  )
  const reply = await hook('c1', 'after-tool', { client: 'codex', transcript: rollout, ...bash('ls') })
  expect(reply.context).toMatch(/90% of this session/)
  const chat = join(t.dir, 'g.jsonl')
  writeFileSync(
    chat,
    `${JSON.stringify({ id: '1', type: 'gemini', content: 'x', tokens: { total: 900_000 }, model: 'gemini-2.5-flash' })}\n`,
  )
  expect((await hook('g1', 'after-tool', { client: 'gemini', transcript: chat, ...bash('ls') })).context).toMatch(
    /86% of this session/,
  )
  expect(await hook('c2', 'stop', { client: 'codex', transcript: join(t.dir, 'none') })).toEqual({})
})

test('[P4] before compaction the handoff is written and the summary is asked to keep what refers to it', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  t.act(
    [
      ['claim', { paths: ['src/auth/**'] }],
      ['record-decision', { name: 'use-redis', description: 'Redis' }],
      ['start-task', { description: 'cache sessions' }],
    ],
    { session: 's1' },
  )
  const { context } = await hook('s1', 'pre-compact', { trigger: 'auto' })
  expect(context!.match(/task:/g)).toHaveLength(1)
  expect(context).toMatch(/claim \d+ on src\/auth\/\*\*/)
  expect(context).toContain('decision:use-redis')
  expect(t.memory.reader.list('handoff')).toHaveLength(1)
  expect((await hook('s1', 'session-start', { source: 'compact' })).context).toContain('decision:use-redis')
})

test('[X7] a long session that recorded nothing is reminded once, and never kept from stopping', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start')
  expect(await hook('s1', 'stop')).toEqual({})
  for (let i = 0; i < 5; i++) await hook('s1', 'prompt', { prompt: 'go on' })
  expect(await hook('s1', 'stop')).toEqual({ context: expect.stringMatching(/recorded nothing/) })
  expect(await hook('s1', 'stop')).toEqual({})
  await hook('s2', 'session-start', { pid: process.ppid })
  for (let i = 0; i < 5; i++) await hook('s2', 'prompt', { prompt: 'go on' })
  t.act([['record-decision', { name: 'x', description: 'y' }]], { session: 's2' })
  expect(await hook('s2', 'stop')).toEqual({})
})

test('[M4] a configuration with mistakes in it has the defaults, and says so to doctor alone', async () => {
  const t = openTestMemory()
  const call: HookCall = {
    client: 'claude',
    event: 'prompt',
    session: 's1',
    cwd: t.dir,
    prompt: 'We use pnpm for installs',
  }
  const { reply, errors } = await respond(
    t.memory,
    withConfig(t, { conflict: 'maybe', nonsense: 1, capture: true }),
    call,
    () => 1_000,
  )
  expect(reply.visible).toContain('pnpm')
  expect(errors).toEqual([
    expect.stringMatching(/hooks\.conflict: not accepted/),
    expect.stringMatching(/hooks\.nonsense: no such setting/),
  ])
})

test('[M7] what was told before a compaction is told again where it matters: the conversation has lost it', async () => {
  const t = openTestMemory()
  const hook = hooks(t)
  await hook('s1', 'session-start', { source: 'startup' })
  t.act([['record-decision', { name: 'queue-first', description: 'The zebra importer writes to a queue first' }]])
  const asked = { prompt: 'why does the zebra importer write to a queue first?' }
  const context = async () => (await hook('s1', 'prompt', asked)).context ?? ''
  await hook('s1', 'prompt', { prompt: 'go on' }) // the news of it
  expect(await context()).toContain('queue first')
  expect(await context()).not.toContain('queue first')
  t.clock.now += 1_000
  await hook('s1', 'pre-compact')
  t.clock.now += 1_000
  expect(await context()).toContain('queue first')
})
