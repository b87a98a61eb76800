import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Rules of the observable behaviour whose capability is built. Each later capability adds its own. */
const BUILT = [
  ...Array.from({ length: 11 }, (_, i) => `D${i + 1}`),
  ...Array.from({ length: 10 }, (_, i) => `A${i + 1}`),
  ...Array.from({ length: 5 }, (_, i) => `S${i}`),
  ...Array.from({ length: 7 }, (_, i) => `C${i + 1}`),
  ...Array.from({ length: 6 }, (_, i) => `H${i + 1}`),
  'G6',
  'G7',
  ...Array.from({ length: 8 }, (_, i) => `X${i + 1}`),
  'P4',
  'P5',
  'P6',
  'F1',
  'F2',
  ...Array.from({ length: 7 }, (_, i) => `M${i + 1}`),
  ...Array.from({ length: 10 }, (_, i) => `N${i + 1}`),
  ...['Y1', 'Y3', 'Y4', 'Y5'],
  ...Array.from({ length: 7 }, (_, i) => `J${i + 1}`),
]

test('every rule whose capability is built is named by a test that proves it', () => {
  const root = join(import.meta.dirname, '..')
  const tests = ['src', 'test'].flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.test.ts') && f !== 'rules.test.ts')
      .map((f) => readFileSync(join(root, dir, f), 'utf8')),
  )
  const named = new Set(tests.flatMap((text) => [...text.matchAll(/\[([A-Z]\d+)\]/g)].map((m) => m[1]!)))
  expect(BUILT.filter((id) => !named.has(id))).toEqual([])
})

test('every boundary of docs/security.md is held by a test, and every such test stands there', () => {
  const root = join(import.meta.dirname, '..')
  const tests = ['src', 'test'].flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.test.ts') && f !== 'rules.test.ts')
      .map((f) => readFileSync(join(root, dir, f), 'utf8')),
  )
  const held = new Set(tests.flatMap((text) => [...text.matchAll(/\[(T\d+)\]/g)].map((m) => m[1]!)))
  const page = readFileSync(join(root, 'docs', 'security.md'), 'utf8')
  const said = [...page.matchAll(/^\| (T\d+) \|/gm)].map((m) => m[1]!)
  expect([...held].sort()).toEqual([...new Set(said)].sort())
})

test('every rule id that code, tests or pages cite stands in docs/rules.md or docs/security.md', () => {
  const root = join(import.meta.dirname, '..')
  const page = ['rules.md', 'security.md'].map((name) => readFileSync(join(root, 'docs', name), 'utf8')).join('\n')
  const defined = new Set([...page.matchAll(/^\| ([A-Z]\d+) \|/gm)].map((m) => m[1]!))
  expect([...BUILT.filter((id) => !defined.has(id))]).toEqual([])
  const cited = ['src', 'test', 'docs'].flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
      .filter((f) => /\.(?:ts|md)$/.test(f))
      .flatMap((f) =>
        readFileSync(join(root, dir, f), 'utf8')
          .split('\n')
          .flatMap((line) => {
            const ids = [
              ...line.matchAll(/\[([A-Z]\d{1,3})\]/g),
              ...(/^\s*(?:\/\/|\/?\*)/.test(line) ? line.matchAll(/\b([ACDGHKMPSTVX]\d{1,3})\b/g) : []),
            ]
            return ids
              .map((m) => m[1]!)
              .filter((id) => !defined.has(id))
              .map((id) => `${dir}/${f}: ${id}`)
          }),
      ),
  )
  expect(cited).toEqual([])
})
