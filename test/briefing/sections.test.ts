import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { back } from '../../src/session/briefing/back.ts'
import { brief, wasBriefed } from '../../src/session/briefing/brief.ts'
import type { HookCall } from '../../src/session/hooks/call.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { writeAutomatic } from '../../src/work/handoff/compose.ts'
import { openTestMemory, replicaOf, sync, type TestMemory } from './helpers.ts'

const textOf = (t: TestMemory, options = {}) =>
  brief(t.memory, t.project, { session: 'me', user: 'tester', ...options }).text
const briefed = (t: TestMemory, session = 'me') => {
  const options = { session, user: 'tester' }
  wasBriefed(t.memory, options, brief(t.memory, t.project, options), 'brief', t.memory.cursor)
}

test('[G6] open questions are never in a briefing, answered or not, ours or theirs', () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'use-sqlite', description: 'one file' }]])
  briefed(t, 'earlier')
  t.act([['record-question', { question: 'Does the hub need Redis?', context: 'deployment', topics: ['hub'] }]], { session: 'x' }) // biome-ignore format: one thought
  t.act([['record-question', { question: 'Which Redis?', answer: 'seven' }]], { session: 'x' })
  const theirs = replicaOf(t)
  sync(t.memory, theirs)
  theirs.act([['record-question', { question: 'Does the hub need Redis?', context: 'Redis or not' }]])
  sync(theirs, t.memory)
  expect(textOf(t)).not.toMatch(/Redis/)
})

test('[P4] the next briefing has the newest handoff whole, and of the others how many there are', () => {
  const t = openTestMemory()
  t.act([['start-task', { description: 'older task' }], ['write-handoff', { inProgress: ['old things'], nextSteps: ['do the old'] }]], { session: 'a' }) // biome-ignore format: one thought
  t.clock.now += 60_000
  t.act([['start-task', { description: 'newer task' }], ['write-handoff', { inProgress: ['auth middleware'], decisionsMade: ['RS256'], blockers: ['waiting for ops'], nextSteps: ['fix the JWKS cache', 'run the tests'], contextUsed: 78 }]], { session: 'b' }) // biome-ignore format: one thought
  const { text, line } = brief(t.memory, t.project, { session: 'me', moment: t.clock.now + 7_200_000 })
  expect(text).toContain(`- Handoff "newer task", written 2026-11-21 09:01Z (tester, 2026-11-21)
  In Progress:
  - auth middleware
  Decisions Made:
  - RS256
  Blockers:
  - waiting for ops
  Next Steps:
  - fix the JWKS cache
  - run the tests
and 1 more handoff, the newest "older task": tidemark handoff`)
  expect(text).not.toContain('old things')
  expect(line).toMatch(/^handoff 2 h old, /)
})

test('[P4] [X2] what was left with a released claim is told to who comes next, until somebody claims it', () => {
  const t = openTestMemory()
  const paths = ['src/auth/**', 'test/auth/**']
  t.act([['claim', { paths }]], { session: 'a' })
  t.act([['release', { handoff: 'the refresh test is red\n## on purpose' }]], { session: 'a' })
  const told =
    '- a released src/auth/**, test/auth/** at 2026-11-21 09:00Z and left: the refresh test is red ## on purpose'
  expect(textOf(t)).toContain(told)
  expect(textOf(t, { session: 'a' })).not.toContain('the refresh test is red')
  t.clock.now += 5 * 86_400_000
  t.library.sessions.start({ id: 'b' }) // forgets what is old
  expect(textOf(t)).toContain(told)
  const claimed = t.act([['claim', { paths: ['src/auth/token.ts'] }]], { session: 'b' })
  expect(claimed.notes).toEqual(['a, who released src/auth/**, left: the refresh test is red ## on purpose'])
  t.act(
    [
      ['release', {}],
      ['claim', { paths }],
    ],
    { session: 'b' },
  )
  expect(textOf(t)).not.toContain('the refresh test is red')
})

