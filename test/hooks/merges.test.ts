import { execFileSync } from 'node:child_process'
import {
  existsSync, lutimesSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync,
} from 'node:fs' // biome-ignore format: a list
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addPresence } from '../../src/engine/store/presence.ts'
import { scan } from '../../src/find/code/scan.ts'
import { toolOf } from '../../src/session/clients/common/tool.ts'
import type { HookCall, HookReply } from '../../src/session/hooks/call.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { render } from '../../src/surfaces/cli/terminal.ts'
import { claim } from '../../src/surfaces/tools/claim.ts'
import { foresee } from '../../src/surfaces/tools/foresee.ts'
import { run } from '../../src/surfaces/tools/run.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestMemory } from '../helpers.ts'
import { hookProject, PATIENT, runHook } from './run.ts'

const CART = `const RATE = 0.2

export function total(items) {
  let sum = 0
  for (const item of items) sum += item.price
  log(sum)
  const all = sum
  const rounded = Math.round(all)
  log(all)
  log(rounded)
  return rounded
}

export function tax(sum) {
  const due = sum * RATE
  return due
}

export class Cart {
  first() {
    return 1
  }

  second() {
    return 2
  }
}
`

/** A repository with a work tree of its own for each session that is not named `here`, and its hooks. */
async function repository({ config = {}, scanned = true } = {}) {
  const t = openTestMemory()
  const git = (dir: string, ...args: string[]) =>
    execFileSync('git', args, { cwd: dir, stdio: 'pipe', encoding: 'utf8' })
  const root = t.dir
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  git(root, 'init', '-q', '-b', 'main')
  git(root, 'config', 'user.email', 'a@b.example')
  git(root, 'config', 'user.name', 'Ana')
  write(join(root, 'src/cart.js'), CART)
  git(root, 'add', 'src')
  git(root, 'commit', '-qm', 'cart')
  if (scanned) await scan(t.memory, t.project)
  const tree = (name: string) => {
    const dir = join(root, '..', name)
    git(root, 'worktree', 'add', '-q', '-b', name, dir)
    return dir
  }
  const hook = async (
    session: string,
    event: HookCall['event'],
    dir: string,
    more: Partial<HookCall> = {},
  ): Promise<HookReply> => {
    const call: HookCall = { client: 'claude', event, session, cwd: dir, pid: process.pid, ...more }
    const { reply, errors } = await respond(t.memory, { ...t.project, hooks: config }, call, () => 10_000)
    expect(errors).toEqual([])
    return reply
  }
  /** Asks before an edit, and writes it unless that is refused. */
  const edit = async (session: string, dir: string, old: string, next: string, path = 'src/cart.js') => {
    const file = join(dir, path)
    const tool = toolOf('Edit', { file_path: file, old_string: old, new_string: next })
    const reply = await hook(session, 'before-edit', dir, { tool })
    if (reply.decision !== 'deny') {
      const text = readFileSync(file, 'utf8')
      expect(text).toContain(old)
      write(
        file,
        text.replace(old, () => next),
      )
    }
    return reply
  }
  const start = (session: string, dir: string, pid = process.pid) => hook(session, 'session-start', dir, { pid })
  return { ...t, root, git, tree, hook, edit, start, write }
}

test('[E3] a part that its file does not have is refused, with what it has', async () => {
  const { memory, project, root } = await repository()
  const claiming = (paths: string) => run(claim, { memory, project: { ...project, root }, session: 'a' }, { paths })
  await expect(claiming('src/cart.js#sum')).rejects.toMatchObject({ hint: expect.stringContaining('total, tax, Cart') })
  await expect(claiming('src/cart.js:900-920')).rejects.toMatchObject({ hint: 'it has 27 lines' })
  expect((await claiming('src/cart.js:12-3')).text).toContain('src/cart.js:12-3')
})

test('[X6] who claims a file, as an agent without hooks does, is told what a live session changed there and did not commit', async () => {
  const { memory, project, root, start, edit, hook, git, clock } = await repository()
  await start('a', root)
  await edit('a', root, 'log(sum)', 'log(sum, 1)')
  await hook('a', 'after-edit', root, { tool: toolOf('Edit', { file_path: join(root, 'src/cart.js') }) })
  clock.now += 11 * 60_000
  const claiming = (session: string, paths: string) =>
    run(claim, { memory, project: { ...project, root }, session }, { paths }).then(({ text }) => text)
  expect(await claiming('b', 'src/cart.js')).toMatch(
    /claimed src\/cart.js for .*\na .*has edited src\/cart.js, which is changed and not committed/,
  )
  expect(await claiming('b', 'src')).toContain('a (claude, Ana) has edited src/cart.js')
  git(root, 'commit', '-qam', 'log')
  expect(await claiming('b', 'src/cart.js')).not.toContain('has edited')
})

test('[E3] two sessions edit two functions of one file: nobody is held back; the same function: one is told, with its lines', async () => {
  const { root, edit, start, hook, clock } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  expect(await edit('a', root, 'log(sum)', 'log(sum, 1)')).toEqual({})
  expect(await edit('b', root, 'const due = sum * RATE', 'const due = sum * RATE * 2')).toEqual({})
  expect(await edit('b', root, 'const RATE = 0.2', 'const VAT = 1\n\n\nconst RATE = 0.2')).toEqual({})
  // far from a's line, and in the function that it is changing; lines above it have moved
  const told = await edit('b', root, 'return rounded', 'return rounded + 1')
  expect(told.decision).toBe('deny')
  expect(told.reason).toContain('src/cart.js (in total(), line 14) is being edited by a')
  expect(told.reason).toContain('This is said once, and the same call passes then')
  // other lines of the same function are another thing to be told of; tried again, both pass with a warning
  expect((await edit('b', root, 'let sum = 0', 'let sum = 1')).decision).toBe('deny')
  expect((await edit('b', root, 'return rounded', 'return rounded + 1')).decision).toBe('warn')
  expect((await edit('b', root, 'return rounded + 1', 'return rounded + 2')).decision).toBe('warn')
  // what b writes over knowingly is b's as well: a is told in its turn
  const back = await edit('a', root, 'log(sum, 1)', 'log(sum, 3)')
  expect(back).toMatchObject({ decision: 'deny', reason: expect.stringContaining('is being edited by b') })
  expect((await edit('a', root, 'log(sum, 1)', 'log(sum, 3)')).decision).toBe('warn')
  await hook('a', 'after-edit', root, { tool: toolOf('Edit', { file_path: join(root, 'src/cart.js') }) })
  // a has edited since: b is told once more, and not for ever
  expect((await edit('b', root, 'return rounded + 2', 'return rounded + 4')).decision).toBe('deny')
  expect((await edit('b', root, 'return rounded + 2', 'return rounded + 4')).decision).toBe('warn')
  await hook('a', 'after-edit', root, { tool: toolOf('Edit', { file_path: join(root, 'src/cart.js') }) })
  expect((await edit('b', root, 'return rounded + 4', 'return rounded + 5')).decision).toBe('warn')
  // after a while, what it was told is of before: a has edited the file since
  clock.now += 31_000
  expect((await edit('b', root, 'return rounded + 5', 'return rounded + 3')).decision).toBe('deny')
  expect((await edit('b', root, 'return rounded + 5', 'return rounded + 3')).decision).toBe('warn')
  expect(await edit('a', root, 'return 2', 'return 3')).toEqual({})
  expect(await edit('b', root, 'return 1', 'return 0')).toEqual({})
})

