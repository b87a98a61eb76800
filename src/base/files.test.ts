import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_PIPES, testUnless } from '../../test/needs.ts'
import {
  appendInside,
  createInside,
  inspect,
  readInside,
  readRegular,
  removeInside,
  replaceFile,
  sweepTemporary,
  writeInside,
} from './files.ts'

let base: string
let root: string
let outside: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'tidemark-files-'))
  root = join(base, 'project')
  outside = join(base, 'outside')
  for (const dir of [root, join(root, 'a'), outside]) mkdirSync(dir)
  writeFileSync(join(outside, 'canary'), 'canary\n')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const unsafe = expect.objectContaining({ name: 'UserError', code: 'unsafe-path' })

/** Every write to a path is refused, nothing is read there, and nothing outside changes. */
function expectRefused(path: string): void {
  expect(inspect(root, path).is).toBe('unsafe')
  expect(readInside(root, path)).toBeUndefined()
  for (const write of [writeInside, createInside, appendInside])
    expect(() => write(root, path, 'new\n'), write.name).toThrow(unsafe)
  expect(readdirSync(outside)).toEqual(['canary'])
  expect(readFileSync(join(outside, 'canary'), 'utf8')).toBe('canary\n')
}

test('[T20] a file below a root is written, read, appended to and removed', () => {
  writeInside(root, 'b/c/file', 'one\n')
  appendInside(root, 'b/c/file', 'two\n')
  expect(`${readInside(root, 'b/c/file')}`).toBe('one\ntwo\n')
  expect(createInside(root, 'b/c/file', 'other')).toBe(false)
  expect(createInside(root, 'b/d', 'other')).toBe(true)
  chmodSync(join(root, 'b/d'), 0o640)
  writeInside(root, 'b/d', 'again')
  expect(statSync(join(root, 'b/d')).mode & 0o777).toBe(0o640)
  expect(removeInside(root, 'b/d')).toBe(true)
  expect(removeInside(root, 'b/d')).toBe(false)
  expect(removeInside(root, 'b')).toBe(false)
  expect(readdirSync(join(root, 'b'))).toEqual(['c'])
})

test.each([
  ['an absolute link to a file', () => join(outside, 'canary')],
  ['a relative link to a file', () => '../../outside/canary'],
  ['a link to a directory', () => outside],
  ['a link to nothing', () => join(outside, 'new')],
  ['a link to another file of the project', () => 'b'],
])('[T20] %s is no file: neither read nor written, and removed without what it names', (_, target) => {
  writeFileSync(join(root, 'a', 'b'), 'b\n')
  symlinkSync(target(), join(root, 'a', 'link'))
  expectRefused('a/link')
  expect(removeInside(root, 'a/link')).toBe(true)
  expect(existsSync(join(outside, 'canary'))).toBe(true)
  expect(existsSync(join(root, 'a', 'link'))).toBe(false)
})

test('[T20] a link anywhere on the way is not followed', () => {
  mkdirSync(join(outside, 'deep'))
  symlinkSync(outside, join(root, 'a', 'link'))
  for (const path of ['a/link/canary', 'a/link/new', 'a/link/deep/new', 'a/link/made/new']) {
    expect(readInside(root, path)).toBeUndefined()
    for (const write of [writeInside, createInside, appendInside])
      expect(() => write(root, path, 'new\n'), write.name).toThrow(unsafe)
    expect(removeInside(root, path)).toBe(false)
  }
  expect(readdirSync(outside, { recursive: true }).sort()).toEqual(['canary', 'deep'])
})

test.each(['../outside/canary', 'a/../../outside/canary', '..', '.', '', '/etc/passwd', 'a//b', 'a/./b', 'a/\0'])(
  '[T20] %j is no path below a root',
  (path) => {
    expectRefused(path)
    expect(removeInside(root, path)).toBe(false)
  },
)

test('[T20] a file with a second name is replaced, never changed in place', () => {
  linkSync(join(outside, 'canary'), join(root, 'hard'))
  appendInside(root, 'hard', 'more\n')
  writeInside(root, 'hard', `${readInside(root, 'hard')}end\n`)
  expect(readFileSync(join(root, 'hard'), 'utf8')).toBe('canary\nmore\nend\n')
  expect(readFileSync(join(outside, 'canary'), 'utf8')).toBe('canary\n')
})

testUnless(NO_PIPES)('[T24] a pipe in the place of a file is not waited for', () => {
  expect(spawnSync('mkfifo', [join(root, 'a', 'pipe')]).status).toBe(0)
  expectRefused('a/pipe')
  expect(readRegular(join(root, 'a', 'pipe'))).toBeUndefined()
  expect(readRegular('/dev/zero')).toBeUndefined()
})

test('[T24] a huge file is not read', () => {
  writeFileSync(join(root, 'huge'), '')
  truncateSync(join(root, 'huge'), 2 ** 40)
  expect(readInside(root, 'huge')).toBeUndefined()
  expect(readInside(root, 'a')).toBeUndefined()
})

test('[T27] what a killed process left on its way is removed; what a living one writes stays', () => {
  const [dead] = [spawnSync(process.execPath, ['-e', '']).pid]
  const left = `.tidemark-${dead}-0123456789ab.tmp`
  const busy = `.tidemark-${process.pid}-0123456789ab.tmp`
  for (const name of [left, busy, `${left}.md`, 'tidemark.tmp']) writeFileSync(join(root, name), 'half')
  symlinkSync(join(outside, 'canary'), join(root, left.replace('0', '1')))
  expect(sweepTemporary(root, Date.now())).toEqual([left])
  expect(sweepTemporary(root, Date.now() + 2 * 3_600_000)).toEqual([busy])
  expect(sweepTemporary(join(root, 'none'), Date.now())).toEqual([])
  expect(readdirSync(root).sort()).toEqual([left.replace('0', '1'), `${left}.md`, 'a', 'tidemark.tmp'].sort())
  replaceFile(join(root, 'x'), 'whole')
  expect(readFileSync(join(root, 'x'), 'utf8')).toBe('whole')
})
