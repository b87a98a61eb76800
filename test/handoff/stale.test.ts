import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { commitsOf } from '../../src/work/handoff/commits.ts'
import { git, scratch } from '../cli/run.ts'

const sha = (n: number) => n.toString(16).padStart(40, '0')

/** A reflog as git writes it, one entry per line, a minute apart from the first. */
function reflog(dir: string, entries: readonly string[]): number {
  const start = Date.UTC(2026, 10, 20, 12)
  const log = join(dir, '.git/logs/HEAD')
  mkdirSync(dirname(log), { recursive: true })
  const lines = entries.map((what, i) => `${sha(i)} ${sha(i + 1)} A B <a@b> ${start / 1000 + i * 60} +0100\t${what}\n`)
  writeFileSync(log, lines.join(''))
  return start
}

test('[P4] commits are counted from the reflog: what brings one, not what moves about', () => {
  const { dir } = scratch()
  const start = reflog(dir, [
    'commit (initial): a',
    'commit: b',
    'checkout: moving from main to x',
    'commit (amend): b',
    'reset: moving to HEAD~1',
    'merge x: Fast-forward',
    'rebase (pick): c',
    'cherry-pick: d',
  ])
  expect(commitsOf(dir)(start - 1000)).toBe(5)
  expect(commitsOf(dir)(start + 90_000)).toBe(3)
  expect(commitsOf(dir)(start + 3_600_000)).toBe(0)
  // within the very second, what HEAD was then decides
  expect(commitsOf(dir)(start + 60_500, sha(1))).toBe(4)
  expect(commitsOf(dir)(start + 60_500, sha(2))).toBe(3)
})

test('[P4] without a reflog nothing is said', () => {
  const { dir } = scratch()
  expect(commitsOf(dir)(0)).toBeUndefined()
  mkdirSync(join(dir, '.git'))
  expect(commitsOf(dir)(0)).toBeUndefined()
})

test('[P4] a linked work tree has its own reflog', () => {
  const { dir } = scratch()
  const before = Date.now() - 5000
  git(dir, 'init', '-q')
  git(dir, 'commit', '-q', '--allow-empty', '-m', 'one')
  git(dir, 'worktree', 'add', '-q', '../tree')
  const tree = join(dir, '../tree')
  git(tree, 'commit', '-q', '--allow-empty', '-m', 'two')
  git(tree, 'commit', '-q', '--allow-empty', '-m', 'three')
  expect(commitsOf(dir)(before)).toBe(1)
  expect(commitsOf(tree)(before)).toBe(2)
})
