import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { without } from '../../../bench/evaluate/rules.ts'
import { openTestMemory, type TestMemory } from '../../../test/helpers.ts'
import { recallFixture } from '../../../test/recall-fixture.ts'
import { runs } from '../../../test/runs.ts'
import { countTokens } from '../../../test/tokens.ts'
import { UserError } from '../../base/errors.ts'
import { Recaller } from './recall.ts'
import type { RecallOptions, RecallResult } from './types.ts'

const seed = Number(process.env.TIDEMARK_SEED ?? 20261122)
const RUNS = runs(12, 60)

/** A few pieces of knowledge of several kinds. */
function someKnowledge(): TestMemory {
  const t = openTestMemory()
  t.act([
    [
      'record-decision',
      { name: 'use-sqlite', description: 'Store everything in one SQLite file', rationale: 'no daemon', impact: 8 },
    ],
    ['record-decision', { name: 'sign-rs256', description: 'Sign tokens with RS256', topics: ['auth'] }],
    ['record-principle', { name: 'plan-then-apply', description: 'Plan first; applying cannot fail' }],
    ['record-failed-approach', { approach: 'watching the WAL file', outcome: 'missed commits' }],
    [
      'record-file',
      { path: 'src/auth/tokenStore.ts', summary: 'Keeps refresh tokens', importantSymbols: ['rotateToken'] },
    ],
    ['record-question', { question: 'Does the hub need Redis?' }],
    ['record-chunk', { content: '数据库连接池已经满了', sourceFile: 'notes.md', position: 1 }],
    ['record-chunk', { content: 'تم تحديث قاعدة البيانات', sourceFile: 'notes.md', position: 2 }],
    ['record-chunk', { content: 'we ship it 🚀 on Friday', sourceFile: 'notes.md', position: 9 }],
  ])
  return t
}

const ask = (t: TestMemory, question: string, options?: RecallOptions): Promise<RecallResult> =>
  t.library.recall(question, options)