test('[E2] who was refused twice is refused again where the other has committed and written anew', async () => {
  const { root, edit, start, hook, clock, git } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  const after = () => hook('a', 'after-edit', root, { tool: toolOf('Edit', { file_path: join(root, 'src/cart.js') }) })
  const tried = async () => (await edit('b', root, 'log(sum', 'print(sum')).decision
  await edit('a', root, 'log(sum)', 'log(sum, 1)')
  expect(await tried()).toBe('deny')
  await after()
  expect(await tried()).toBe('deny')
  git(root, 'commit', '-qam', 'what a has')
  clock.now += 1_000
  expect(await edit('a', root, 'log(sum, 1)', 'log(sum, 2)')).toEqual({})
  await after()
  clock.now += 1
  expect(await tried()).toBe('deny')
  expect(await tried()).toBe('warn')
})

test('[E2] who was told long ago is told again of what was written since, however much has happened after it', async () => {
  const { root, edit, start, hook, clock, git, memory } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  const after = () => hook('a', 'after-edit', root, { tool: toolOf('Edit', { file_path: join(root, 'src/cart.js') }) })
  const tried = async () => (await edit('b', root, 'log(sum', 'print(sum')).decision
  await edit('a', root, 'log(sum)', 'log(sum, 1)')
  await after()
  expect(await tried()).toBe('deny')
  git(root, 'commit', '-qam', 'what a has')
  clock.now += 60_000
  expect(await edit('a', root, 'log(sum, 1)', 'log(sum, 2)')).toEqual({})
  await after()
  memory.db.write(() => {
    for (let i = 0; i < 1_200; i++) addPresence(memory.db, clock.now, 'c', 'edited', { path: 'src/other.js' })
  })
  clock.now += 60_000
  expect(await tried()).toBe('deny')
  expect(await tried()).toBe('warn')
})

test('[E2] what was written over knowingly stays held after an edit elsewhere in the file', async () => {
  const { root, edit, start } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  await edit('a', root, 'log(sum)', 'log(sum, 1)')
  expect((await edit('b', root, 'log(sum, 1)', 'log(sum, 2)')).decision).toBe('deny')
  expect((await edit('b', root, 'log(sum, 1)', 'log(sum, 2)')).decision).toBe('warn')
  expect(await edit('b', root, 'return 2', 'return 3')).toEqual({})
  const back = await edit('a', root, 'log(sum, 2)', 'log(sum, 4)')
  expect(back).toMatchObject({ decision: 'deny', reason: expect.stringContaining('is being edited by b') })
})