test('[P4] what was left with a task is told while that is open', () => {
  const t = openTestMemory()
  t.act(
    [
      ['start-task', { description: 'refresh tokens' }],
      ['claim', { task: 'refresh tokens' }],
    ],
    { session: 'a' },
  )
  t.act([['release', { handoff: 'JWKS is next' }]], { session: 'a' })
  expect(textOf(t)).toMatch(/- a released task "refresh tokens" \(task:\S+\) at .* and left: JWKS is next/)
  t.act([['complete', { ref: 'refresh tokens' }]], { session: 'b' })
  expect(textOf(t)).not.toContain('JWKS is next')
})

test('[P4] [W4] what is to be done next is told before what a later session touched, for a fortnight; what is old, by its name', () => {
  const t = openTestMemory()
  const steps = { inProgress: ['prices'], nextSteps: ['add VAT, then write a test for it'] }
  t.act([['write-handoff', steps]], { session: 'a' })
  t.clock.now += 60_000
  t.act([['write-handoff', { inProgress: ['Edited README.md'] }]], { session: 'b' })
  const told = () => brief(t.memory, t.project, { session: 'c' }).text
  expect(told()).toMatch(/add VAT, then write a test for it[\s\S]*and 1 more handoff/)
  t.clock.now += 15 * 86_400_000
  expect(told()).toMatch(/- Handoff "[^"]*", written [^\n]*; tidemark handoff\n/)
  expect(told()).not.toContain('add VAT')
  t.clock.now += 20 * 86_400_000
  expect(told()).toMatch(/- Handoff .*, 35 days ago: check what is still so .*; tidemark handoff\n/)
  expect(told()).not.toContain('Edited README.md')
})