const ids = (r: RecallResult) => r.results.map((x) => x.id)
const refusal = async (asking: Promise<unknown>): Promise<UserError> => {
  try {
    await asking
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('what is found', () => {
  test('[W5] "why not" and "should we" find what was given up; results that are only near are said to be that', async () => {
    const t = someKnowledge()
    t.act([
      ['record-decision', { name: 'windows-gnu', description: 'Build releases for the gnu toolchain of Windows' }],
      ['record-decision', { name: 'admin-hosts', description: 'Enforce the allowed hosts of the admin endpoint' }],
      ['retire', { ref: 'windows-gnu', reason: 'the build fails' }],
    ])
    for (const question of [
      'why not build for windows gnu?',
      "why don't we build for windows gnu",
      'should we build for windows gnu?',
      'why do we not build for windows gnu',
    ]) {
      const { results } = await ask(t, question)
      expect(results[0], question).toMatchObject({ id: 'decision:windows-gnu', state: 'retired' })
    }
    expect(ids(await ask(t, 'build for windows gnu'))).not.toContain('decision:windows-gnu')
    const near = await ask(t, 'did we ever try a GraphQL admin API with federation?')
    expect(near.unknown).toEqual(['graphql', 'api', 'federation'])
    expect((await ask(t, 'which hosts may use the admin endpoint?')).unknown ?? []).toEqual([])
  })

  test('by words, by parts of identifiers, by paths, by what it is called', async () => {
    const t = someKnowledge()
    expect(ids(await ask(t, 'where are refresh tokens kept?'))[0]).toMatch(/^file:src-auth-tokenstore-ts/)
    expect(ids(await ask(t, 'rotate'))[0]).toMatch(/^file:src-auth-tokenstore-ts/)
    expect(ids(await ask(t, 'what does src/auth/tokenStore.ts do'))[0]).toMatch(/^file:src-auth-tokenstore-ts/)
    const named = await ask(t, 'use-sqlite')
    expect(named.results[0]).toMatchObject({ id: 'decision:use-sqlite', parts: { relevance: 1 } })
  })

  test('by meaning, where no word is shared', async () => {
    const t = someKnowledge()
    const found = await ask(t, 'cryptographic signature algorithm')
    expect(ids(found)[0]).toBe('decision:sign-rs256')
    expect(found.results[0]!.why).toContain('near in meaning')
    const without = openTestMemory()
    without.act([['record-decision', { name: 'sign-rs256', description: 'Sign tokens with RS256' }]])
    const { asProjectMemory } = await import('../../surfaces/library.ts')
    const words = asProjectMemory(without.memory, without.project, { recall: { embedder: { use: 'none' } } })
    expect((await words.recall('cryptographic verification algorithm')).results).toEqual([])
  })

  test('in scripts without spaces, from right to left, and by pictographs', async () => {
    const t = someKnowledge()
    expect((await ask(t, '数据库')).results[0]!.name).toContain('数据库')
    expect((await ask(t, 'البيانات')).results[0]!.name).toContain('البيانات')
    expect((await ask(t, '🚀')).results[0]!.name).toContain('🚀')
  })

  test('[H1] what is called by its name or path is first, whatever else is known', { timeout: 120_000 }, async () => {
    const word = fc.constantFrom('token', 'store', 'cache', 'retry', 'hub', 'lease', 'index', 'fold')
    const name = fc.uniqueArray(word, { minLength: 2, maxLength: 4 }).map((words) => words.join('-'))
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 2, maxLength: 12 }), async (names) => {
        const t = openTestMemory()
        const others = names.join(' ')
        t.act(names.map((n) => ['record-decision', { name: n, description: `not ${others}`, impact: n.length % 10 }]))
        t.act(names.map((n) => ['record-file', { path: `src/${n}.ts`, summary: others }]))
        for (const n of names) {
          expect(ids(await ask(t, n))[0]).toBe(`decision:${n}`)
          expect((await ask(t, `src/${n}.ts`)).results[0]!.name).toBe(`src/${n}.ts`)
        }
      }),
      { seed, numRuns: RUNS },
    )
  })

  test('what is linked to the best result comes along, and says so', async () => {
    const t = someKnowledge()
    t.act([
      ['record-concept', { name: 'zymurgy', definition: 'fermenting' }],
      ['link-entities', { from: 'use-sqlite', to: 'zymurgy', type: 'relates-to' }],
    ])
    const linked = (await ask(t, 'SQLite file')).results.find((r) => r.id === 'concept:zymurgy')
    expect(linked?.why).toContain('linked to use-sqlite')
  })

  test('a word in the name counts more than one in the reasons', async () => {
    const t = openTestMemory()
    t.act([
      ['record-decision', { name: 'shard-by-tenant', description: 'Split the tables', rationale: 'the disk is small' }],
      ['record-decision', { name: 'small-disk', description: 'Rent a machine', rationale: 'a tenant asked to shard' }],
    ])
    expect(ids(await ask(t, 'tenant shard'))).toEqual(['decision:shard-by-tenant', 'decision:small-disk'])
  })

  test('what was recorded in the same task stands around an item', async () => {
    const t = openTestMemory()
    const goal = t.library.goal('Faster start')
    const one = goal.activity('loading').task('measure the imports')
    t.clock.now += 1_000
    const fits = one.recordLearning('Half of the time goes into parsing')
    t.clock.now += 1_000
    one.recordAction('profiled the imports of the command line with a sampling profiler')
    const two = goal.activity('storage').task('measure the disk')
    t.clock.now += 60_000
    two.recordLearning('Half of the time goes into waiting')
    const found = (await ask(t, 'where does half of the time go when imports are profiled', { kinds: ['learning'] }))
      .results
    expect(found[0]!.id).toBe(fits.id)
  })

  test('[H3] an activity started during a task is not found by what that task recorded', async () => {
    const t = openTestMemory()
    t.act([
      ['start-task', { description: 'sessions' }],
      ['record-decision', { name: 'sessions-in-redis', description: 'Sessions live in Redis, one key per user' }],
    ])
    t.clock.now += 1_000
    t.act([['start-activity', { description: 'gardening' }]])
    expect(ids(await ask(t, 'redis'))).not.toContain(t.get('gardening')!.id)
    // one that an older version recorded in that task, and put into its row
    t.act([['record-activity', { description: 'cooking' }]], { task: t.get('sessions')!.id })
    expect(ids(await ask(t, 'redis'))).not.toContain(t.get('cooking')!.id)
  })

  test('a turn is found by the turns around it', async () => {
    const t = openTestMemory()
    const turns = [
      'Which band did you see in Lisbon?',
      'The Tidal Four, they were great!',
      'Nice.',
      'I have to go now.',
    ]
    t.act(turns.map((content, position) => ['record-chunk', { content, sourceFile: 'chat', section: 'a', position }]))
    t.act(
      ['One', 'Two', 'Three', 'Four'].map((content, i) => [
        'record-chunk',
        { content: `${content} of something else`, sourceFile: 'other', position: i },
      ]),
    )
    const found = (await ask(t, 'band seen in Lisbon')).results.map((r) => r.name)
    expect(found.slice(0, 2)).toEqual(turns.slice(0, 2))
  })

  test('[H3] the pieces of one section do not fill the first places: each counts half of the one before', async () => {
    const t = openTestMemory()
    const rows = [
      'delete a task: something remembered of daily work',
      'delete a goal, or something else remembered from requests',
      'something remembered beside pages: delete a note',
    ]
    const at = (section: string) => (content: string, position: number) => [
      'record-chunk',
      { content, sourceFile: 'verbs.md', section, position },
    ]
    t.act([...rows.map(at('Verbs')), ...['remembered by others', 'something in another place'].map(at('Elsewhere'))])
    const { results } = await ask(t, 'how do I delete something it remembered')
    const [first = 0, second = 0, third = 0] = results.flatMap((r) =>
      r.fields.section === 'Verbs' ? r.parts.relevance : [],
    )
    expect([second / first, third / second].every((share) => share > 0.4 && share <= 0.5)).toBe(true)
  })

  test('[H3] nothing irrelevant is returned to fill the limit', async () => {
    const t = someKnowledge()
    expect((await ask(t, 'xylophone')).results).toEqual([])
    expect((await ask(t, 'qzxv wvxz')).results).toEqual([])
  })

  test('[H3] the parts multiply to the score, relevance lies in (0, 1], and every result says why', async () => {
    const t = openTestMemory()
    recallFixture(t)
    for (const question of ['JWT validation', 'which grant types are there?', 'tokens'])
      for (const { score, parts, why } of (await ask(t, question, { session: 'test', explain: true })).results) {
        const { relevance, proximity, recency, importance } = parts
        expect(score).toBe(relevance * proximity * recency * importance)
        expect(relevance).toBeGreaterThan(0)
        expect(relevance).toBeLessThanOrEqual(1)
        expect(importance).toBeGreaterThanOrEqual(0.5)
        expect(importance).toBeLessThanOrEqual(2)
        expect(why).not.toBe('')
      }
    const { text } = await ask(t, 'JWT validation', { session: 'test', preset: 'debug' })
    expect(text).toMatch(/#\| [\d.]+ = relevance [\d.]+ × proximity [\d.]+ × recency [\d.]+ × importance [\d.]+; /)
  })

  test('[H2] the same said now and 180 days ago: the newer is first, the older still scores; since leaves it out', async () => {
    const t = openTestMemory({ now: Date.UTC(2026, 4, 1) })
    t.act([['record-learning', { title: 'The linter reads its cache from the work tree', topics: ['old'] }]])
    t.clock.days(180)
    t.act([['record-insight', { summary: 'The linter reads its cache from the work tree', topics: ['new'] }]])
    const { results } = await ask(t, 'where does the linter read its cache')
    const [first] = results
    expect(first!.kind).toBe('insight')
    // folded into one, or both: the older one is told in either case
    expect(first!.similar.length + results.length).toBe(2)
    expect(results.every((r) => r.score > 0)).toBe(true)
    expect((await ask(t, 'linter cache', { since: '2026-10-01' })).results).toHaveLength(1)
  })

  test('[H5] what is superseded, retired, proposed or not valid is left out; all and as-of show it', async () => {
    const t = someKnowledge()
    const before = t.clock.now
    t.clock.days(1)
    t.act([
      ['record-decision', { name: 'use-postgres', description: 'Store everything in PostgreSQL' }],
      ['supersede', { old: 'use-sqlite', new: 'use-postgres' }],
      ['retire', { ref: 'plan-then-apply', reason: 'no longer so' }],
      ['propose', { action: ['record-fact', { fact: 'Always store everything twice', category: 'workflow' }] }],
      ['record-fact', { fact: 'The store room is locked', category: 'workflow', validTo: '2020-01-01' }],
    ])
    const found = ids(await ask(t, 'store everything'))
    expect(found).toContain('decision:use-postgres')
    expect(found).not.toContain('decision:use-sqlite')
    expect(found.some((id) => id.startsWith('fact:'))).toBe(false)
    expect(ids(await ask(t, 'plan first'))).not.toContain('principle:plan-then-apply')
    const everything = await ask(t, 'store everything', { all: true })
    expect(everything.results.find((r) => r.id === 'decision:use-sqlite')).toMatchObject({ state: 'superseded' })
    expect(ids(await ask(t, 'plan first', { all: true }))).toContain('principle:plan-then-apply')
    expect(ids(await ask(t, 'store room', { validAt: '2019-06-01' })).some((id) => id.startsWith('fact:'))).toBe(true)
    const then = await ask(t, 'store everything', { asOf: before })
    expect(ids(then)[0]).toBe('decision:use-sqlite')
    expect(ids(then)).not.toContain('decision:use-postgres')
  })

  test('[H6] contradictions are marked where a link says so, and never from words alone', async () => {
    const t = openTestMemory()
    t.act([
      ['record-decision', { name: 'integer-cents', description: 'Amounts are stored as integer cents' }],
      ['record-fact', { fact: 'Money is always integer cents, never floats', category: 'constraint' }],
      ['record-decision', { name: 'a', description: 'Use HS256 to sign the amounts in cents' }],
      ['record-decision', { name: 'b', description: 'Use RS256 to sign the amounts in cents' }],
    ])
    const marks = async () => (await ask(t, 'integer cents')).results.flatMap((r) => r.contradicts)
    expect(await marks()).toEqual([])
    t.act([['propose', { action: ['link-entities', { from: 'a', to: 'integer-cents', type: 'contradicts' }] }]])
    expect(await marks()).toEqual([])
    t.act([['link-entities', { from: 'a', to: 'b', type: 'contradicts' }]])
    const { results, text } = await ask(t, 'integer cents')
    expect(results.find((r) => r.id === 'decision:a')!.contradicts).toEqual(['decision:b'])
    expect(results.find((r) => r.id === 'decision:b')!.contradicts).toEqual(['decision:a'])
    expect(text).toContain('contradicts decision:b')
    t.act([
      ['unlink-entities', { from: 'a', to: 'b', type: 'contradicts' }],
      ['supersede', { old: 'a', new: 'b' }],
    ])
    const all = (await ask(t, 'integer cents', { all: true })).results
    expect(all.map((r) => [r.name, r.state])).toContainEqual(['a', 'superseded'])
    expect(all.flatMap((r) => r.contradicts)).toEqual([])
  })

  test('[H6] near-duplicates are folded with a count', async () => {
    const t = openTestMemory()
    t.act([
      ['record-learning', { title: 'Session tokens expire after fifteen minutes of silence' }],
      ['record-insight', { summary: 'Session tokens expire after fifteen minutes of silence.' }],
    ])
    const { results, text } = await ask(t, 'session tokens')
    expect(results.map((r) => r.similar.length)).toEqual([1])
    expect(text).toContain('1 more alike')
  })

  test('[H4] the printed results keep the budget, whole items only, and say how many were left out', async () => {
    const t = openTestMemory()
    t.act(
      Array.from({ length: 40 }, (_, i) => [
        'record-learning',
        { title: `Lesson ${i} about caches`, body: `caches ${'and more words on it '.repeat(i * 3)}` },
      ]),
    )
    for (const budget of [1, 20, 60, 200, 1_000]) {
      const r = await ask(t, 'lesson about caches', { budget, limit: 30 })
      expect(countTokens(r.text)).toBeLessThanOrEqual(budget)
      expect(r.results.length + r.omitted).toBeGreaterThanOrEqual(30)
    }
  })

  test('[H1] each item once; narrow filters still find what is far down', async () => {
    const t = openTestMemory()
    for (let b = 0; b < 8; b++)
      t.act(
        Array.from({ length: 50 }, (_, i) => [
          'record-learning',
          { title: `the gateway answers slowly, case ${b * 50 + i}` },
        ]),
      )
    t.act([
      [
        'record-decision',
        { name: 'gateway-timeout', description: 'answer after two seconds whatever the backend of the gateway does' },
      ],
    ])
    expect(ids(await ask(t, 'gateway answers slowly', { kinds: ['decision'] }))).toEqual(['decision:gateway-timeout'])
    const many = ids(await ask(t, 'gateway', { limit: 1_000 }))
    expect(new Set(many).size).toBe(many.length)
  })

  test('[H3] what the best results refer to by its label comes before what says as much', async () => {
    const t = openTestMemory()
    const notes = [
      'ADR-7: Leases\n\nA claim on files ends by itself after a while.',
      'ADR-8: Locks\n\nA claim on files ends by itself after a while, too.',
      'ADR-21: Renew claims\n\nA claim on files that ends is renewed, see ADR-8.',
      'ADR-22: Show claims\n\nA claim on files that ends is listed, as ADR-8 says.',
    ]
    t.act(notes.map((content) => ['record-chunk', { content }]))
    const labels = async () =>
      ids(await ask(t, 'when does a claim on files end?')).flatMap((id) => /adr-[78](?!\d)/.exec(id) ?? [])
    expect(await labels()).toEqual(['adr-8', 'adr-7'])
    expect(await without('referred', labels)).toEqual(['adr-7', 'adr-8'])
  })
})