test('[E3] a file whose lines end in CRLF is held by its lines too', async () => {
  const { root, git, hook, start, write } = await repository()
  write(join(root, 'src/cart.js'), CART.replaceAll('\n', '\r\n'))
  git(root, 'commit', '-aqm', 'as Windows writes it')
  await start('ana', root)
  await start('ben', root, process.ppid)
  // clients show such a file, and take an edit of it, without the CR
  const before = (session: string, old_string: string) =>
    hook(session, 'before-edit', root, {
      tool: toolOf('Edit', { file_path: join(root, 'src/cart.js'), old_string, new_string: '// gone' }),
    })
  expect(await before('ana', '  log(sum)\n  const all = sum')).toEqual({})
  expect(await before('ben', '  const due = sum * RATE\n  return due')).toEqual({})
  expect(await before('ben', '  log(all)\n  log(rounded)')).toMatchObject({
    decision: 'deny',
    reason: expect.stringMatching(/src\/cart\.js \(at lines? \d+/),
  })
})

test('[E3] what is not in a symbol holds its lines and those around them', async () => {
  const { root, edit, start } = await repository({ scanned: false })
  await start('a', root)
  await start('b', root, process.ppid)
  expect(await edit('a', root, 'log(sum)', 'log(sum, 1)')).toEqual({})
  expect((await edit('b', root, 'let sum = 0', 'let sum = 1')).decision).toBe('deny')
  expect(await edit('b', root, 'return rounded', 'return rounded + 1')).toEqual({})
})

test('[E3] an edit from when its session was alone holds what it changed, once another session is there', async () => {
  const { root, edit, start, memory } = await repository()
  await start('a', root)
  memory.act([['claim', { paths: ['src/cart.js#first'] }]], { session: 'a' })
  await edit('a', root, 'log(sum)', 'log(sum, 1)')
  expect(claimsOf(memory).held()[1]).not.toHaveProperty('lines')
  await start('b', root, process.ppid)
  expect(await edit('b', root, 'const due = sum * RATE', 'const due = sum * RATE * 2')).toEqual({})
  expect((await edit('b', root, 'log(rounded)', 'log(all, rounded)')).decision).toBe('deny')
  // and a goes on: it does not take over what b has changed meanwhile
  expect(await edit('a', root, 'return 2', 'return 3')).toEqual({})
  expect(await edit('b', root, 'return due', 'return due + 1')).toEqual({})
})

test('[E3] [X6] a claim on a function or on lines refuses an edit of those alone, also after lines above have moved', async () => {
  const { root, edit, start, act, git, refused, memory, project } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  const said = (session: string, ...paths: string[]) =>
    run(claim, { memory, project, session }, { paths: paths.join('\n') })
  expect((await said('a', 'src/cart.js#total')).text).toBe('claimed src/cart.js#total for 30 min')
  expect(refused([['claim', { paths: ['src/cart.js'] }]], { session: 'b' })).toMatchObject([{ code: 'claimed' }])
  expect(refused([['claim', { paths: ['src/**'] }]], { session: 'b' })).toMatchObject([{ code: 'claimed' }])
  expect(refused([['claim', { paths: ['src/cart.js#total'] }]], { session: 'b' })).toMatchObject([
    { code: 'claimed', message: expect.stringContaining('src/cart.js#total is claimed by a') },
  ])
  await expect(said('b', 'src/cart.js:4')).rejects.toMatchObject({ code: 'refused' })
  await expect(said('b', 'src/cart.js#totl')).rejects.toMatchObject({ code: 'not-found' })
  await said('b', 'src/cart.js:14-17', 'src/cart.js#first')
  expect(claimsOf(memory).held().map((c) => c.on + c.part)).toEqual(['src/cart.js#total', 'src/cart.js:14-17', 'src/cart.js#first']) // biome-ignore format: a row
  expect(await edit('b', root, 'return due', 'return due + 1')).toEqual({})
  expect(await edit('b', root, 'const RATE = 0.2', '\n\nconst RATE = 0.2')).toEqual({})
  git(root, 'commit', '-qam', 'moved')
  const refusedEdit = await edit('b', root, 'const all = sum', 'const all = 0')
  expect(refusedEdit.decision).toBe('deny')
  expect(refusedEdit.reason).toContain('src/cart.js (at line 9) is claimed by a')
  act([['release', { paths: ['src/cart.js#total'] }]], { session: 'a' })
  expect(await edit('b', root, 'const all = sum', 'const all = 0')).toEqual({})
})

test('[E3] an edit near another one holds its own lines: whoever changes them later is told', async () => {
  const { root, edit, start, git, act } = await repository({ scanned: false })
  await start('a', root)
  await start('b', root, process.ppid)
  await start('c', root, process.ppid)
  act([['claim', { paths: ['src/cart.js:20'] }]], { session: 'c' }) // of no version that a batch could tell
  expect(await edit('a', root, 'log(sum)', 'log(sum, 1)')).toEqual({})
  expect(await edit('b', root, 'log(rounded)', 'log(rounded, 2)')).toEqual({})
  expect((await edit('a', root, 'log(rounded, 2)', 'log(rounded, 1)')).reason).toContain(
    'line 10) is being edited by b',
  )
  // also after a commit: their claims are of two versions
  git(root, 'commit', '-qam', 'logs')
  expect(await edit('a', root, 'return due', 'return due + 1')).toEqual({})
  expect(await edit('b', root, 'return 2', 'return 3')).toEqual({})
  expect((await edit('c', root, 'return due + 1', 'return due')).reason).toContain('is being edited by a')
  expect((await edit('c', root, 'return 3', 'return 2')).reason).toContain('is being edited by b')
})

test('[E3] of two edits at the same time exactly one is told where they meet, and nobody where they do not', async () => {
  const { root, hook, start, act } = await repository({ scanned: false })
  await start('a', root)
  await start('b', root, process.ppid)
  const ask = (session: string, old: string) => {
    const input = { file_path: join(root, 'src/cart.js'), old_string: old, new_string: `${old} // ${session}` }
    return hook(session, 'before-edit', root, { tool: toolOf('Edit', input) })
  }
  const together = async (a: string, b: string) => {
    const both = await Promise.all([ask('a', a), ask('b', b)])
    for (const session of ['a', 'b']) act([['release', {}]], { session })
    return both.map((r) => r.decision).sort()
  }
  for (const line of ['log(sum)', 'const due = sum * RATE', 'return 2']) {
    expect(await together(line, line)).toEqual(['deny', undefined])
    expect(await together(line, 'return 1')).toEqual([undefined, undefined])
  }
})

test.each(['src/page#main.ts', 'src/x:12'])('[E3] [X6] %s is a file: a claim on it refuses its edit', async (path) => {
  const { root, edit, start, act, write } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  write(join(root, path), 'one\n')
  act([['claim', { paths: [path] }]], { session: 'a' })
  expect((await edit('b', root, 'one', 'two', path)).decision).toBe('deny')
  act([['release', { paths: [path] }]], { session: 'a' })
  expect(await edit('b', root, 'one', 'two', path)).toEqual({})
  expect((await edit('a', root, 'two', 'three', path)).reason).toContain(`${path} is being edited by b`)
})

test('[E3] before an edit it is held against what others have changed in their work trees: what merges passes in silence', async () => {
  const { root, edit, start, tree, git, hook, write, memory, project } = await repository()
  const other = tree('fix')
  await start('a', root)
  await start('reviewer', other, process.ppid)
  expect(await edit('reviewer', other, 'const all = sum', 'const all = sum + 1')).toEqual({})
  expect(await edit('a', root, 'log(rounded)', 'log(all, rounded)')).toEqual({})
  const told = await edit('a', root, 'log(sum)', 'log(sum, 2)')
  expect(told.decision).toBe('deny')
  expect(told.reason).toMatch(
    /src\/cart\.js collides in total\(\), line 6 with the uncommitted change of reviewer .*in another work tree: the two will not merge/,
  )
  expect((await edit('a', root, 'log(sum)', 'log(sum, 2)')).decision).toBe('warn')
  // committed there it collides as well, and only the edit that collides is told
  git(other, 'commit', '-qam', 'sum')
  expect(await edit('a', root, 'return 1', 'return 7')).toEqual({})
  expect((await edit('a', root, 'log(sum, 2)', 'log(sum, 3)')).reason).toContain('with the change of reviewer')
  // claimed by name in another work tree, a part is in the way of edits of that part alone
  await run(claim, { memory, project: { ...project, root: other }, session: 'reviewer' }, { paths: 'src/cart.js#Cart' })
  expect((await edit('a', root, 'return 7', 'return 8')).reason).toMatch(
    /in another work tree \([^)]*, branch \w+\): the two will meet at merge/,
  )
  expect(await edit('a', root, 'return due', 'return due + 1')).toEqual({})
  // a file that both add
  write(join(other, 'src/new.js'), 'one\n')
  write(join(root, 'src/new.js'), 'two\n')
  expect((await edit('a', root, 'two', 'three', 'src/new.js')).decision).toBe('deny')
  await hook('reviewer', 'session-end', other)
  expect(await edit('a', root, 'log(sum, 3)', 'log(sum, 4)')).toEqual({})
})

