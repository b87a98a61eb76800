import { expect, test } from 'vitest'
import { byId, contradictions, type Said } from './contradict.ts'

const said = (texts: readonly string[], kind = 'decision'): Said[] =>
  texts.map((text, i) => ({ id: `${kind}:${i}`, kind, text }))
const verdict = (a: string, b: string, kind?: string) => {
  const [c] = contradictions(said([a, b], kind))
  return c ? (c.certain ? 'certain' : 'possible') : 'none'
}
const verdicts = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([a, b]) => [a, b, verdict(a, b), verdict(b, a)])
const all = (pairs: readonly (readonly [string, string])[], is: string) => pairs.map(([a, b]) => [a, b, is, is])

const CERTAIN = [
  ['Use HS256 for signing tokens', 'Use RS256 for signing tokens'],
  ['Use HS256 algorithm for JWT signing.', 'We use RS256, for JWT signing'],
  ['Use HS256 because it is simple', 'Use RS256 so that services can verify with the public key'],
  ['Use Postgres as the database', 'Use SQLite as the database'],
  ['use-postgres\nPostgres holds everything', 'use-sqlite\nOne file is enough'],
  ['Use caching', 'Avoid caching'],
  ['Store tokens in localStorage', 'Never store tokens in localStorage'],
  ['Commit generated files', "Don't commit generated files"],
  ['Sessions expire after 30 minutes', 'Sessions expire after 60 minutes'],
  ['The server requires Node 20', 'The server requires Node 22'],
  ['Run the migrations before the deploy', 'Run the migrations after the deploy'],
  ['Indent with tabs', 'Indent with spaces'],
  ['Prefer SQLite over Postgres for the store', 'Use Postgres for the store'],
  ['Use SQLite, not Postgres', 'Use Postgres'],
  ['Enable strict mode', 'Disable strict mode'],
  ['Responses of the API are camelCase', 'Responses of the API are snake_case'],
  ['Use named exports instead of default exports', 'Use default exports'],
] as const

const POSSIBLE = [
  ['Use caching for performance improvement', 'Avoid caching because stale data confuses people'],
  ['Use Postgres', 'Use SQLite for tests'],
  ['Use HS256 for internal tokens', 'Use RS256 for tokens of partners'],
  ['Use Kafka for event delivery between services', 'Use cron for event delivery between services'],
  ['Use sync I/O', 'Never use sync I/O in handlers'],
] as const

const ORDINARY = [
  ['Use HS256 for signing tokens', 'Use HS256 for signing tokens'],
  ['Use sql for reports', 'Use nosql-exporter for the archive'],
  ['Avoid sql injection', 'Use nosql'],
  ['Use Postgres for the hub', 'Use SQLite for the local store'],
  ['Use Postgres for the hub', 'Do not use Postgres for the local store'],
  ['Use TypeScript for the server', 'Use vitest for tests'],
  ['Use zod for validation', 'Use TypeScript for validation of types'],
  ['Prefer named exports', 'Avoid default exports'],
  ['Never log tokens', 'Never log passwords'],
  ['Never log tokens', 'Rotate tokens every 30 days'],
  ['Cache responses for 5 minutes', 'Retry requests 3 times'],
  ['Sessions expire after 30 minutes', 'Tokens expire after 60 minutes'],
  ['Run tests before committing', 'Run linters before committing'],
  ['Run tests before committing', 'Run benchmarks after merging'],
  ['Write migrations as functions', 'Migrations are append-only'],
  ['Errors of the caller are UserErrors', 'Errors of the server are logged whole'],
  ['Use SQLite rather than Postgres for the store', 'Use Postgres for analytics'],
  ['Use SQLite because no daemon is needed', 'Use SQLite in WAL mode'],
  ['Use WAL mode', 'Do not use shared-cache mode'],
  ['Deploy on Fridays is forbidden', 'Deploy from the main branch'],
  ['Use pnpm for installs', 'Use esbuild for bundles'],
  ['Imports go downward only', 'SQL stands in store/ alone'],
  ['Keep functions short', 'Keep files under 400 lines'],
  ['Use feature flags for risky changes', 'Remove feature flags after two releases'],
  ['Add OAuth login', 'Add password login'],
  ['JWT: header.payload.signature', 'Services validate JWT with JWKS'],
  ['Validate input at the edge', 'Trust types inside'],
  ['Should we use HS256 for signing tokens?', 'Use RS256 for signing tokens'],
  ['Use Redis for sessions', 'Use Redis for rate limits'],
  ['Avoid mocks in tests', 'Use real SQLite in tests'],
  ['Avoid mocks of our own code', 'Avoid mocks of the clock'],
  ['Step 1 builds the bundle', 'Step 2 tests the package'],
  ['The hub listens on loopback', 'The dashboard listens on loopback'],
  ['Use rebase for feature branches', 'Use merge for release branches'],
  ['Tests without network run in CI', 'Tests with real SQLite run in CI'],
  ['Compress snapshots with zstd', 'Keep 3 snapshots'],
  ['Index vectors lazily', 'Load commands lazily'],
  ['Issue 12 is fixed on main', 'Issue 13 is fixed on main'],
  ['Use UTC everywhere', 'Do not show UTC to people'],
] as const

