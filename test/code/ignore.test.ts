import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Ignored } from '../../src/find/code/ignore.ts'

const RULES: Readonly<Record<string, string>> = {
  '.gitignore':
    '# a comment\n*.log\n!keep.log\n/top\nbuild/\ndocs/*.txt\na/**/z\n**/deep\nq?x\n[ab]c\n[!d-f]g\n\\#hash\nspace\\ \nabc/**\n*.[oa]\n\r\n',
  'src/.gitignore': '!x.log\nlocal\n/anchored\n',
}
const PATHS = [
  'x.log', 'keep.log', 'src/x.log', 'src/y.log', 'top', 'src/top', 'build/a', 'src/build/a', 'build', 'docs/a.txt', 'docs/b/a.txt',
  'a/z', 'a/b/z', 'a/b/c/z', 'z', 'deep', 'x/deep', 'x/y/deep/f', 'qax', 'qx', 'ac', 'cc', 'xg', 'dg', '#hash', 'abc/d', 'x.o', 'x.c',
  'src/local', 'src/a/local', 'local', 'src/anchored', 'src/a/anchored', 'logs/x.log.txt', 'src/.gitignore', 'äc',
] // biome-ignore format: a list

test('[F1] what is left out is what git leaves out', () => {
  const root = mkdtempSync(join(tmpdir(), 'tidemark-ignore-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' })
  git('init', '-q')
  for (const [path, text] of Object.entries(RULES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  writeFileSync(join(root, '.git/info/exclude'), 'excluded\n')
  const all = [...PATHS, 'excluded', 'x/excluded']
  const wanted = all.filter((path) => {
    try {
      git('check-ignore', '-q', '--no-index', path)
      return true
    } catch {
      return false
    }
  })
  const ignored = new Ignored(root)
  expect(all.filter((path) => ignored.path(path))).toEqual(wanted)
  const below = new Ignored(join(root, 'src'))
  const inside = all.flatMap((path) => (path.startsWith('src/') ? [path.slice(4)] : []))
  expect(inside.filter((path) => below.path(path))).toEqual(
    wanted.flatMap((p) => (p.startsWith('src/') ? [p.slice(4)] : [])),
  )
})

test('a hostile .gitignore takes no time', () => {
  const root = mkdtempSync(join(tmpdir(), 'tidemark-ignore-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  writeFileSync(join(root, '.gitignore'), `${'*a'.repeat(400)}b\n${'**/a/'.repeat(100)}b\n[\n`)
  const path = `${'a/'.repeat(100)}${'a'.repeat(250)}`
  const begin = performance.now()
  expect(new Ignored(root).path(path)).toBe(false)
  expect(performance.now() - begin).toBeLessThan(2_000)
})
