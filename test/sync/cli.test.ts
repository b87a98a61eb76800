import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { canonical } from '../../src/model/canonical.ts'
import { sha256 } from '../../src/model/digest.ts'
import { writeSegment } from '../../src/travel/sync/segments.ts'
import { BIN, git, inProcess, scratch } from '../cli/run.ts'

/** Two people on two machines with a clone each, and `tidemark` on their path. */
function twoPeople() {
  const { dir, home, env } = scratch()
  const top = dirname(dir)
  const hub = join(top, 'hub.git')
  git(top, 'init', '-q', '--bare', '-b', 'main', hub)
  git(dir, 'init', '-q', '-b', 'main')
  git(dir, 'remote', 'add', 'origin', hub)
  const bin = join(top, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'tidemark'), `#!/bin/sh\nexec ${process.execPath} ${BIN} "$@"\n`, { mode: 0o755 })
  const PATH = `${bin}:${env.PATH}`
  const other = join(top, 'other-home')
  mkdirSync(other)
  const ana = { dir, env: { ...env, HOME: home, PATH, TIDEMARK_USER: 'ana' } }
  const ben = { dir: join(top, 'ben'), env: { ...env, HOME: other, PATH, TIDEMARK_USER: 'ben' } }
  const run = async (at: typeof ana, ...args: string[]) => {
    const { code, out, err } = await inProcess(at, args)
    expect(`${args.join(' ')}: ${code} ${code === 0 ? '' : out + err}`).toBe(`${args.join(' ')}: 0 `)
    return out
  }
  const commit = (at: typeof ana, ...args: string[]) => {
    git(at.dir, 'add', '-A')
    git(at.dir, 'commit', '-q', '-m', 'work', ...args)
  }
  return { ana, ben, run, commit, top, hub }
}

const briefed = async (at: { dir: string; env: NodeJS.ProcessEnv }): Promise<string> => {
  const payload = { session_id: 's', cwd: at.dir, hook_event_name: 'SessionStart', source: 'startup' }
  const { code, out } = await inProcess(at, ['hook', 'claude', 'SessionStart'], JSON.stringify(payload))
  expect(code).toBe(0)
  return out
}

test('[K16] [K17] what one person records reaches the next session of the other, and binds nobody there', async () => {
  const { ana, ben, run, commit, hub, top } = twoPeople()
  await run(ana, 'init', '--client', 'none', '--yes')
  await run(ana, 'act', '[["record-decision", {"name": "small commits", "rationale": "one idea a commit"}]]')
  expect(await run(ana, 'sync')).toContain('recorded decision "small commits"')
  commit(ana)
  git(ana.dir, 'push', '-q', 'origin', 'main')
  git(top, 'clone', '-q', hub, ben.dir)
  const told = await briefed(ben)
  expect(told).toContain('small-commits')
  expect(told).toContain('unverified')
  expect(await briefed(ana)).not.toContain('unverified')
  // both offline
  await run(ben, 'act', '[["record-decision", {"name": "of ben", "rationale": "b"}]]')
  await run(ana, 'act', '[["record-decision", {"name": "of ana", "rationale": "a"}]]')
  for (const at of [ben, ana]) {
    await run(at, 'sync')
    commit(at)
    git(at.dir, 'pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main')
    git(at.dir, 'push', '-q', 'origin', 'main')
  }
  git(ben.dir, 'pull', '-q', 'origin', 'main')
  for (const at of [ana, ben]) {
    const listed = await run(at, 'list', 'decision')
    expect(listed).toContain('of ana')
    expect(listed).toContain('of ben')
  }
})

test('[K16] with the hook of git what was recorded is in the same commit', async () => {
  const { ana, run } = twoPeople()
  await run(ana, 'init', '--client', 'none', '--yes')
  expect(await run(ana, 'sync', '--hook')).toContain('made')
  expect(await run(ana, 'sync', '--hook')).toContain('there')
  const gitAs = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], {
      cwd: ana.dir,
      env: ana.env,
      encoding: 'utf8',
    })
  gitAs('add', '-A')
  gitAs('commit', '-q', '-m', 'first')
  await run(ana, 'act', '[["record-decision", {"name": "d", "rationale": "r"}]]')
  writeFileSync(join(ana.dir, 'a.txt'), 'a')
  gitAs('add', 'a.txt')
  gitAs('commit', '-q', '-m', 'second')
  expect(gitAs('show', '--name-only', '--format=').split('\n').filter(Boolean)).toEqual([
    expect.stringMatching(/^\.tidemark\/log\/[a-z0-9]+\/1-1-[0-9a-f]+\.jsonl$/),
    'a.txt',
  ])
  expect(gitAs('status', '--porcelain')).toBe('')
  // a commit of named files has an index of its own, and git's own index does not hear of what is added to it
  await run(ana, 'act', '[["record-decision", {"name": "e", "rationale": "r"}]]')
  writeFileSync(join(ana.dir, 'a.txt'), 'b')
  gitAs('commit', '-q', '-m', 'third', 'a.txt')
  expect(gitAs('status', '--porcelain')).toBe('')
  writeFileSync(join(ana.dir, 'a.txt'), 'c')
  gitAs('commit', '-q', '-a', '-m', 'fourth')
  expect(gitAs('show', '--name-only', '--format=')).toMatch(/\/2-2-/)
  expect(gitAs('status', '--porcelain')).toBe('')
})

