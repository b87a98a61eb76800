import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { holdsOf, marksOf } from '../../src/find/recall/told.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { openTestCode } from '../code/code.ts'

/** A project with one commit on main. */
function repository() {
  const c = openTestCode({ 'src/vat.ts': 'export const vat = 19\n' })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: c.root, stdio: 'pipe' })
  git('init', '-q', '-b', 'main')
  git('add', 'src')
  git('commit', '-qm', 'one')
  return { c, git }
}

const NAMED = 'on branch feature/vat, which is not merged here'

test('[E4] a decision belongs to its branch until that is merged, and is marked elsewhere; a rule holds everywhere', () => {
  const { c, git } = repository()
  git('checkout', '-qb', 'feature/vat')
  git('commit', '-q', '--allow-empty', '-m', 'two')
  const on = { branch: 'feature/vat' }
  c.memory.act([['record-decision', { name: 'vat-in-cents', description: 'VAT is kept in cents', impact: 9 }]], on)
  c.memory.act([['record-failed-approach', { approach: 'VAT as a float', outcome: 'cents were lost' }]], on)
  c.memory.act([['record-fact', { fact: 'Never log a price', category: 'constraint' }]], { ...on, by: 'person' })
  c.memory.act([['record-decision', { name: 'use-tabs', description: 'Files are written with tabs', impact: 2 }]], {
    branch: 'main',
  })
  const marks = () => {
    const all = ['decision', 'failed-approach', 'fact'].flatMap((kind) => c.memory.reader.list(kind))
    return Object.fromEntries([...holdsOf(c.memory, c.root, all)].map(([id, holds]) => [id, marksOf(holds).join('; ')]))
  }
  const none = { 'decision:vat-in-cents': '', 'decision:use-tabs': '', 'failed-approach:vat-as-a-float': '', 'fact:never-log-a-price': '' } // biome-ignore format: one row
  const apart = { ...none, 'decision:vat-in-cents': NAMED, 'failed-approach:vat-as-a-float': NAMED }
  expect(marks()).toEqual(none) // on the branch itself; what was said on main is said for all
  git('checkout', '-q', 'main')
  expect(marks()).toEqual(apart)
  const told = brief(c.memory, c.project, { branch: 'main' } as never).text
  expect(told).toContain(NAMED)
  expect(told.indexOf('written with tabs')).toBeLessThan(told.indexOf('kept in cents'))
  git('pack-refs', '--all')
  git('checkout', '-q', '--detach', 'main')
  expect(marks()).toEqual(apart)
  git('checkout', '-q', 'main')
  git('merge', '-q', '--no-ff', '-m', 'merged', 'feature/vat')
  expect(marks()).toEqual(none)
  git('reset', '-q', '--hard', 'HEAD~1')
  git('update-ref', 'refs/remotes/origin/feature/vat', 'feature/vat')
  git('branch', '-qD', 'feature/vat')
  expect(marks()).toEqual(apart) // a teammate has it
  git('update-ref', '-d', 'refs/remotes/origin/feature/vat')
  expect(marks()).toEqual(none) // it is gone: nobody knows what came of it
})

test('[E4] what another branch has replaced holds here until that is merged, and is told so', () => {
  const { c, git } = repository()
  const decide = (name: string, description: string, on: string) =>
    c.memory.act([['record-decision', { name, description }]], { branch: on })
  decide('max-400', 'At most 400 m', 'main')
  git('checkout', '-qb', 'hotfix')
  git('commit', '-q', '--allow-empty', '-m', 'two')
  decide('max-420', 'At most 420 m', 'hotfix')
  c.memory.act([['supersede', { old: 'max-400', new: 'max-420' }]], { branch: 'hotfix' })
  const told = () => brief(c.memory, c.project, {} as never).text
  const marks = () => {
    const all = ['decision:max-400', 'decision:max-420'].map((id) => c.memory.reader.entity(id)!)
    return [...holdsOf(c.memory, c.root, all).values()].map((holds) => marksOf(holds).join(', '))
  }
  expect(told()).not.toContain('400 m')
  expect(marks()).toEqual(['superseded by decision:max-420', ''])
  git('checkout', '-q', 'main')
  expect(told()).toMatch(/At most 400 m \(.*superseded on branch hotfix by decision:max-420\)/)
  expect(told().indexOf('400 m')).toBeLessThan(told().indexOf('420 m'))
  const other = 'on branch hotfix, which is not merged here, here decision:max-400 holds'
  expect(marks()).toEqual(['superseded on branch hotfix by decision:max-420', other])
  git('merge', '-q', '--no-ff', '-m', 'merged', 'hotfix')
  expect(told()).not.toContain('400 m')
  expect(marks()).toEqual(['superseded by decision:max-420', ''])
})

