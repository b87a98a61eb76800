import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, overlaps, tidyPath } from '../../src/engine/claims/glob.ts'
import { runs } from '../runs.ts'

test.each([
  ['src/a.ts', 'src/a.ts', true],
  ['src', 'src/auth/token.ts', true],
  ['.', 'anything/at/all', true],
  ['src/auth', 'src/authors', false],
  ['src/**', 'src/auth/*.ts', true],
  ['src/*.ts', 'src/*.md', false],
  ['src/*.ts', 'src/deep/a.ts', false],
  ['**/*.test.ts', 'src/auth/token.test.ts', true],
  ['**/*.test.ts', 'src/auth/token.ts', false],
  ['src/{auth,db}/**', 'src/db/pool.ts', true],
  ['src/{auth,db}/**', 'src/web/app.ts', false],
  ['a/?.ts', 'a/bc.ts', false],
  ['a/[xy].ts', 'a/x.ts', true],
  ['src/**/x.ts', 'src/x.ts', true],
  ['a*c', 'ab*', true],
  ['C++/x', 'C++/x', true],
  ['conf.d', 'conf.d/*', true],
  ['conf.d', 'conf.d/a/b', true],
  ['src/*.ts', '**/*.md', false],
  ['src/v1.2', '**/*.ts', true],
])('[X6] %s and %s: %s', (a, b, meets) => {
  expect(overlaps(a, b)).toBe(meets)
  expect(overlaps(b, a)).toBe(meets)
})

test.each([
  ['**/*.test.ts', 'Makefile', false],
  ['**/*.env', 'Makefile', false],
  ['**/*.test.ts', 'LICENSE/x', false],
  ['**/*.test.ts', 'src/auth/token.test.ts', true],
  ['src', 'src/auth/Makefile', true],
  ['src/v1.2', 'src/v1.2/Makefile', true],
  ['src/**', 'src/Makefile', true],
  ['src/*', 'src/a/b', true],
  ['src/*.ts', 'src/a.ts', true],
  ['src/Makefile', 'src', false],
  ['{a,b}/Makefile', 'b/Makefile', true],
  ['app/[id]', 'app/[id]/page.tsx', true],
  ['app/a', 'app/[id]', false],
  ['.', 'Makefile', true],
])('[X6] %s claims the file %s: %s', (pattern, file, claims) => {
  expect(covers(pattern, file)).toBe(claims)
})

test('[X6] paths as they are kept', () => {
  expect(['./src//a.ts', 'src/', 'src\\a.ts', '..', '../x', '/etc', '', 'a/../b'].map(tidyPath)).toEqual([
    'src/a.ts', 'src', 'src/a.ts', undefined, undefined, undefined, '.', 'b',
  ]) // biome-ignore format: side by side
})

/** A second opinion: every file of a small tree that a pattern claims, by regular expression. */
const UNIVERSE = ['a', 'b', 'ab', 'ba', 'c.t'].flatMap((x) => [
  x,
  ...['a', 'b', 'ab', 'c.t'].flatMap((y) => [`${x}/${y}`, ...['a', 'b.t'].map((z) => `${x}/${y}/${z}`)]),
])

function claimed(pattern: string): string[] {
  const expand = (p: string): string[] => {
    const m = /\{([^{}]*)\}/.exec(p)
    return m
      ? m[1]!.split(',').flatMap((part) => expand(p.slice(0, m.index) + part + p.slice(m.index + m[0].length)))
      : [p]
  }
  const source = (p: string) =>
    p
      .split('/')
      .map((s) =>
        s === '**' ? '(?:[^/]+/)*' : `${s.replace(/[.+]/g, '\\$&').replace(/\*+/g, '[^/]*').replace(/\?/g, '[^/]')}/`,
      )
      .join('')
  const all = expand(pattern).map((p) => new RegExp(`^${source(p)}(?:[^/]+/)*$`))
  return UNIVERSE.filter((f) => all.some((re) => re.test(`${f}/`)))
}

test('[X6] whoever claims a common file is in the way', { tags: ['property'] }, () => {
  const name = fc.constantFrom('a', 'b', 'ab', '*', 'a*', '*b', '?', '**', '{a,b}', 'c.t', '*.t')
  const pattern = fc.array(name, { minLength: 1, maxLength: 3 }).map((p) => p.join('/'))
  fc.assert(
    fc.property(pattern, pattern, (a, b) => {
      for (const f of UNIVERSE) if (!a.includes('.t')) expect(covers(a, f), `${a} ${f}`).toBe(claimed(a).includes(f))
      const common = claimed(a).filter((f) => claimed(b).includes(f))
      // what ends like a file has nothing below it, so there must be a file that both name
      if (common.length > 0 && !a.includes('.t') && !b.includes('.t')) expect(overlaps(a, b)).toBe(true)
      expect(overlaps(a, b)).toBe(overlaps(b, a))
      expect(overlaps(a, a)).toBe(true)
    }),
    { numRuns: runs(500, 3000) },
  )
})

test('[X6] [T16] patterns made to be slow are compared in bounded work', () => {
  const started = performance.now()
  expect(overlaps('{a,b}'.repeat(8) + '*x'.repeat(500), '{a,b}'.repeat(8) + '*y'.repeat(500))).toBe(true)
  expect(overlaps('**/'.repeat(5_000) + 'a', '**/'.repeat(5_000) + 'b.ts')).toBe(true)
  overlaps('{'.repeat(8_000) + '}'.repeat(8_000), 'x')
  expect(overlaps('[a'.repeat(8_000), 'x')).toBe(false)
  expect(overlaps('src/**/{a,b}/*.ts', 'src/one/two/a/x.ts')).toBe(true)
  expect(overlaps('a/'.repeat(3_000), 'b/'.repeat(3_000))).toBe(false)
  expect(performance.now() - started).toBeLessThan(20_000)
})