describe('the answer is not buried', () => {
  /** A current task with notes of its own that share loose words with what is asked; the answers are old and elsewhere. */
  function inTask(): TestMemory {
    const t = openTestMemory()
    t.act([
      ['record-decision', { name: 'use-sqlite', description: 'Store everything in one SQLite file', impact: 2 }],
      ['record-file', { path: 'src/auth/tokenStore.ts', summary: 'Keeps refresh', importantSymbols: ['rotateToken'] }],
      ['record-learning', { title: 'Retries need jitter', body: 'see src/find/recall/rank.ts for the list' }],
      ['record-learning', { title: 'Backups are encrypted with a key that only the operator holds' }],
    ])
    t.clock.days(400)
    t.act([
      ['start-goal', { originalAsk: 'g' }],
      ['start-activity', { description: 'a' }],
      ['start-task', { description: 'now' }],
    ])
    t.clock.now += 1_000
    t.act([
      ['record-learning', { title: 'use of sqlite', body: 'use sqlite with care, use it well' }],
      ['record-learning', { title: 'src find recall rank', body: 'ts src' }],
      ['record-learning', { title: 'rotate the token', body: 'a token, to rotate, auth store ts src' }],
      ['record-learning', { title: 'The operator holds a meeting', severity: 'critical' }],
      ['record-observation', { what: 'the backups of the operator ran' }],
    ])
    return t
  }

  test('[H1] [H3] what the question names is first: by name, id, path or symbol, whatever its place in the tree', async () => {
    const t = inTask()
    const first = async (question: string) => (await ask(t, question, { session: 'test' })).results[0]!
    for (const question of ['use-sqlite', 'decision:use-sqlite', 'why use-sqlite?'])
      expect(await first(question)).toMatchObject({ id: 'decision:use-sqlite', parts: { proximity: 1 } })
    for (const question of [
      'src/auth/tokenStore.ts',
      'tokenStore.ts',
      'rotateToken',
      'what is src/auth/tokenStore.ts:42 for?',
    ])
      expect((await first(question)).kind).toBe('file')
    for (const question of [
      'src/find/recall/rank.ts',
      './src/find/recall/rank.ts:12',
      'rank.ts',
      'what of src/find/recall/rank.ts?',
    ])
      expect((await first(question)).name).toBe('Retries need jitter')
    const scores = (await ask(t, 'use-sqlite', { session: 'test' })).results.map((r) => r.score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  })

  test('[H1] proximity and recency order what is otherwise near: half an answer at hand is not before the answer', async () => {
    const t = inTask()
    const first = async () =>
      (await ask(t, 'who holds the key of the encrypted backups?', { session: 'test' })).results[0]!
    expect((await first()).name).toMatch(/^Backups are encrypted/)
    t.act([['record-insight', { summary: 'the key of the encrypted backups is held by the operator of the site' }]])
    expect((await first()).kind).toBe('insight')
  })

  test('[H3] the one note that holds both words is found where each of them stands in 2,000 others', {
    tags: ['long'],
  }, async () => {
    const t = openTestMemory()
    const body = 'at night the gateway waits for as long as the timeout of each says'
    t.act([['record-learning', { title: 'Calls', body }]])
    const other = (i: number) => ({
      title: `Note ${i}`,
      body: `today somebody looked at the ${i % 2 === 0 ? 'gateway' : 'timeout'} again`,
    })
    for (let at = 0; at < 4_000; at += 50)
      t.act(Array.from({ length: 50 }, (_, i) => ['record-learning', other(at + i)]))
    const words = new Recaller(t.memory, undefined, { embedder: { use: 'none' } })
    expect(words.askNow('gateway timeout').results[0]!.name).toBe('Calls')
    expect(words.askNow('gateway timeout', { asOf: t.clock.now }).results[0]!.name).toBe('Calls')
  })

  test('[H3] C++, C#, flags, dotted names, packages and error codes are words of their own', async () => {
    const t = openTestMemory()
    const learning = (title: string, body: string) => ['record-learning', { title, body }]
    t.act([
      ['record-decision', { name: 'parse-c', description: 'C files are parsed with tree-sitter, files parsed by one' }],
      ['record-decision', { name: 'parse-cpp', description: 'C++ files are parsed with clang' }],
      ['record-decision', { name: 'parse-cs', description: 'C# is left to Roslyn' }],
      learning('Commits', 'never with --no-verify'),
      learning('verify', 'verify and verify: no commit without'),
      learning('Secrets', 'stand in .env, which git ignores'),
      learning('env', 'the env of a process'),
      learning('Ports', 'EADDRINUSE means that the port 8080 is taken'),
      learning('Types', 'TS2345 comes from the strict mode, ERR_MODULE_NOT_FOUND from the loader'),
      learning('module not found', 'err'),
      learning('Driver', 'node:sqlite is synchronous'),
      learning('node sqlite', 'sqlite node'),
      learning('Sums', 'CVE-2024-1234 is about checksums'),
      learning('cve 1234', '2024 cve 1234 2024'),
    ])
    const first = async (question: string) => (await ask(t, question)).results[0]?.name
    expect(await first('how are C++ files parsed?')).toBe('parse-cpp')
    expect(await first('how are C files parsed?')).toBe('parse-c')
    expect(await first('C#')).toBe('parse-cs')
    expect(await first('--no-verify')).toBe('Commits')
    expect(await first('.env')).toBe('Secrets')
    expect(await first('EADDRINUSE')).toBe('Ports')
    expect(await first('TS2345')).toBe('Types')
    expect(await first('ERR_MODULE_NOT_FOUND')).toBe('Types')
    expect(await first('node:sqlite')).toBe('Driver')
    expect(await first('CVE-2024-1234')).toBe('Sums')
  })
})

describe('what an explanation says', () => {
  test('[H3] a word is held only where it stands; words of the neighbours are told as such', async () => {
    const t = openTestMemory()
    t.act([
      ['start-task', { description: 'sessions' }],
      ['record-decision', { name: 'sessions-in-redis', description: 'Sessions live in Redis, one key per user' }],
      ['record-learning', { title: 'Keys expire at midnight' }],
    ])
    const whys = new Map((await ask(t, 'redis expiry of keys')).results.map((r) => [r.name, r.why]))
    expect(whys.get('sessions-in-redis')).toMatch(/^holds (redis, keys|keys, redis);/)
    expect(whys.get('Keys expire at midnight')).toMatch(/^holds keys; its neighbours hold redis;/)
  })

  test('[H3] the line adds up: the score shown is the product of the parts shown', async () => {
    const t = openTestMemory()
    recallFixture(t)
    t.clock.days(17)
    for (const question of ['JWT validation', 'which grant types are there?', 'tokens', 'OAuth2']) {
      const { text, results } = await ask(t, question, { session: 'test', explain: true })
      const sums = [...text.matchAll(/#\| (\S+) = \w+ (\S+) × \w+ (\S+) × \w+ (\S+) × \w+ (\S+);/g)]
      expect(sums).toHaveLength(results.length)
      for (const [i, [, score, ...parts]] of sums.entries()) {
        expect(parts.reduce((product, part) => product * Number(part), 1).toPrecision(3)).toBe(score)
        expect(Number(score) / results[i]!.score).toBeCloseTo(1, 1)
      }
    }
  })
})

describe('what cannot be asked', () => {
  test('an empty question, unknown scope, task and kind are refused with what to do', async () => {
    const t = someKnowledge()
    expect((await refusal(ask(t, '   '))).code).toBe('no-question')
    expect((await refusal(ask(t, 'x', { scope: 'mikro' as never }))).hint).toContain('micro')
    expect((await refusal(ask(t, 'x', { task: 'no-such-task' }))).code).toBe('not-found')
    expect((await refusal(ask(t, 'x', { kinds: ['decisionz'] }))).hint).toContain('decision')
    expect((await refusal(ask(t, 'x', { limit: 0, budget: -1 }))).details.problems).toHaveLength(2)
  })

  test('operators of the index, regular expressions, quotes and a document as a question do no harm', async () => {
    const t = someKnowledge()
    for (const question of [
      '"',
      '"sqlite',
      'sqlite*',
      'title:sqlite',
      'a AND NOT b',
      'NEAR(a b)',
      '(((',
      '^sqlite$',
      '[a-z]+',
      '-sqlite',
      '%_',
      "'; DROP TABLE texts; --",
      '\u0000',
      '\ud800',
    ])
      expect(Array.isArray((await ask(t, question)).results)).toBe(true)
    expect(ids(await ask(t, 'title:"sqlite" OR *'))[0]).toBe('decision:use-sqlite')
    const long = `${'words about nothing '.repeat(5_500)} sqlite`
    const start = performance.now()
    await ask(t, long)
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  test('only stop-words: what holds them, with little weight, or nothing', async () => {
    const t = someKnowledge()
    for (const r of (await ask(t, 'does the in')).results) expect(r.parts.relevance).toBeLessThan(0.1)
  })
})

describe('properties', () => {
  const word = fc.constantFrom(...'sqlite token cache hub retry schema merge lock queue index river parse'.split(' '))
  const sentence = fc.array(word, { minLength: 2, maxLength: 9 }).map((w) => w.join(' '))

  test('the same input gives the same answer, and so does another store with the same knowledge', {
    tags: ['property'],
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(sentence, { minLength: 1, maxLength: 12 }), sentence, async (texts, question) => {
        const stores = [openTestMemory(), openTestMemory()]
        const answers = []
        for (const t of stores) {
          t.act(texts.map((title) => ['record-learning', { title }]))
          answers.push(await ask(t, question, { explain: true }), await ask(t, question, { explain: true }))
          t.close()
        }
        for (const a of answers) expect(a).toEqual(answers[0])
      }),
      { seed, numRuns: RUNS },
    )
  })

  test('what has nothing to do with the question changes the order of the others at most where they were nearly level', {
    tags: ['property'],
  }, async () => {
    // in relevance; the inverse document frequencies, the average length and the sample of cosines all move a little
    const tolerance = 0.1
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(sentence, { minLength: 3, maxLength: 12 }), sentence, async (texts, question) => {
        const t = openTestMemory()
        t.act(texts.map((title) => ['record-learning', { title }]))
        const before = (await ask(t, question, { limit: 100 })).results
        t.act([['record-learning', { title: 'Zebras graze beyond volcanoes' }]])
        const after = new Map((await ask(t, question, { limit: 100 })).results.map((r) => [r.id, r.parts.relevance]))
        for (const [i, a] of before.entries())
          for (const b of before.slice(i + 1)) {
            const [now, then] = [after.get(a.id), after.get(b.id)]
            if (now !== undefined && then !== undefined && then > now)
              expect(Math.min(then - now, a.parts.relevance - b.parts.relevance)).toBeLessThan(tolerance)
          }
        t.close()
      }),
      { seed, numRuns: RUNS },
    )
  })

  test('[H5] what is superseded never comes before what took its place, whatever it says and however long the chain', {
    tags: ['property'],
  }, async () => {
    const place = fc.tuple(fc.nat(9), fc.nat(9))
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(sentence, { minLength: 2, maxLength: 10 }),
        fc.array(place, { minLength: 1, maxLength: 6 }),
        sentence,
        async (texts, pairs, question) => {
          const t = openTestMemory()
          t.act(texts.map((description, i) => ['record-decision', { name: `d${i}`, description, impact: i }]))
          // the newer of two takes the place of the older
          const replaced = pairs
            .map(([a, b]) => [a % texts.length, b % texts.length].sort((x, y) => x - y) as [number, number])
            .filter(([old, now]) => old !== now)
          for (const [old, now] of replaced) t.act([['supersede', { old: `d${old}`, new: `d${now}` }]])
          const { results } = await ask(t, question, { all: true, limit: 50 })
          const places = results.flatMap((r) => [r.id, ...r.similar])
          for (const [old, now] of replaced) {
            const [before, after] = [places.indexOf(`decision:d${now}`), places.indexOf(`decision:d${old}`)]
            if (before >= 0 && after >= 0) expect(before).toBeLessThan(after)
          }
          for (const { score, parts: p } of results)
            expect(score).toBe(p.relevance * p.proximity * p.recency * p.importance)
          t.close()
        },
      ),
      { seed, numRuns: RUNS },
    )
  })

  test('whatever is asked is answered or refused, never more than the limit, never more tokens than the budget', {
    tags: ['property'],
  }, async () => {
    const t = someKnowledge()
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          sentence,
          fc.string({ unit: 'grapheme', maxLength: 60 }),
          fc.string({ unit: 'binary', maxLength: 60 }),
        ),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 400 }),
        async (question, limit, budget) => {
          if (question.trim() === '') return
          const r = await ask(t, question, { limit, budget })
          expect(r.results.length).toBeLessThanOrEqual(limit)
          expect(countTokens(r.text)).toBeLessThanOrEqual(budget)
          for (const { score, parts: p } of r.results)
            expect(score).toBe(p.relevance * p.proximity * p.recency * p.importance)
        },
      ),
      { seed, numRuns: RUNS * 3 },
    )
  })
})