test.each(['~/hooks', '.githooks'])(
  'where git looks for hooks in %s, by whatever configuration, the lines are printed, and work there',
  async (hooksPath) => {
    const { ana, run } = twoPeople()
    await run(ana, 'init', '--client', 'none', '--yes')
    const gitAs = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd: ana.dir, env: ana.env, encoding: 'utf8' }) // biome-ignore format: one call
    gitAs('config', '--global', 'core.hooksPath', hooksPath)
    const dir = hooksPath.startsWith('~') ? join(ana.env.HOME, 'hooks') : join(ana.dir, hooksPath)
    const said = await run(ana, 'sync', '--hook')
    expect(said).not.toContain('made')
    expect(said).toContain(`to ${join(dir, 'pre-commit')}, a new file`)
    expect(said.includes('outside this repository')).toBe(hooksPath.startsWith('~'))
    expect(existsSync(dir)).toBe(false)
    const lines = said.slice(said.indexOf('# tidemark:'), said.indexOf('\nfi\n') + 4)
    mkdirSync(dir)
    writeFileSync(join(dir, 'pre-commit'), `#!/bin/sh\n${lines}`, { mode: 0o755 })
    expect(await run(ana, 'sync', '--hook')).toContain('there')
    await run(ana, 'act', '[["record-decision", {"name": "d", "rationale": "r"}]]')
    writeFileSync(join(ana.dir, 'a.txt'), 'a')
    gitAs('add', 'a.txt')
    gitAs('commit', '-q', '-m', 'first')
    expect(gitAs('show', '--name-only', '--format=')).toMatch(/\/1-1-[0-9a-f]+\.jsonl/)
    // with hooks of its own
    gitAs('config', 'core.hooksPath', join(ana.dir, '.git', 'hooks'))
    expect(await run(ana, 'sync', '--hook')).toContain('made')
  },
)

test('a dry run says what travels and what stays, and writes nothing; --check is for CI', async () => {
  const { ana, run } = twoPeople()
  await run(ana, 'init', '--client', 'none', '--yes')
  await run(
    ana,
    'act',
    '[["record-decision", {"name": "goes", "rationale": "r"}], ["record-observation", {"what": "stays here"}]]',
  )
  const said = await run(ana, 'sync', '--dry-run')
  expect(said).toContain('recorded decision "goes"')
  expect(said).toContain('1 observation')
  expect(existsSync(join(ana.dir, '.tidemark/log'))).toBe(false)
  expect((await inProcess(ana, ['sync', '--check'])).code).toBe(1)
  await run(ana, 'sync')
  const log = join(ana.dir, '.tidemark/log')
  const [replica = ''] = readdirSync(log)
  const [segment = ''] = readdirSync(join(log, replica))
  expect(readFileSync(join(log, replica, segment), 'utf8')).not.toContain('stays here')
  await run(ana, 'sync', '--check')
  appendFileSync(join(log, replica, segment), 'x')
  const checked = await inProcess(ana, ['sync', '--check'])
  expect([checked.code, checked.out]).toEqual([1, expect.stringContaining('it was cut off or changed')])
})

test('two clones that both ran init are one project: each keeps its store, and doctor settles the conflict', async () => {
  const { ana, ben, run, commit, hub, top } = twoPeople()
  git(ana.dir, 'commit', '-q', '--allow-empty', '-m', 'empty')
  git(ana.dir, 'push', '-q', 'origin', 'main')
  git(top, 'clone', '-q', hub, ben.dir)
  for (const [at, name] of [
    [ana, 'of ana'],
    [ben, 'of ben'],
  ] as const) {
    await run(at, 'init', '--client', 'none', '--yes')
    await run(at, 'act', JSON.stringify([['record-decision', { name, rationale: 'r' }]]))
    await run(at, 'sync')
    commit(at)
  }
  git(ana.dir, 'push', '-q', 'origin', 'main')
  expect(() => git(ben.dir, 'pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main')).toThrow()
  expect(git(ben.dir, 'diff', '--name-only', '--diff-filter=U').trim()).toBe('.tidemark/config.json')
  expect(await run(ben, 'list', 'decision')).toContain('of ana')
  expect(await run(ben, 'doctor')).toContain('settled a conflict')
  commit(ben)
  git(ben.dir, 'push', '-q', 'origin', 'main')
  git(ana.dir, 'pull', '-q', 'origin', 'main')
  for (const at of [ana, ben]) {
    const listed = await run(at, 'list', 'decision')
    expect(listed).toContain('of ana')
    expect(listed).toContain('of ben')
    const told = await run(at, 'doctor')
    expect(told).toContain('the project has other ids too')
    expect(told).toContain('2 segments')
  }
})

test('[Y1] [T117] sync says once, and doctor always, whose lines nobody who joins can check', async () => {
  const { ana, run } = twoPeople()
  await run(ana, 'init', '--client', 'none', '--yes')
  const event = { e: 'decision:old', f: '$', o: 'set', c: 1, v: { s: 'created', at: 1 } }
  const at = Date.UTC(2026, 10, 20)
  const line = { v: 1, r: 'zz1', n: 1, p: '', at, by: { user: 'old' }, sum: 'old', u: {}, e: [event] }
  const text = JSON.stringify({ ...line, h: sha256(canonical(line)) })
  writeSegment(ana.dir, 'zz1', 1, 1, [text])
  const beware = '1 replica of version 0.1.0 (zz1): who wrote what they say cannot be checked here'
  expect(await run(ana, 'sync')).toContain(`beware  ${beware}`)
  expect(await run(ana, 'sync')).not.toContain('beware')
  expect((await inProcess(ana, ['doctor'])).out).toContain(beware)
})
