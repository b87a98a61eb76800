import fc from 'fast-check'
import { expect, test } from 'vitest'
import { touchedBy } from '../../src/find/graph/what-if.ts'
import { whatIfTool } from '../../src/surfaces/tools/what-if.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const run = async (m: TestMemory, args: Record<string, unknown>) =>
  whatIfTool.run({ memory: m.memory, project: m.project }, args)
const link = (from: string, type: string, to: string, more: Record<string, unknown> = {}) => [
  'link-entities',
  { from, type, to, ...more },
]
const decide = (name: string, description: string) => ['record-decision', { name, description }]

function build(): TestMemory {
  const m = openTestMemory({ now: Date.UTC(2026, 0, 5, 9) })
  m.act([
    decide('use-redis', 'Keep sessions in Redis'),
    decide('login-page', 'The login page reads the session'),
    decide('billing', 'Billing asks the login page who pays'),
    decide('old-billing', 'Billing reads sessions itself'),
    link('login-page', 'depends-on', 'use-redis', { confidence: 0.9 }),
    link('billing', 'depends-on', 'login-page'),
    link('billing', 'references', 'use-redis'),
    link('old-billing', 'depends-on', 'use-redis'),
    ['retire', { ref: 'old-billing', reason: 'gone' }],
  ])
  return m
}

test('[G4] what-if tells what a change touches, by the strongest path, and nothing that no longer holds', async () => {
  const m = build()
  expect((await run(m, { ref: 'use-redis' })).text).toBe(
    [
      'use-redis  (decision, 2026-01-05)',
      'What came of it: nothing says whether it worked',
      'If it changes, this is touched (2):',
      '  0.81  needed by login-page  (decision, 2026-01-05)',
      '  0.73  needed by login-page → needed by billing  (decision, 2026-01-05)',
      'Nothing else in its words was found.',
      'Likely outcome: no evidence',
    ].join('\n'),
  )
})

test('[G4] what-if tells why a thing like it was decided, where nothing says what came of it', async () => {
  const m = openTestMemory()
  m.act([['record-decision', { name: 'php-minimum-8-1', description: 'The PHP minimum stays at 8.1', rationale: 'two customers run Debian 12' }]]) // biome-ignore format: one record
  const { text } = await run(m, { ref: 'drop the PHP minimum of 8.1' })
  expect(text).toMatch(/php-minimum-8-1 .*: decided because two customers run Debian 12/)
  expect(text).toContain('Likely outcome: no evidence')
})

test('[G4] what-if tells what became of things like it, with counts, and a likely outcome from three on', async () => {
  const m = build()
  m.act([
    ['record-failed-approach', { approach: 'Keep sessions in memory', outcome: 'lost at each restart', lesson: 'a store of their own' }],
    decide('sessions-in-files', 'Keep sessions in files'),
    decide('login-page-in-react', 'The login page is written in React'),
  ]) // biome-ignore format: three records
  const two = await run(m, { ref: 'use-redis' })
  expect(two.text).toContain(
    'Keep sessions in memory  (failed-approach, 2026-01-05): failed: lost at each restart; instead: a store of their own',
  )
  expect(two.text).toContain('Likely outcome: 1 failed: too few to say more (3 are needed)')
  expect(two.text).not.toContain('React')
  m.act([
    decide('sessions-in-cookies', 'Keep sessions in signed cookies'),
    ['record-failed-approach', { approach: 'Cookies over 4 KB', outcome: 'refused by proxies' }],
    link('sessions-in-cookies', 'led-to', 'Cookies over 4 KB'),
    decide('use-postgres', 'PostgreSQL holds them'),
    ['supersede', { old: 'sessions-in-files', new: 'use-postgres' }],
  ])
  const { text, json } = await run(m, { ref: 'use-redis' })
  expect(text).toContain('sessions-in-files  (decision, 2026-01-05, superseded): superseded by "use-postgres"')
  expect(text).toContain('sessions-in-cookies  (decision, 2026-01-05): failed; it led to "Cookies over 4 KB"')
  expect(text).toContain('Likely outcome: failed, as 2 of 3 (2 failed, 1 superseded)')
  expect(json).toMatchObject({ outcomes: { failed: 2, superseded: 1 }, likely: 'failed' })
  // the approach that it led to is in other words the same attempt
  m.act([link('sessions-in-cookies', 'led-to', 'Keep sessions in memory')])
  expect((await run(m, { ref: 'use-redis' })).json).toMatchObject({
    outcomes: { failed: 1, superseded: 1 },
    likely: null,
  })
  const own = await run(m, { ref: 'sessions-in-cookies' })
  expect(own.json).toHaveProperty('outcomes.superseded', 1)
  expect(own.json).not.toHaveProperty('outcomes.failed')
  m.act([['unlink-entities', { from: 'sessions-in-cookies', type: 'led-to', to: 'Keep sessions in memory' }]])
  expect(m.library.discover('(@ (what-if "use-redis") :likely)')).toEqual(['"failed"'])
})