test('[E3] a collision is refused where the project wants that, and after a shell command it is told', async () => {
  const { root, edit, start, tree, hook, write } = await repository({ config: { implicitConflict: 'deny' } })
  const other = tree('fix')
  await start('a', root)
  await start('reviewer', other, process.ppid)
  await edit('reviewer', other, 'const all = sum', 'const all = sum + 1')
  expect((await edit('a', root, 'log(sum)', 'log(sum, 2)')).decision).toBe('deny')
  const run = async (from: string, to: string) => {
    write(join(root, 'src/cart.js'), CART.replace(from, to))
    const tool = { name: 'Bash', paths: [], command: 'sed -i s/a/b/ src/cart.js' }
    return (await hook('a', 'after-tool', root, { tool })).context
  }
  expect(await run('return 1', 'return 9')).toBeUndefined()
  expect(await run('const all = sum', 'const all = 5')).toContain('collides in total(), line 7 with the uncommitted change of reviewer') // biome-ignore format: a row
})

test('[E3] foresee shows which branches and work trees will not merge, uncommitted work included, and writes nothing', async () => {
  const { root, tree, git, write, memory, project, start } = await repository()
  const look = async (...branches: string[]) =>
    (await run(foresee, { memory, project }, branches.length > 0 ? { branches: branches.join('\n') } : {})).text
  expect(await look()).toBe('nothing to compare: git has no second branch or work tree here')
  const [fix, docs] = [tree('fix'), tree('docs')]
  await start('reviewer', fix, process.ppid)
  write(join(fix, 'src/cart.js'), CART.replace('const all = sum', 'const all = sum + 1'))
  write(join(docs, 'src/cart.js'), CART.replace('const due', 'let due'))
  git(docs, 'commit', '-qam', 'due')
  git(docs, 'update-index', '--split-index')
  write(join(root, 'src/cart.js'), `// the cart\n${CART.replace('log(sum)', 'log(sum, 1)')}`)
  git(root, 'branch', 'tax')
  const objects = git(root, 'count-objects', '-v')
  const status = git(fix, 'status', '--porcelain')
  // what the repository's own configuration would run
  const mark = join(root, '..', 'mark')
  for (const [name, command] of [['filter.x.clean', 'cat'], ['filter.x.smudge', 'cat'], ['merge.x.driver', 'true'], ['core.fsmonitor', '']] as const)
    git(root, 'config', name, `touch '${mark}'; ${command}`) // biome-ignore format: a list
  write(join(root, '.git/info/attributes'), '* filter=x merge=x\n')
  expect((await look()).split('\n')).toEqual([
    'main (uncommitted) and fix (uncommitted, reviewer) collide in src/cart.js: in total(), line 7',
    '2 of 3 pairs merge',
  ])
  expect(existsSync(mark)).toBe(false)
  rmSync(join(root, '.git/info/attributes'))
  git(root, 'config', '--unset', 'core.fsmonitor')
  // a file that is not in git yet, and one that is gone
  write(join(fix, 'notes.md'), 'one\n')
  git(root, 'rm', '-q', '--cached', 'src/cart.js')
  write(join(docs, 'notes.md'), 'two\n')
  expect(await look('docs')).toContain(
    'docs (uncommitted) and fix (uncommitted, reviewer) collide in notes.md: at line 1',
  )
  git(root, 'reset', '-q')
  expect(await look('tax', 'docs')).toBe('1 of 1 pair merges')
  const { page } = await run(foresee, { memory, project }, { branches: 'tax\ndocs' })
  expect(render(page!(), { columns: 120, rows: 40, colours: false })).toBe('1 of 1 pair merges')
  await expect(look('nothing')).rejects.toMatchObject({ code: 'not-found' })
  expect(git(root, 'count-objects', '-v')).toBe(objects)
  expect(git(fix, 'status', '--porcelain')).toBe(`${status}?? notes.md\n`)
})

test('[E3] foresee starts nothing that a submodule names, and no filter of the user', async () => {
  const { root, tree, git, write, memory, project } = await repository()
  const [sub, mark] = [join(root, '..', 'library'), join(root, '..', 'mark')]
  write(join(sub, 'a.txt'), 'one\n')
  write(join(sub, '.gitattributes'), '* filter=x diff=x\n')
  git(sub, 'init', '-q')
  git(sub, 'add', '.')
  git(sub, '-c', 'user.name=Ana', '-c', 'user.email=a@b.example', 'commit', '-qm', 'library')
  git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', sub, 'sub')
  git(root, 'commit', '-qm', 'with a library')
  tree('fix')
  for (const name of ['filter.x.clean', 'filter.x.process', 'diff.x.textconv', 'diff.x.command', 'core.fsmonitor'])
    git(join(root, 'sub'), 'config', name, `touch '${mark}'; cat`)
  write(join(root, 'sub/a.txt'), 'two\n')
  write(join(root, 'src/cart.js'), `// the cart\n${CART}`)
  write(join(root, '.gitattributes'), '* filter=y\n')
  write(join(root, '../global'), `[filter "y"]\n\tclean = touch '${mark}'; cat\n`)
  setEnv('GIT_CONFIG_GLOBAL', join(root, '../global'))
  expect((await run(foresee, { memory, project }, {})).text).toBe('1 of 1 pair merges')
  expect(existsSync(mark)).toBe(false)
})

