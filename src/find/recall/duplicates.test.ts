import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Comparable, foldSimilar } from './duplicates.ts'

const items = (texts: readonly string[], kind = 'learning'): Comparable[] =>
  texts.map((text, i) => ({ id: `${kind}:${i}`, kind, text }))
const same = (a: string, b: string) => foldSimilar(items([a, b])).length === 1

const ALIKE = [
  ['Run the tests before committing', 'Always run tests before you commit.'],
  ['Tests must be run before each commit', 'Run tests before every commit!'],
  ['Use HS256 for signing tokens', 'use HS256 for signing tokens.'],
  ['Prefer named exports', 'Use named exports'],
  ["Don't use sync I/O in handlers", 'Do not use sync I/O in handlers'],
  ['Avoid sync I/O in handlers', 'Never use sync I/O in handlers'],
  ['Normalise the colour of every button', 'Normalize the color of each button'],
  [
    'The store is one SQLite file in the git common directory',
    'Our store is one single SQLite file in the git common directory',
  ],
  ['提交之前运行测试', '提交之前运行测试。'],
  ['The hub listens on port 8080', 'the hub is listening on port 8080'],
] as const

const DIFFERENT = [
  ['Use HS256 for signing tokens', 'Use RS256 for signing tokens'],
  ['Do cache responses of the hub', 'Do not cache responses of the hub'],
  ['Use caching in handlers', "Don't use caching in handlers"],
  ['Sessions expire after 30 minutes', 'Sessions expire after 60 minutes'],
  ['Requires Node 22.13', 'Requires Node 22.18'],
  ['Upgrade to v2 of the API', 'Upgrade to v3 of the API'],
  ['Run tests before the commit', 'Run tests after the commit'],
  ['The client calls the server', 'The server calls the client'],
  ['Replace yarn by pnpm', 'Replace pnpm by yarn'],
  ['Upgrade from v1.2 to v1.3 first', 'Upgrade from v1.3 to v1.2 first'],
  ['A blocks B in deployment order', 'B blocks A in deployment order'],
  [
    'Store sessions of the hub in Postgres since it fans out to every peer',
    'Store sessions of the hub in Redis since it fans out to every peer',
  ],
  ['Cache the responses of the public API for readers', 'Cache the responses of the public API for readers only'],
  ['Retry failed uploads', 'Retry failed uploads 3 times'],
  ['Write unit tests', 'Write integration tests'],
  ['提交之前运行测试', '提交之前不运行测试'],
  ['用户数据存在本地', '用户数据存在云端'],
  ['src/auth.ts', 'src/oauth.ts'],
  ['C++ is used for the codec', 'C# is used for the codec'],
  ['Tests with network are allowed', 'Tests without network are allowed'],
] as const

test('[H6] what says the same in nearly the same words is folded', () => {
  expect(ALIKE.filter(([a, b]) => !same(a, b) || !same(b, a))).toEqual([])
})

test('[H6] another object, number, version, order, limit or a negation is never folded', () => {
  expect(DIFFERENT.filter(([a, b]) => same(a, b) || same(b, a))).toEqual([])
})

test('[H6] the best-ranked one stays, with the ids of the others in their order', () => {
  const ranked = items([
    'Run the tests before committing',
    'The hub needs a token',
    'Run tests before you commit.',
    'Tests must be run before each commit',
  ])
  expect(foldSimilar(ranked).map((f) => [f.item.id, f.similar])).toEqual([
    ['learning:0', ['learning:2', 'learning:3']],
    ['learning:1', []],
  ])
})

test('[H6] a question is not folded into a decision, statements of two kinds are folded', () => {
  const of = (kind: string): Comparable => ({ id: `${kind}:x`, kind, text: 'Use HS256 for signing tokens' })
  const ids = (...kinds: string[]) => foldSimilar(kinds.map(of)).map((f) => f.item.id)
  expect(ids('decision', 'question', 'task')).toEqual(['decision:x', 'question:x', 'task:x'])
  expect(ids('decision', 'fact')).toEqual(['decision:x'])
})

test('[H6] nothing is lost, nothing is told twice, whatever is given', () => {
  const word = fc.constantFrom(
    'use',
    'not',
    'cache',
    'hub',
    'token',
    'tokens',
    '30',
    'v2',
    'only',
    '不',
    '用',
    '😀',
    '',
  )
  const text = fc.array(word, { maxLength: 9 }).map((words) => words.join(' '))
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
      const given = items(texts)
      const folded = foldSimilar(given)
      const told = folded.flatMap((f) => [f.item.id, ...f.similar])
      expect(told.sort()).toEqual(given.map((g) => g.id).sort())
      expect(foldSimilar(given)).toEqual(folded)
      // what stays is not alike: folding again changes nothing
      expect(foldSimilar(folded.map((f) => f.item))).toHaveLength(folded.length)
    }),
  )
})

test('[H6] 300 candidates are folded in a few milliseconds, 3,000 in not much more than ten times that', () => {
  const vocabulary = Array.from({ length: 900 }, (_, i) => `word${String.fromCharCode(97 + (i % 26))}${i}`)
  const some = (n: number) =>
    items(
      Array.from({ length: n }, (_, i) =>
        Array.from({ length: 40 }, (_, j) => vocabulary[(i * 31 + j * j * 7 + (i % 5 === 0 ? 0 : i)) % 900]).join(' '),
      ),
    )
  const time = (n: number) => {
    const given = some(n)
    const start = performance.now()
    foldSimilar(given)
    return performance.now() - start
  }
  time(300)
  const [small, large] = [time(300), time(3000)]
  console.log(`folding 300: ${small.toFixed(1)} ms, 3,000: ${large.toFixed(1)} ms`)
  expect(small).toBeLessThan(1_000) // ten times the idle figures
  expect(large).toBeLessThan(15_000)
})