test('[G4] [W5] its own outcome comes first; neither age nor silence is a success', async () => {
  const m = build()
  const said = async (ref: string) => (await run(m, { ref })).text
  m.act([
    ['record-failed-approach', { approach: 'Keep sessions in memory', outcome: 'lost at each restart' }],
    decide('sessions-in-files', 'Keep sessions in files'),
    decide('sessions-in-cookies', 'Keep sessions in signed cookies'),
    decide('sessions-on-disk', 'Keep sessions in files on a disk'),
  ])
  const failed = await said('Keep sessions in memory')
  expect(failed).toContain('\nWhat came of it: failed: lost at each restart\n')
  expect(failed).toMatch(/Likely outcome: failed, as before$/)
  m.clock.days(200)
  expect(await said('sessions-in-files')).toMatch(
    /Likely outcome: 1 failed, 1 still standing: too few to say more \(3 are needed\)$/,
  )
  m.act([
    ['record-result', { text: 'Files filled the disk', outcome: 'failed after a week' }],
    ['record-result', { text: 'Cookies survive restarts', outcome: 'succeeded' }],
    decide('held-load', 'Postgres holds the load'),
    ['record-result', { text: 'It held after a change', outcome: 'failed at first, now fine' }],
    link('held-load', 'led-to', 'It held after a change'),
    link('sessions-in-files', 'led-to', 'Files filled the disk'),
    link('sessions-in-cookies', 'led-to', 'Cookies survive restarts'),
    decide('checkout', 'Checkout reads the session from the disk'),
    link('checkout', 'depends-on', 'sessions-on-disk'),
  ])
  expect(await said('sessions-in-files')).toMatch(/What came of it: failed; it led to "Files filled the disk"\n/)
  for (const outcome of [
    'failed: it now crashes on every start',
    'failed, and cannot be fixed',
    'failed; not fixed yet',
  ]) {
    m.act([
      decide('worker', 'A worker pays'),
      ['record-result', { text: outcome, outcome }],
      link('worker', 'led-to', outcome),
    ])
    expect(await said('worker')).toMatch(/What came of it: failed;/)
  }
  expect(await said('held-load')).toMatch(/What came of it: mixed: "It held after a change"\n/)
  expect(await said('sessions-in-cookies')).toMatch(/What came of it: stands, by "Cookies survive restarts"\n/)
  expect(await said('sessions-on-disk')).toMatch(/What came of it: nothing says whether it worked\n/)
  m.clock.days(15)
  expect(await said('sessions-on-disk')).toMatch(/What came of it: stands, by "checkout"\n/)
  m.act([
    ['record-correction', { wrongBelief: 'cookies hold all', rightBelief: 'Large ones are split' }],
    link('Large ones are split', 'corrects', 'sessions-in-cookies'),
  ])
  expect(await said('sessions-in-cookies')).toMatch(
    /What came of it: mixed: "Large ones are split", "Cookies survive restarts"\n/,
  )
})