test('[H6] opposite claims and exclusive choices are marked', () => {
  expect(verdicts(CERTAIN)).toEqual(all(CERTAIN, 'certain'))
})

test('[H6] what may hang on where it applies is marked as such', () => {
  expect(verdicts(POSSIBLE)).toEqual(all(POSSIBLE, 'possible'))
})

test('[H6] ordinary pairs are not marked', () => {
  expect(verdicts(ORDINARY)).toEqual(all(ORDINARY, 'none'))
  // nor is any of them taken for the opposite of one from another pair
  const apart = [...new Set(ORDINARY.flat())].filter((text) => !/HS256|RS256/.test(text)).slice(0, 60)
  const marked = contradictions(said(apart))
  expect(marked.filter((c) => c.certain)).toEqual([])
  console.log(`possible among ${(apart.length * (apart.length - 1)) / 2} ordinary pairs: ${marked.length}`)
  expect(marked.length).toBeLessThan(12)
})

test('[H6] what was learned of one thing excludes nothing that was learned of another', () => {
  for (const [a, b] of [
    ['Postgres connections leak under load', 'MySQL connections leak under load'],
    ['Node 20 prints a warning at start', 'Node 22 prints a warning at start'],
    ['Public methods of the parser are slow', 'Private methods of the parser are slow'],
  ] as const)
    for (const kind of ['learning', 'insight', 'pattern']) expect(verdict(a, b, kind)).toBe('none')
  expect(verdict('Use yarn in CI', 'Use pnpm in CI', 'learning')).toBe('certain')
})

test('[H6] links that say so count whatever the kind and the words; others do not', () => {
  const given = said(['Alpha', 'Beta', 'Gamma', 'Delta'], 'result')
  const link = (type: string, from: number, to: number) => ({ type, from: `result:${from}`, to: `result:${to}` })
  const pairs = contradictions(given, [
    link('contradicts', 1, 0),
    link('conflicts-with', 0, 2),
    link('supersedes', 3, 2),
    link('supports', 1, 2),
    link('contradicts', 0, 9),
    link('contradicts', 0, 0),
  ])
  expect(pairs).toEqual([
    { a: 'result:0', b: 'result:1', certain: true, why: 'contradicts' },
    { a: 'result:0', b: 'result:2', certain: true, why: 'conflicts-with' },
    { a: 'result:2', b: 'result:3', certain: true, why: 'supersedes' },
  ])
  expect(Object.fromEntries(byId(pairs))).toEqual({
    'result:0': ['result:1', 'result:2'],
    'result:1': ['result:0'],
    'result:2': ['result:0', 'result:3'],
    'result:3': ['result:2'],
  })
})

test('[H6] what was measured or happened is no rule, and areas without a topic in common do as they like', () => {
  expect(verdict('The build took 30 s on CI', 'The build took 40 s on CI', 'result')).toBe('none')
  const [a, b] = said(['Use HS256', 'Use RS256'])
  expect(
    contradictions([
      { ...a!, topics: ['auth'] },
      { ...b!, topics: ['billing'] },
    ]),
  ).toEqual([])
  expect(
    contradictions([
      { ...a!, topics: ['auth'] },
      { ...b!, topics: ['Auth', 'x'] },
    ]),
  ).toHaveLength(1)
  expect(contradictions([{ ...a!, topics: ['auth'] }, b!])).toHaveLength(1)
})

test('[H6] sixty results are held against each other in some milliseconds', () => {
  const given = said(
    Array.from({ length: 60 }, (_, i) => ORDINARY[i % ORDINARY.length]!.join('. ') + ` ${'x'.repeat(i)}`),
  )
  contradictions(given)
  const start = performance.now()
  contradictions(given)
  expect(performance.now() - start).toBeLessThan(200)
})