test('[P4] [W2] a session with a task is told its place, and what was learned there', () => {
  const t = openTestMemory()
  const [by, other] = [{ session: 'me' }, { session: 'other' }]
  t.act([['start-goal', { originalAsk: 'Sell abroad' }]], by)
  t.act([['start-task', { description: 'add VAT' }]], by)
  t.act([['record-learning', { title: 'Rates differ by month', body: 'ask the table', severity: 'low' }]], by)
  t.act([['record-learning', { title: 'Rounding is per line', body: 'not per total', severity: 'high' }]], by)
  t.act([['record-learning', { title: 'The printer jams', body: 'often' }]], other)
  expect(textOf(t)).toMatch(
    /## Your work\n- Goal: Sell abroad \(goal:[^\n]+\n- Task: add VAT \(task:[^\n]+\n- Rounding is per line: not per total \([^\n]+\n- Rates differ/,
  )
  expect(textOf(t)).toMatch(/## Learned\n- The printer jams: often \([^\n]+\n<\/tidemark-data>/)
  expect(textOf(t, { session: 'other' })).not.toContain('Your work')
})

test('[P4] what was done, decided, learned and reached in its branch of the work is told to a session, nearest first', () => {
  const t = openTestMemory()
  const other = { session: 'other' }
  t.act([['start-goal', { originalAsk: 'Sell abroad' }]], other)
  t.act([['start-activity', { description: 'Taxes' }]], other)
  const [add, print] = ['add VAT', 'print VAT'].map((description) => t.act([['add-task', { description }]], other).results[0]!.id!) // biome-ignore format: one row
  for (const [task, word] of [
    [print, 'beside'],
    [add, 'own'],
  ] as const) {
    // biome-ignore format: one row
    t.act([['start-task', { ref: task }]], other)
    t.act([['record-decision', { name: `rate-table-${word}`, rationale: 'rates change' }]], other)
    t.act([['record-action-note', { text: `Wrote the table, ${word}` }]], other)
    t.act([['record-result', { text: `All rates are right, ${word}` }]], other)
    t.act([['record-learning', { title: `Rates differ by month, ${word}`, severity: word === 'own' ? 'high' : 'low' }]], other) // biome-ignore format: one row
    t.clock.now += 60_000
  }
  for (const n of [1, 2, 3, 4, 5]) t.act([['record-decision', { name: `noise-${n}` }]], { session: 'stranger' })
  t.act([['start-task', { ref: add }]], { session: 'me' })
  const work = textOf(t).split('## ').find((s) => s.startsWith('Your work'))! // biome-ignore format: one row
  const order = [
    'Rates differ by month, own',
    'Result: All rates are right, own',
    'Done: Wrote the table, own',
    'rate-table-own',
    'Rates differ by month, beside',
    'Result: All rates are right, beside',
  ].map((text) => work.indexOf(text))
  expect(order.every((at) => at > 0)).toBe(true)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(work).not.toContain('noise')
  expect(textOf(t).split('rate-table-own')).toHaveLength(2) // once
})

test('[P4] what a session decided is told once, among the decisions; a name that is the beginning of what it says, too', () => {
  const t = openTestMemory()
  const description = 'We want a single git repository for all of the packages, at its top'
  const [session, name] = ['a', description.slice(0, 60)]
  sessionsOf(t.memory).start({ id: session, client: 'claude-code' })
  sessionsOf(t.memory).edited(session, 'src/a.ts')
  t.act([['record-decision', { name, description }]], { session })
  writeAutomatic(t.memory, t.project, session, { why: 'stop' })
  const { text } = brief(t.memory, t.project, { session: 'c' })
  expect(text).toContain(`## Decisions\n- ${description} (`)
  expect(text).toContain('Edited src/a.ts')
  expect(text.split('We want').length).toBe(2)
})

test('[P4] a handoff that does not fit is told with its next steps', () => {
  const t = openTestMemory()
  t.act([['write-handoff', { inProgress: Array.from({ length: 30 }, (_, i) => `thing ${i} ${'word '.repeat(30)}`), nextSteps: ['fix the JWKS cache'] }]], { session: 'a' }) // biome-ignore format: one thought
  const text = textOf(t, { budget: 300 })
  expect(text).not.toContain('thing 1')
  expect(text).toContain('fix the JWKS cache')
})

test('[X5] [W4] what a crashed session had in hand is told until a session goes on with it, or it is ended', () => {
  const t = openTestMemory()
  sessionsOf(t.memory).start({ id: 'lost', client: 'codex', branch: 'auth' })
  t.act([['start-task', { description: 'refresh tokens' }], ['claim', { paths: ['src/auth/**'] }], ['record-decision', { name: 'use-rs256', description: 'sign with RS256' }]], { session: 'lost' }) // biome-ignore format: one thought
  sessionsOf(t.memory).edited('lost', 'src/auth/token.ts')
  sessionsOf(t.memory).start({ id: 'idle' }) // had nothing in hand: nothing to go on with
  t.clock.now += 3_600_000
  sessionsOf(t.memory).start({ id: 'me' })
  const { text, line } = brief(t.memory, t.project, { session: 'me' })
  expect(text).toContain(`- Session lost (codex, branch auth) crashed, last seen 2026-11-21 09:00Z
  Task: refresh tokens`)
  expect(text).toContain('  Files in hand: src/auth/token.ts')
  expect(text).toContain('  Had claimed: src/auth/**')
  expect(text).toContain('  Had decided: use-rs256')
  expect(line).toMatch(/^1 crashed, /)
  expect(text).not.toContain('Session idle')
  briefed(t)
  sessionsOf(t.memory).start({ id: 'next' })
  sessionsOf(t.memory).edited('next', 'README.md')
  expect(textOf(t, { session: 'next' })).toContain('Session lost')
  sessionsOf(t.memory).edited('next', 'src/auth/token.ts')
  expect(textOf(t, { session: 'next' })).not.toContain('Session lost')
  sessionsOf(t.memory).start({ id: 'lost too' })
  sessionsOf(t.memory).edited('lost too', 'src/cart.ts')
  t.clock.now += 3_600_000
  sessionsOf(t.memory).start({ id: 'me' })
  expect(textOf(t)).toContain('Session lost too')
  sessionsOf(t.memory).end('lost too', 'nobody goes on')
  expect(textOf(t)).not.toContain('Session lost too')
})

test('[X5] [W4] what a crashed session edited is in nobody’s hands for sure once commits came since', () => {
  const t = openTestMemory()
  sessionsOf(t.memory).start({ id: 'lost' })
  sessionsOf(t.memory).edited('lost', 'src/auth/token.ts')
  mkdirSync(join(t.dir, '.git/logs'), { recursive: true })
  const at = t.clock.now / 1000 + 60
  writeFileSync(join(t.dir, '.git/logs/HEAD'), `${'0'.repeat(40)} ${'1'.repeat(40)} A B <a@b> ${at} +0100\tcommit: b\n`)
  t.clock.now += 3_600_000
  sessionsOf(t.memory).start({ id: 'me' })
  const text = textOf(t, { session: 'me' })
  expect(text).toMatch(
    /Session lost crashed, last seen [^\n]*, 1 commit ago: check what is still so\n {2}Had edited: src\/auth/,
  )
  expect(text).not.toContain('in hand')
})

test('[M6] who resumes is told of decisions what came since, and not those that had no room before', () => {
  const t = openTestMemory()
  for (let i = 0; i < 12; i++) t.act([['record-decision', { name: `choice-${i}`, description: `we chose ${i}` }]])
  const { sections } = brief(t.memory, t.project, { session: 'me' })
  const ids = sections.flatMap((s) => s.ids)
  expect(ids).toHaveLength(5)
  const held = new Map(ids.map((id) => [id, t.clock.now + 1_000]))
  expect(textOf(t, { session: 'me', held })).not.toContain('Decisions')
  t.clock.now += 60_000
  t.act([['record-decision', { name: 'later', description: 'we chose again' }]])
  const text = textOf(t, { session: 'me', held })
  expect(text).toContain('decision:later')
  expect(text).not.toContain('choice-')
  // nor of rules of files that wait
  t.clock.now += 60_000
  const w = (n: number) => `${'abcdefghijklmnopqrstuvwxyz'[n % 26]!.repeat(4)}${n}`
  const take = (n: number) => ({ fact: `Never ${w(n)} the ${w(n + 7)} of ${w(n + 13)}`, standing: 'proposed' })
  t.act(
    Array.from({ length: 30 }, (_, n) => ['record-fact', take(n)]),
    { source: 'import claude-md X.md', by: 'agent' },
  )
  const rules = brief(t.memory, t.project, { session: 'me', held }).sections.find((s) => s.name === 'unconfirmed')!.ids
  expect(rules).toHaveLength(6)
  const heldNow = new Map([...held, ...rules.slice(0, 3).map((id) => [id, t.clock.now + 1_000] as const)])
  expect(textOf(t, { session: 'me', held: heldNow })).not.toContain('Never ')
})

test('[M6] [G2] who resumes is told a decision that came while something else was told, or that arrived late', async () => {
  const t = openTestMemory()
  const on = (event: HookCall['event'], more: Partial<HookCall> = {}) =>
    respond(t.memory, t.project, { client: 'claude', event, session: 'me', cwd: t.dir, ...more }, () => 5_000)
  const other = replicaOf(t, 'ana')
  t.act([['record-decision', { name: 'first', description: 'we chose sqlite' }]])
  await on('session-start')
  t.clock.now += 60_000
  other.act([['record-decision', { name: 'theirs', description: 'we chose zod' }]])
  t.act([['record-decision', { name: 'between', description: 'we chose vite' }]])
  t.clock.now += 60_000
  t.memory.db.write(() => sessionsOf(t.memory).told('me', { door: 'test', ids: ['file:x'], tokens: 1, chars: 1 }))
  t.clock.now += 60_000
  sync(other, t.memory)
  const { reply } = await on('session-start', { source: 'resume' })
  expect(reply.context).toContain('decision:between')
  expect(reply.context).toContain('decision:theirs')
  expect(reply.context).not.toContain('decision:first')
})

test('[X5] of several crashes the last is told whole, each earlier one in a line that says how to see it', () => {
  const t = openTestMemory()
  for (const [id, file] of [
    ['first', 'src/cart.ts'],
    ['second', 'src/till.ts'],
  ] as const) {
    sessionsOf(t.memory).start({ id })
    sessionsOf(t.memory).edited(id, file)
    t.clock.now += 60_000
  }
  t.clock.now += 3_600_000
  sessionsOf(t.memory).start({ id: 'me' })
  const text = textOf(t, { session: 'me' })
  expect(text).toMatch(/- Session second crashed, [^\n]*\n {2}Files in hand: src\/till.ts\n/)
  expect(text).toMatch(/- Session first crashed, [^\n]*, with src\/cart.ts in hand; tidemark session show first\n/)
})

test('[X5] a task that a crashed session was given is told by its name, and once', () => {
  const t = openTestMemory()
  for (const id of ['lost', 'lead']) sessionsOf(t.memory).start({ id })
  t.act([
    ['add-task', { description: 'write the docs' }],
    ['add-task', { description: 'refresh tokens' }],
  ])
  t.act([['assign-task', { task: 'refresh tokens', to: 'lost', role: 'writer' }]], { session: 'lead' })
  expect(back(t.memory, t.project, {}).text).toMatch(/- writer \(lost\): active; task "refresh tokens" \(task:\w+\)/)
  t.act(
    [
      ['start-task', { ref: 'write the docs' }],
      ['claim', { task: 'write the docs' }],
    ],
    { session: 'lost' },
  )
  t.clock.now += 3_600_000
  sessionsOf(t.memory).start({ id: 'me' })
  const text = textOf(t, { session: 'me' })
  expect(text).toMatch(/ {2}Task: write the docs \(task:\w+\)\n {2}Had claimed: task "refresh tokens" \(task:\w+\)\n/)
})

test('[X5] live sessions and their claims are told; the own session and its subagents are not', () => {
  const t = openTestMemory()
  const sessions = sessionsOf(t.memory)
  sessions.start({ id: 'me', client: 'claude-code' })
  sessions.start({ id: 'my-child', parent: 'me' })
  sessions.start({ id: 'other', client: 'codex', branch: 'auth', role: 'backend' })
  sessions.start({ id: 'gone' })
  sessions.end('gone')
  t.act([['start-task', { description: 'refresh tokens' }], ['claim', { paths: ['src/auth/**'], note: 'middleware' }]], { session: 'other' }) // biome-ignore format: one thought
  const { text, line } = brief(t.memory, t.project, { session: 'me' })
  expect(text).toContain(`## Live sessions
- other (backend, codex, branch auth)
  task: refresh tokens
  claims: src/auth/** until 2026-11-21 09:30Z (middleware)`)
  expect(text).not.toMatch(/my-child|gone|- me/)
  expect(line).toMatch(/1 session live/)
})

test('[M6] decisions for the files in hand and the task come first; superseded, retired and outdated ones never', () => {
  const t = openTestMemory()
  const decide = (name: string, description: string, more = {}) => ['record-decision', { name, description, ...more }]
  for (let i = 0; i < 25; i++) t.act([decide(`other-${i}`, 'something else entirely', { impact: 9 })])
  t.act([
    decide('token-lifetime', 'tokens live for an hour', { locations: ['src/auth/token.ts:12'] }),
    decide('refresh-early', 'refresh tokens before they expire'),
    decide('old-way', 'tokens live for ever'),
    decide('gone-way', 'tokens live in cookies'),
    decide('was-so', 'tokens of last year', { validTo: '2025-12-31' }),
  ])
  t.act([
    ['supersede', { old: 'old-way', new: 'token-lifetime' }],
    ['retire', { ref: 'gone-way', reason: 'no' }],
  ])
  t.act([['start-task', { description: 'refresh tokens' }]], { session: 'me' })
  sessionsOf(t.memory).edited('me', 'src/auth/token.ts')
  const text = textOf(t)
  const order = [...text.matchAll(/^- decision:([\w-]+)/gm)].map((m) => m[1]!)
  expect(order.slice(0, 2).sort()).toEqual(['refresh-early', 'token-lifetime'])
  expect(text).not.toMatch(/old-way|gone-way|decision:was-so:/)
  expect(text).toContain('decision:was-so was valid until 2025-12-31 only')
})

test('[M6] what did not work is told with what to do instead; proposals of hooks are not', () => {
  const t = openTestMemory()
  t.act([
    ['record-failed-approach', { approach: 'watching the WAL file', outcome: 'missed commits', lesson: 'ring a doorbell' }],
    ['propose', { action: ['record-failed-approach', { approach: 'npm test failed three times' }] }],
  ]) // biome-ignore format: one thought
  const text = textOf(t)
  t.act([['record-correction', { wrongBelief: 'users live in users.py', rightBelief: 'users live in accounts.py' }]])
  expect(text).toContain('- Tried: watching the WAL file; outcome: missed commits; instead: ring a doorbell (tester, ')
  expect(textOf(t)).toContain('- Corrected: users live in accounts.py; not: users live in users.py (tester, ')
  expect(text).not.toContain('three times')
})

test('[M6] what changed since the user was last here, by whom, verified or not; each once', () => {
  const t = openTestMemory()
  t.act([['record-principle', { name: 'plan-then-apply' }]])
  expect(textOf(t)).not.toContain('Changed since') // never here: all of it is new
  briefed(t, 'first')
  expect(textOf(t)).not.toContain('Changed since')
  const theirs = replicaOf(t, 'ana')
  sync(t.memory, theirs)
  theirs.act([
    ['record-principle', { name: 'plan-then-apply', description: 'judge first' }],
    ['record-concept', { name: 'ledger', definition: 'what is owed' }],
  ])
  sync(theirs, t.memory)
  t.act([['record-learning', { title: 'Yjs decides by client id' }], ['record-decision', { name: 'x', description: 'y' }]], { session: 'second', user: 'ben' }) // biome-ignore format: one thought
  const text = textOf(t)
  expect(text).not.toContain('- changed: principle:plan-then-apply') // it waits, and is told to be reviewed
  expect(text).toMatch(/- new: concept:[\w-]+ \(ana, 2026-11-21, unverified\)/)
  expect(text).toMatch(/## Learned\n- Yjs decides by client id \(ben, 2026-11-21\)/)
  expect(text).not.toMatch(/- new: decision:x/) // stands among the decisions
  briefed(t)
  expect(textOf(t)).not.toContain('Changed since')
  t.act([['record-learning', { title: 'my own' }]], { session: 'me' })
  expect(textOf(t)).not.toContain('Changed since')
})

test('[M6] an import of documents is no news, in a briefing and for who comes back', () => {
  const t = openTestMemory()
  t.act([['record-principle', { name: 'plan-then-apply' }]])
  briefed(t, 'first')
  const pages = Array.from({ length: 9 }, (_, i) => ['record-file', { path: `docs/p${i}.md`, attrs: { document: `P${i}` } }]) // biome-ignore format: one thought
  t.act([...pages, ['record-file', { path: 'src/hub.ts', understanding: 'the hub' }]], {
    session: 'second',
    user: 'ben',
  })
  const text = textOf(t)
  expect(text).not.toContain('docs/p1.md')
  expect(text).toContain('src/hub.ts')
  const { text: seen } = back(t.memory, t.project, { user: 'tester' })
  expect(seen).toContain('src/hub.ts')
  expect(seen).not.toContain('docs/p1.md')
})

test('[M6] that something was deleted is told to who was here before, and not where it came and went meanwhile', () => {
  const t = openTestMemory()
  t.act([
    ['record-fact', { fact: 'Use pnpm for installs' }],
    ['record-principle', { name: 'plan-then-apply' }],
  ])
  briefed(t, 'first')
  t.act([['delete-fact', { ref: 'fact:use-pnpm-for-installs', reason: 'npm' }]], { session: 'second', user: 'ben' })
  t.act([['record-fact', { fact: 'Use yarn' }]], { session: 'second', user: 'ben' })
  t.act([['delete-fact', { ref: 'fact:use-yarn', reason: 'npm' }]], { session: 'second', user: 'ben' })
  t.act([['record-decision', { name: 'yarn-workspaces' }]], { session: 'third', user: 'ben' })
  for (const verb of ['undo', 'redo', 'undo']) t.act([[verb, {}]], { session: 'third', user: 'ben' })
  const text = textOf(t, { session: 'first' })
  expect(text).toContain('- deleted: fact:use-pnpm-for-installs')
  expect(text).not.toContain('yarn')
})

test('[X5] sessions that idle with nothing in hand are a number', () => {
  const t = openTestMemory()
  const sessions = sessionsOf(t.memory)
  for (let i = 0; i < 9; i++) sessions.start({ id: `waits-${i}` })
  t.act([['claim', { paths: ['src/auth/**'] }]], { session: 'waits-0' })
  t.clock.now += 20 * 60_000
  sessions.start({ id: 'works' })
  const { text, line } = brief(t.memory, t.project, { session: 'me' })
  expect(text).toContain('- works\n- waits-0\n')
  expect(text).toContain('and 8 idle')
  expect(text).not.toContain('waits-1')
  expect(line).toMatch(/2 sessions live/)
  t.clock.now += 20 * 60_000
  expect(brief(t.memory, t.project, { session: 'me' }).text).not.toContain('idle')
})