test('[G4] [W5] a plan in words need not be recorded; a short name that nobody knows is a mistake', async () => {
  const m = build()
  m.act([
    ['record-failed-approach', { approach: 'Cache prices in memory', outcome: 'stale prices for an hour' }],
    ['record-failed-approach', { approach: 'Cache prices in a file', outcome: 'two writers' }],
    ['record-failed-approach', { approach: 'Cache prices in cookies', outcome: 'too large' }],
  ])
  const { text } = await run(m, { ref: 'cache prices in redis' })
  expect(text).toContain('Plan: "cache prices in redis"\nWhat became of things like it:\n')
  expect(text).toContain('Cache prices in memory  (failed-approach, 2026-01-05): failed: stale prices for an hour')
  expect(text).toMatch(/Likely outcome: failed, as 3 of 3 \(3 failed\)$/)
  expect((await run(m, { ref: 'Cache prices in a file.' })).text).toMatch(
    /Likely outcome: failed: that very plan is failed-approach:/,
  )
  m.act([
    [
      'record-failed-approach',
      { approach: 'Send invoices by a nightly batch of mails', lesson: 'Send invoices by the mail queue' },
    ],
  ])
  expect((await run(m, { ref: 'Send invoices by the mail queue' })).text).not.toContain('that very plan')
  expect((await run(m, { ref: 'paint the office green' })).text).toMatch(/Likely outcome: no evidence$/)
  await expect(run(m, { ref: 'use-rediss' })).rejects.toMatchObject({ code: 'not-found' })
})

test('[G4] [W5] what is near a plan in other words is shown with how it turned out, and not counted', async () => {
  const m = openTestMemory()
  m.act([
    decide('zsh-shared-history', 'The zsh history widget reloads the shared history before searching'),
    ['record-result', { text: 'Taken out again, it was slow', outcome: 'failed' }],
    link('zsh-shared-history', 'led-to', 'Taken out again, it was slow'),
    decide('ripgrep', 'Suggest ripgrep as the source of candidates'),
  ])
  const { text } = await run(m, { ref: 'pull in what other terminals typed when the history picker opens in zsh' })
  expect(text).toMatch(/not counted.*:\n {2}zsh-shared-history .*: failed; it led to "Taken out again, it was slow"\n/)
  expect(text).not.toContain('ripgrep')
  expect(text).toMatch(/Likely outcome: no evidence in these words; 1 of the nearest failed$/)
})

test('[G4] a plan that breaks a rule is told the rule; another one is not', async () => {
  const m = openTestMemory()
  m.act([['record-fact', { fact: 'Never log card numbers', category: 'constraint' }]])
  const told = await run(m, { ref: 'log card numbers' })
  expect(told.text).toContain('Against a rule that binds: "Never log card numbers" (fact:never-log-card-numbers)')
  expect(told.json).toMatchObject({ against: [{ id: 'fact:never-log-card-numbers' }] })
  expect((await run(m, { ref: 'write the docs first' })).text).not.toContain('Against')
})