test('[E4] the name of a branch comes from others: it names nothing but a branch', () => {
  const c = openTestCode({})
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: c.root })
  const names = ['../../../etc/passwd', '--upload-pack=x', 'a b', 'HEAD', '*', 'x'.repeat(5_000), '..', 'a\nb']
  for (const [i, branch] of names.entries())
    c.memory.act([['record-decision', { name: `d${i}`, description: `Number ${i} holds` }]], { branch })
  const all = c.memory.reader.list('decision')
  expect(all.length).toBe(names.length)
  for (const holds of holdsOf(c.memory, c.root, all).values()) expect(marksOf(holds)).toEqual([])
})

/** A project with a decision on a branch of its own that has a commit. */
function onBranch() {
  const { c, git } = repository()
  git('checkout', '-qb', 'feature/x')
  writeFileSync(join(c.root, 'src/x.ts'), 'x')
  git('add', 'src')
  git('commit', '-qm', 'x')
  c.memory.act([['record-decision', { name: 'd', description: 'Orders go to a queue' }]], { branch: 'feature/x' })
  const marks = (root = c.root) => {
    const all = c.memory.reader.list('decision')
    return [...holdsOf(c.memory, root, all).values()].map((holds) => marksOf(holds).join())
  }
  return { c, git, marks }
}

test('[E4] a branch that was rebased, pushed before, and merged is merged; a shallow clone knows of none', () => {
  const { c, git, marks } = onBranch()
  git('update-ref', 'refs/remotes/origin/feature/x', 'HEAD')
  git('checkout', '-q', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'other')
  git('checkout', '-q', 'feature/x')
  git('rebase', '-q', 'main')
  git('checkout', '-q', 'main')
  expect(marks()).not.toEqual([''])
  git('merge', '-q', '--no-ff', '-m', 'merged', 'feature/x')
  expect(marks()).toEqual([''])
  git('commit', '-q', '--allow-empty', '-m', 'later')
  const shallow = join(c.dir, 'shallow')
  execFileSync('git', ['clone', '-q', '--depth', '1', '--no-single-branch', `file://${c.root}`, shallow])
  expect(marks(shallow)).toEqual([''])
})

test('[E4] a git that does not answer holds nobody up for long, however many branches there are', () => {
  const { c, git, marks } = onBranch()
  git('checkout', '-q', 'main')
  for (let i = 0; i < 20; i++)
    c.memory.act([['record-decision', { name: `d${i}`, description: `Number ${i} holds` }]], { branch: `b${i}` })
  const bin = join(c.dir, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 })
  const path = process.env.PATH
  process.env.PATH = `${bin}:${path}`
  try {
    const started = performance.now()
    expect(new Set(marks())).toEqual(new Set(['']))
    expect(performance.now() - started).toBeLessThan(5_000)
  } finally {
    process.env.PATH = path
  }
})

test('[W1] [E4] what was retired or replaced here too is not told as holding here', () => {
  const { c, git } = repository()
  const decide = (name: string, old?: string) => {
    const branch = git('branch', '--show-current').toString().trim()
    c.memory.act([['record-decision', { name }]], { branch })
    if (old) c.memory.act([['supersede', { old, new: name }]], { branch })
  }
  for (const name of ['vat-19', 'max-400', 'min-10', 'one-till']) decide(name)
  git('checkout', '-qb', 'hotfix')
  git('commit', '-q', '--allow-empty', '-m', 'two')
  decide('vat-20', 'vat-19')
  decide('max-420', 'max-400')
  decide('min-20', 'min-10')
  decide('min-30', 'min-20')
  decide('two-tills', 'one-till')
  git('checkout', '-q', 'main')
  c.memory.act([['retire', { ref: 'decision:vat-19', reason: 'no VAT at all' }]], { branch: 'main' })
  decide('max-500', 'max-400')
  const marks = (name: string) => {
    const e = c.memory.reader.entity(`decision:${name}`)!
    return marksOf(holdsOf(c.memory, c.root, [e]).get(e.id)!).join(', ')
  }
  const apart = 'on branch hotfix, which is not merged here'
  for (const name of ['vat-20', 'max-420', 'min-30']) expect([name, marks(name)]).toEqual([name, apart])
  expect(marks('two-tills')).toBe(`${apart}, here decision:one-till holds`)
})