test('[E3] foresee names what git cannot read, and shows the rest', async () => {
  const { root, tree, git, write, memory, project } = await repository()
  const [fix, docs] = [tree('fix'), tree('docs')]
  write(join(fix, 'src/cart.js'), CART.replace('const due', 'var due'))
  git(fix, 'commit', '-qam', 'due')
  write(join(root, 'src/cart.js'), CART.replace('log(sum)', 'log(sum, 1)'))
  write(join(docs, 'src/cart.js'), CART.replace('log(sum)', 'log(sum, 2)'))
  write(join(root, '.git/worktrees/fix/index'), 'damaged')
  const collide = 'main (uncommitted) and docs (uncommitted) collide in src/cart.js: in total(), line 6'
  const { text, json } = await run(foresee, { memory, project }, {})
  expect(text.split('\n')).toEqual([
    collide,
    '2 of 3 pairs merge',
    expect.stringMatching(/^not looked at: changes of fix that are not committed \(fatal: .*index/),
  ])
  expect(json).toMatchObject({ unseen: [{ what: 'changes of fix that are not committed' }] })
  // a commit without one of its files
  const gone = git(root, 'rev-parse', 'fix:src/cart.js').trim()
  rmSync(join(root, '.git/objects', gone.slice(0, 2), gone.slice(2)))
  const rest = (await run(foresee, { memory, project }, {})).text
  expect(rest).toContain(collide)
  expect(rest).toContain('not looked at: main with fix (')
  expect(rest).toContain('not looked at: docs with fix (')
  expect(rest).not.toContain('merges')
})

test('[E3] foresee looks at large files, and names those that are too large for it', async () => {
  const { root, tree, git, write, memory, project } = await repository()
  const rows = Array.from({ length: 400_000 }, (_, n) => `row ${n}`)
  write(join(root, 'rows.txt'), rows.join('\n'))
  git(root, 'add', 'rows.txt')
  git(root, 'commit', '-qm', 'rows')
  const fix = tree('fix')
  for (const dir of [root, fix]) write(join(dir, 'rows.txt'), rows.with(300_000, dir).join('\n'))
  for (const name of ['video.bin', 'other.bin']) {
    write(join(fix, name), '')
    truncateSync(join(fix, name), 201_000_000)
  }
  const { text, json, page } = await run(foresee, { memory, project }, {})
  const [first, ...columns] = render(page!(), { columns: 120, rows: 40, colours: false }).split('\n')
  expect([first, columns[0]]).toEqual(['1 of 1 pair will not merge:', expect.stringMatching(/^ONE +OTHER +FILE/)])
  expect(text.split('\n')).toEqual([
    'main (uncommitted) and fix (uncommitted) collide in rows.txt: at line 300001',
    'not looked at: 2 changed files of fix, such as other.bin (more than 200 MB or 10000 files in all)',
  ])
  expect(json).toMatchObject({ unseen: [{ what: '2 changed files of fix, such as other.bin' }] })
})

test.each([
  ['core.autocrlf', ''],
  ['the attribute text=auto', '* text=auto\n'],
])('[E3] foresee stores line ends as git would, with %s', async (_, attributes) => {
  const { root, tree, git, write, memory, project } = await repository()
  const look = async () => (await run(foresee, { memory, project }, {})).text
  write(join(root, 'crlf.txt'), 'one\r\ntwo\r\nthree\r\nfour\r\n')
  git(root, 'add', 'crlf.txt')
  write(join(root, '.gitattributes'), attributes)
  git(root, 'add', '.gitattributes')
  git(root, 'commit', '-qm', 'with CRLF in git')
  if (attributes === '') git(root, 'config', 'core.autocrlf', 'true')
  const fix = tree('fix')
  const crlf = (text: string) => text.replaceAll('\n', '\r\n')
  write(join(root, 'src/cart.js'), crlf(CART.replace('log(sum)', 'log(sum, 1)')))
  write(join(fix, 'src/cart.js'), crlf(CART.replace('return due', 'return due + 1')))
  // git leaves what it has with CRLF
  write(join(root, 'crlf.txt'), crlf('ONE\ntwo\nthree\nfour\n'))
  write(join(fix, 'crlf.txt'), crlf('one\ntwo\nthree\nFOUR\n'))
  expect(await look()).toBe('1 of 1 pair merges')
  write(join(fix, 'src/cart.js'), crlf(CART.replace('log(sum)', 'log(sum, 2)')))
  expect(await look()).toContain('collide in src/cart.js: in total(), line 6')
})

test('[E3] foresee takes links, modes and folders in the place of files as git would', async () => {
  const { root, tree, git, write, memory, project } = await repository()
  const look = async () => (await run(foresee, { memory, project }, {})).text
  write(join(root, 'docs/a.md'), 'a\n')
  write(join(root, 'notes'), 'notes\n')
  git(root, 'add', '.')
  git(root, 'commit', '-qm', 'notes')
  const fix = tree('fix')
  rmSync(join(fix, 'docs'), { recursive: true })
  write(join(fix, 'docs'), 'a file now\n')
  rmSync(join(fix, 'src'), { recursive: true })
  symlinkSync('nowhere', join(fix, 'src'))
  rmSync(join(fix, 'notes'))
  write(join(fix, 'notes/new.md'), 'a folder now\n')
  symlinkSync('one', join(fix, 'link'))
  write(join(fix, 'two\nlines'), 'one\n')
  expect(await look()).toBe('1 of 1 pair merges')
  symlinkSync('two', join(root, 'link'))
  write(join(root, 'two\nlines'), 'two\n')
  write(join(root, 'notes'), 'changed\n')
  expect((await look()).split('\n').map((line) => line.split(' collide in ')[1])).toEqual([
    expect.stringContaining('link: '),
    expect.stringContaining('notes'),
    expect.stringContaining('two'),
  ])
})

test('[E3] foresee clears away what killed runs have left, and nothing else', async () => {
  const { dir, root, tree, write, memory, project } = await repository()
  tree('fix')
  const temporary = join(dir, 'tmp')
  const aged = (name: string, days: number) => {
    write(join(temporary, name, 'objects/12/34'), 'object')
    const at = new Date(memory.env.now() - days * 86_400_000)
    utimesSync(join(temporary, name), at, at)
  }
  aged('tidemark-foresee-old', 2)
  aged('tidemark-foresee-new', 0.5)
  aged('other', 2)
  symlinkSync(root, join(temporary, 'tidemark-foresee-link'))
  lutimesSync(join(temporary, 'tidemark-foresee-link'), 1, 1)
  setEnv('TMPDIR', temporary)
  await run(foresee, { memory, project }, {})
  expect(readdirSync(temporary)).toEqual(['other', 'tidemark-foresee-link', 'tidemark-foresee-new'])
  expect(existsSync(join(root, 'src/cart.js'))).toBe(true)
})

test('[E3] a session that goes on in another work tree is named there, and nobody where it was', async () => {
  const { root, tree, edit, hook, start, memory, project } = await repository()
  const look = async () => (await run(foresee, { memory, project }, {})).text.split('\n')[0]
  const [fix, docs] = [tree('fix'), tree('docs')]
  await start('a', root)
  await start('b', fix, process.ppid)
  await edit('a', root, 'log(sum)', 'log(sum, 1)')
  await edit('b', fix, 'log(sum)', 'log(sum, 2)')
  await edit('b', fix, 'log(sum)', 'log(sum, 2)') // it is told once, and goes on
  expect(await look()).toBe('main (uncommitted, a) and fix (uncommitted, b) collide in src/cart.js: in total(), line 6')
  await edit('a', docs, 'return due', 'return due + 1')
  expect(await look()).toBe('main (uncommitted) and fix (uncommitted, b) collide in src/cart.js: in total(), line 6')
  await hook('b', 'session-end', fix)
  expect(await look()).toBe('main (uncommitted) and fix (uncommitted) collide in src/cart.js: in total(), line 6')
  await edit('a', fix, 'return due', 'return due + 1')
  expect(await look()).toBe('main (uncommitted) and fix (uncommitted, a) collide in src/cart.js: in total(), line 6')
  expect(sessionsOf(memory).get('a')).toMatchObject({ root: fix, branch: 'fix' })
  // an event that does not say where it comes from moves nobody
  await hook('a', 'prompt', root, { cwd: undefined, prompt: 'go on' })
  expect(sessionsOf(memory).get('a')).toMatchObject({ root: fix })
})

test('[E3] foresee asks each work tree, also when git itself runs it, and from a project below the top', async () => {
  const { root, tree, write, memory, project } = await repository()
  const fix = tree('fix')
  write(join(root, 'src/cart.js'), CART.replace('log(sum)', 'log(sum, 1)'))
  write(join(fix, 'src/cart.js'), CART.replace('log(sum)', 'log(sum, 2)'))
  const below = { ...project, root: join(root, 'src') }
  const line = 'main (uncommitted) and fix (uncommitted) collide in src/cart.js: in total(), line 6'
  expect((await run(foresee, { memory, project: below }, {})).text).toBe(line)
  // as in a hook of git
  setEnv('GIT_DIR', join(root, '.git/worktrees/fix'))
  setEnv('GIT_WORK_TREE', fix)
  setEnv('GIT_INDEX_FILE', join(root, '.git/worktrees/fix/index'))
  expect((await run(foresee, { memory, project }, {})).text).toBe(line)
})

/** Until the test ends. */
function setEnv(name: string, value: string) {
  const before = process.env[name]
  process.env[name] = value
  onTestFinished(() => void (before === undefined ? delete process.env[name] : (process.env[name] = before)))
}

test.each<[how: string, why: RegExp, breaks: (root: string, tree: string) => void]>([
  ['is not installed', /no git in PATH/, () => setEnv('PATH', '/nowhere')],
  ['takes the owner for another', /dubious ownership/, () => setEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1')],
  [
    'cannot read the commit',
    /corrupt|cannot be read/,
    (root, tree) => {
      const object = join(root, '.git/objects', tree.slice(0, 2), tree.slice(2))
      rmSync(object)
      writeFileSync(object, 'damaged')
    },
  ],
])(
  '[E3] where git %s, an edit meets claims on the whole file, and foresee says why it shows nothing',
  async (_, why, breaks) => {
    const { root, edit, start, tree, git, memory, project } = await repository()
    const other = tree('fix')
    for (const [session, dir] of [
      ['a', root],
      ['b', root],
      ['reviewer', other],
    ] as const)
      await start(session, dir)
    breaks(root, git(root, 'rev-parse', 'HEAD^{tree}').trim())
    await edit('reviewer', other, 'const all = sum', 'const all = sum + 1')
    const inOtherTree = await edit('a', root, 'return 1', 'return 7')
    expect(inOtherTree.reason).toContain('in another work tree')
    expect(inOtherTree.reason).not.toContain('will not merge')
    const inThisTree = await edit('b', root, 'const due', 'let due')
    expect(inThisTree.reason).toMatch(/src\/cart\.js is being edited by a /)
    await expect(run(foresee, { memory, project }, {})).rejects.toMatchObject({
      code: 'no-git',
      message: expect.stringMatching(why),
      hint: expect.stringContaining('git status'),
    })
  },
)

test('[E3] hooks as clients run them: a patch of Codex collides with what Claude Code wrote in another work tree', async () => {
  const { dir } = hookProject()
  const git = (at: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ana', '-c', 'user.email=a@b.example', ...args], { cwd: at, stdio: 'pipe' })
  const other = `${dir}-other`
  onTestFinished(() => rmSync(other, { recursive: true, force: true }))
  git(dir, 'init', '-q', '-b', 'main')
  mkdirSync(join(dir, 'src'))
  writeFileSync(join(dir, 'src/cart.js'), CART)
  git(dir, 'add', 'src')
  git(dir, 'commit', '-qm', 'cart')
  git(dir, 'worktree', 'add', '-q', '-b', 'other', other)
  const at = (client: string, event: string, cwd: string, more: object = {}) =>
    runHook([client, event], { session_id: client, cwd, source: 'startup', ...more }, { cwd, env: PATIENT })
  await at('claude', 'SessionStart', other)
  await at('codex', 'SessionStart', dir)
  const edit = { file_path: join(other, 'src/cart.js'), old_string: 'const all = sum', new_string: 'const all = 0' }
  expect((await at('claude', 'PreToolUse', other, { tool_name: 'Edit', tool_input: edit })).out).toBe('')
  writeFileSync(join(other, 'src/cart.js'), CART.replace(edit.old_string, edit.new_string))
  const patch = (...lines: string[]) => ({
    tool_name: 'apply_patch',
    tool_input: {
      command: ['*** Begin Patch', '*** Update File: src/cart.js', '@@ x', ...lines, '*** End Patch'].join('\n'),
    },
  })
  const clean = patch('   const due = sum * RATE', '-  return due', '+  return due + 1', ' }')
  expect((await at('codex', 'PreToolUse', dir, clean)).out).toBe('')
  const told = await at('codex', 'PreToolUse', dir, patch('   log(sum)', '-  const all = sum', '+  const all = 9'))
  expect(told.out).toContain('src/cart.js collides at line 7 with the uncommitted change of')
  const unknown = patch('   log(sum)', '-  const nothing', '+  const something')
  expect((await at('codex', 'PreToolUse', dir, unknown)).code).toBe(0)
})

test('[E2] what nobody has committed is lost by no command, however long ago it was edited and in whatever work tree', async () => {
  const { root, edit, start, tree, hook, git, clock, memory } = await repository()
  const other = tree('fix')
  await start('a', root)
  await start('b', root, process.ppid)
  const ask = (command: string) => hook('b', 'before-tool', root, { tool: { name: 'Bash', paths: [], command } })
  const edited = async (dir: string) => {
    expect(await edit('a', dir, 'return 1', 'return 7')).toEqual({})
    await hook('a', 'after-edit', dir, { tool: toolOf('Edit', { file_path: join(dir, 'src/cart.js') }) })
  }
  const decisions = async (...commands: string[]) => {
    const found = new Set<string | undefined>()
    for (const command of commands) found.add((await ask(command)).decision)
    return [...found]
  }
  const erases = ['git checkout src/cart.js', 'git reset --hard', 'git stash', 'git pull --autostash', 'rm src/cart.js']
  await edited(root)
  expect(await decisions(...erases)).toEqual(['deny'])
  clock.now += 11 * 60_000
  await hook('a', 'prompt', root, { prompt: 'go on' })
  expect(claimsOf(memory).held()).toEqual([])
  expect(await decisions(...erases)).toEqual(['deny'])
  expect((await ask('git stash')).reason).toMatch(/src\/cart\.js was changed by a .*and is not committed/)
  const over = await edit('b', root, 'return 7', 'return 8')
  expect(over.decision).toBe('deny')
  expect(over.reason).toMatch(/src\/cart\.js \(in .*first.*\) was changed by a .*and is not committed/)
  expect(await edit('b', root, 'return due', 'return due + 1')).toEqual({})
  git(root, 'checkout', 'src/cart.js')
  await edited(root)
  clock.now += 11 * 60_000
  await hook('a', 'prompt', root, { prompt: 'go on' })
  // of what is committed nothing is lost
  git(root, 'commit', '-qam', 'seven')
  expect(await decisions(...erases)).toEqual([undefined])
  // another work tree is judged by what is at work there, another repository by nothing
  await edited(other)
  const there = [`git -C ${other} reset --hard`, `cd ${other} && git stash`, `git worktree remove --force ${other}`]
  expect(await decisions(...there, `rm -rf ${other}`)).toEqual(['deny'])
  const apart = join(root, '..', 'apart')
  mkdirSync(apart)
  git(apart, 'init', '-q')
  expect(await decisions(`cd ${apart} && git reset --hard`, `git -C ${apart} stash`, 'git reset --hard')).toEqual([
    undefined,
  ])
})

test('[X6] a command that writes what is only edited and removes it is refused for good, and says so', async () => {
  const { root, edit, start, hook } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  await edit('a', root, 'return 1', 'return 7')
  const command = 'sed -i s/1/2/ src/cart.js && rm src/cart.js'
  for (const _ of [1, 2]) {
    const reply = await hook('b', 'before-tool', root, { tool: { name: 'Bash', paths: [], command } })
    expect(reply).toMatchObject({ decision: 'deny', reason: expect.stringContaining('Work on something else') })
  }
})

test('[E2] [E3] what a shell command changed is held like an edit: whoever changes it next is told', async () => {
  const { root, edit, start, hook, write, clock, act } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  act([['claim', { paths: ['src/cart.js#Cart'] }]], { session: 'c' })
  await edit('a', root, 'return due', 'return due + 1') // its claim is on another function
  const file = join(root, 'src/cart.js')
  write(file, readFileSync(file, 'utf8').replace('return rounded', 'return rounded + 1'))
  utimesSync(file, clock.now / 1000, clock.now / 1000)
  const command = 'sed -i "s/return rounded/return rounded + 1/" src/cart.js'
  await hook('a', 'after-tool', root, { tool: { name: 'Bash', paths: [], command } })
  const told = await edit('b', root, 'return rounded + 1', 'return 0')
  expect(told).toMatchObject({ decision: 'deny', reason: expect.stringContaining('is being edited by a') })
  expect((await edit('b', root, 'return due + 1', 'return 0')).decision).toBe('deny')
  expect(await edit('b', root, 'const RATE = 0.2', 'const RATE = 0.3')).toEqual({})
})

test('[E2] [E3] what a shell command has written is held before its hook is over, and nothing else of the file', async () => {
  const { root, hook, edit, start, write } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  expect(await edit('a', root, 'return 1', 'return 3')).toEqual({})
  const tool = { name: 'Bash', paths: [], command: 'sed -i s/RATE/VAT/ src/cart.js' }
  expect(await hook('a', 'before-tool', root, { tool })).toEqual({})
  const file = join(root, 'src/cart.js')
  write(file, readFileSync(file, 'utf8').replace('const due = sum * RATE', 'const due = sum * VAT'))
  // its own hook after the command has not run yet
  expect(await edit('b', root, 'let sum = 0', 'let sum = 1')).toEqual({})
  const met = await edit('b', root, 'const due = sum * VAT', 'const due = sum')
  expect(met).toMatchObject({ decision: 'deny', reason: expect.stringContaining('is being edited by a') })
  expect((await edit('b', root, 'return 3', 'return 4')).decision).toBe('deny')
})

/** Two sessions in one work tree. `later`: after all of their claims have run out. */
async function twoAtWork() {
  const repo = await repository()
  const { root, hook, edit, start, clock } = repo
  for (const session of ['ana', 'ben']) await start(session, root)
  const edited = async (session: string, old: string, next: string, path = 'src/cart.js') => {
    clock.now += 1_000
    const reply = await edit(session, root, old, next, path)
    const tool = toolOf('Edit', { file_path: join(root, path) })
    if (reply.decision !== 'deny') await hook(session, 'after-edit', root, { tool })
    return reply
  }
  const later = async () => {
    clock.now += 11 * 60_000
    await hook('ana', 'prompt', root, { prompt: 'go on with something else' })
  }
  return { ...repo, edited, later }
}

test('[X6] [E3] lines whose claim has run out are told to who has edited the file too, until they are committed', async () => {
  const { git, root, edited, later } = await twoAtWork()
  await edited('ben', 'const due = sum * RATE', 'const due = RATE * sum')
  await edited('ana', 'Math.round(all)', 'Math.floor(all)')
  await later()
  const over = await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')
  expect(over.decision).toBe('deny')
  expect(over.reason).toMatch(/in total\(\).* was changed by ana .*and is not committed/)
  // its own lines, and those of others that are committed, are no news
  expect(await edited('ben', 'RATE * sum', 'RATE * sum * 1')).toEqual({})
  git(root, 'commit', '-qam', 'floor')
  expect(await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')).toEqual({})
})

test('[X6] [E3] the same line of two files, left uncommitted, is told of each', async () => {
  const { root, git, write, edited, later } = await twoAtWork()
  write(join(root, 'src/other.js'), CART)
  git(root, 'add', 'src')
  git(root, 'commit', '-qm', 'other')
  for (const path of ['src/cart.js', 'src/other.js']) await edited('ana', 'return 1', 'return 7', path)
  await later()
  for (const path of ['src/cart.js', 'src/other.js'])
    expect(await edited('ben', 'return 7', 'return 8', path)).toMatchObject({ decision: 'deny' })
})

test('[X6] [E3] of what was left uncommitted the lines are told that were changed, and no others', async () => {
  const { edited, later } = await twoAtWork()
  await edited('ana', 'Math.round(all)', 'Math.floor(all)')
  await later()
  expect(await edited('ben', 'let sum = 0', 'let sum = 1')).toEqual({}) // in the same function
  const told = await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')
  expect(told).toMatchObject({
    decision: 'deny',
    reason: expect.stringMatching(/total\(\), line 8\) was changed by ana/),
  })
})

test('[X6] [E3] what was committed is no longer left, whoever changes the lines after that', async () => {
  const { git, root, write, edited, later } = await twoAtWork()
  await edited('ben', 'return due', 'return due + 1')
  await edited('ana', 'Math.round(all)', 'Math.floor(all)')
  await edited('ana', 'return 1', 'return 7')
  git(root, 'commit', '-qam', 'floor')
  const file = join(root, 'src/cart.js')
  write(file, readFileSync(file, 'utf8').replace('let sum = 0', 'let sum = 0 // by hand'))
  await later()
  expect(await edited('ben', 'let sum = 0 // by hand', 'let sum = 1')).toEqual({})
  expect(await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')).toEqual({})
  await later()
  expect(await edited('ben', 'Math.ceil(all)', 'Math.trunc(all)')).toEqual({})
})

test('[X6] [E3] who has written over what another left is not told that it is theirs', async () => {
  const { edited, later, clock } = await twoAtWork()
  await edited('ben', 'return due', 'return due + 1')
  await edited('ana', 'Math.round(all)', 'Math.floor(all)')
  clock.now += 5 * 60_000
  await edited('ben', 'return due + 1', 'return due + 2') // its claim is the older one, and lives on
  clock.now += 6 * 60_000
  expect((await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')).decision).toBe('deny')
  expect((await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')).decision).toBe('warn')
  await later()
  expect(await edited('ben', 'Math.ceil(all)', 'Math.trunc(all)')).toEqual({})
  // and what she writes over in her turn is hers
  for (const _ of [1, 2]) await edited('ana', 'Math.trunc(all)', 'Math.abs(all)')
  await later()
  expect((await edited('ben', 'Math.abs(all)', 'Math.sign(all)')).decision).toBe('deny')
})

test('[X6] [E3] what was left is told while its session edits other lines of the file, and after', async () => {
  const { edited, later } = await twoAtWork()
  await edited('ben', 'return due', 'return due + 1')
  await edited('ana', 'Math.round(all)', 'Math.floor(all)')
  await later()
  await edited('ana', 'return 2', 'return 3')
  expect((await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')).decision).toBe('deny')
  await later()
  expect((await edited('ben', 'Math.floor(all)', 'all')).decision).toBe('warn') // of the same lines
  expect((await edited('ben', 'return 3', 'return 4')).decision).toBe('deny')
})

test('[X6] [E3] what another left in a file stays theirs when a shell command changes the file', async () => {
  const { root, hook, write, edited, later } = await twoAtWork()
  await edited('ana', 'Math.round(all)', 'Math.floor(all)')
  await later()
  const file = join(root, 'src/cart.js')
  write(file, readFileSync(file, 'utf8').replace('return due', 'return 0'))
  const tool = toolOf('Bash', { command: 'sed -i "s/return due/return 0/" src/cart.js' })
  await hook('ben', 'after-tool', root, { tool })
  expect(await edited('ben', 'return 0', 'return 1')).toEqual({})
  expect((await edited('ben', 'Math.floor(all)', 'Math.ceil(all)')).decision).toBe('deny')
})

test('[E2] a name that is too long for a file keeps nobody from looking at the rest of a command, before it and after', async () => {
  const { root, edit, start, hook, write, memory } = await repository()
  await start('a', root)
  await start('b', root, process.ppid)
  await edit('a', root, 'return 1', 'return 7')
  const long = 'x'.repeat(300)
  const bash = (event: HookCall['event'], command: string) =>
    hook('b', event, root, { tool: toolOf('Bash', { command }) })
  for (const first of [`cp src/other.js ${long}`, `echo hi > ${long}`])
    expect(await bash('before-tool', `${first} && rm src/cart.js`)).toMatchObject({ decision: 'deny' })
  const file = join(root, 'src/cart.js')
  write(file, readFileSync(file, 'utf8').replace('return due', 'return 0'))
  await bash('after-tool', `sed -i "s/return due/return 0/" src/cart.js ${long}`)
  const files = () => sessionsOf(memory).get('b')?.files
  expect(files()).toEqual(['src/cart.js'])
  // a patch in a shell is noted by the next hook, once the file was written
  const patch = [`*** Update File: ${long}`, '*** Update File: src/new.js'].map((f) => `${f}\n@@\n-x\n+y`)
  const command = `apply_patch <<'EOF'\n*** Begin Patch\n${patch.join('\n')}\n*** End Patch\nEOF\n`
  const tool = { name: 'Bash', paths: [long, 'src/new.js'], command }
  await hook('b', 'before-edit', root, { client: 'codex', tool })
  write(join(root, 'src/new.js'), 'y\n')
  await hook('b', 'prompt', root, { prompt: 'go on' })
  expect(files()).toEqual(['src/cart.js', 'src/new.js'])
})