test('[G4] a plan is told the rules that speak of it, and no rule that shares a common word with it', async () => {
  const m = openTestMemory()
  const fact = (fact: string) => ['record-fact', { fact, category: 'constraint' }]
  m.act([
    'ALWAYS use Minitest + fixtures (NEVER RSpec or factories)',
    'Fixtures for test data (avoid FactoryBot)',
    'Business logic in `app/models/` folder, avoid `app/services/`',
    'Write tests for critical code paths first',
    'Add a new rule when a pattern is used in three files',
    'Update the rules after a refactor',
    'Never deploy to kubernetes by hand',
  ].map(fact)) // biome-ignore format: rules
  const said = async (ref: string) => (await run(m, { ref })).text
  const rspec = await said('we stop using Minitest and move to RSpec')
  expect(rspec).toContain(
    'A rule that binds speaks of it: "ALWAYS use Minitest + fixtures (NEVER RSpec or factories)" (',
  )
  expect(rspec).toMatch(/Likely outcome: no evidence; read the rules above first$/)
  expect(await said('use FactoryBot in model tests')).toMatch(/speaks of it: "Fixtures for test data/)
  expect(await said('put business logic into app/services')).toMatch(/speaks of it: "Business logic in/)
  expect(await said('invert IsValidIssuer')).toMatch(/these words was found\.\nLikely outcome: no evidence$/)
  for (const plan of ['buy a new coffee machine', 'paint the office green', 'write a blog post about the release'])
    expect(await said(plan), plan).not.toMatch(/rule/)
  m.act([['retire', { ref: 'Fixtures for test data (avoid FactoryBot)', reason: 'factories it is' }]])
  expect(await said('use FactoryBot in model tests')).not.toContain('"Fixtures')
})

test('[G4] [K11] what-if as of a moment knows nothing of what came later', async () => {
  const m = build()
  m.clock.days(1)
  m.act([decide('search', 'Search filters by session'), link('search', 'depends-on', 'use-redis')])
  expect((await run(m, { ref: 'use-redis' })).text).toContain('needed by search')
  expect((await run(m, { ref: 'use-redis', 'as-of': '2026-01-05' })).text).not.toContain('search')
})

test('[G4] everything that is reachable along impact is touched, with the greatest product over all paths', () => {
  const NODES = 7
  const RELATIONS = { 'depends-on': 0.9, constrains: 0.9, informs: 0.4, 'similar-to': 0 } as const
  const links = fc.array(
    fc.tuple(
      fc.nat(NODES - 1),
      fc.constantFrom(...(Object.keys(RELATIONS) as (keyof typeof RELATIONS)[])),
      fc.nat(NODES - 1),
      fc.constantFrom(0.25, 0.5, 1),
    ),
    { maxLength: 16 },
  )
  fc.assert(
    fc.property(links, fc.nat(NODES - 1), (drawn, start) => {
      const m = openTestMemory()
      try {
        const id = (n: number) => `decision:d${n}`
        m.act(Array.from({ length: NODES }, (_, n) => decide(`d${n}`, `choice ${n}`)))
        const graph = new Map<string, [string, string, number]>()
        for (const [a, type, b, confidence] of drawn) {
          if (a === b || (type === 'depends-on' && b > a)) continue // those are acyclic
          m.act([link(id(a), type, id(b), { confidence })])
          const [from, to] = type === 'depends-on' ? [b, a] : [a, b]
          if (type !== 'similar-to') graph.set(`${a} ${type} ${b}`, [id(from), id(to), confidence * RELATIONS[type]])
        }
        const best = new Map([[id(start), 1]])
        for (let i = 0; i < NODES; i++)
          for (const [from, to, s] of graph.values())
            if (best.has(from) && to !== id(start)) best.set(to, Math.max(best.get(to) ?? 0, best.get(from)! * s))
        best.delete(id(start))
        const { touched } = touchedBy(m.memory.reader, m.get(id(start))!, m.clock.now)
        const round = (all: Iterable<[string, number]>) => new Map([...all].map(([k, s]) => [k, s.toFixed(9)]))
        expect(round(touched.map((t) => [t.entity.id, t.strength]))).toEqual(round(best))
      } finally {
        m.close()
      }
    }),
    { numRuns: 60 },
  )
})

test('[G4] [W5] a plan to end something is no new attempt at it; a correction speaks; its own results are not touched by it', async () => {
  const m = openTestMemory()
  const polls = decide('poll-payments', 'Poll the payment provider for the status of each payment')
  m.act([
    polls,
    ['record-result', { text: 'The provider limited the rate', outcome: 'failed' }],
    ['record-correction', { wrongBelief: 'The cart survives in localStorage', rightBelief: 'Safari deletes localStorage after seven days' }],
  ]) // biome-ignore format: three records
  const [result] = m.memory.reader.list('result')
  m.act([link('poll-payments', 'led-to', result!.id)])
  const end = (await run(m, { ref: 'stop polling the payment provider for the status of each payment' })).text
  expect(end).toMatch(
    /poll-payments .*: failed[\s\S]*Likely outcome: no evidence: what is told above is what the plan would end$/,
  )
  expect((await run(m, { ref: 'keep the cart in localStorage' })).text).toContain(
    'A correction speaks of it: "Safari deletes',
  )
  const own = (await run(m, { ref: 'poll-payments' })).text
  expect(own).toContain('Nothing that is recorded depends on it.')
  expect(own).toMatch(/Likely outcome: failed, as before$/)
  m.act([
    ...['in one step', 'by codemod', 'module by module'].map((how): [string, object] => ['record-failed-approach', { approach: `Remove the legacy ORM layer ${how}`, outcome: 'billing broke' }]),
    decide('poll-refunds', 'Refunds ask as payments do'),
    link('poll-refunds', 'depends-on', 'poll-payments'),
    link('poll-payments', 'led-to', 'poll-refunds'),
  ]) // biome-ignore format: a batch
  expect((await run(m, { ref: 'remove the legacy ORM layer' })).text).toMatch(/failed, as 3 of 3 \(3 failed\)$/)
  expect((await run(m, { ref: 'poll-payments' })).text).toContain('0.90  needed by poll-refunds')
})
