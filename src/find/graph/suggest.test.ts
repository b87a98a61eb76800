import { expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../../../test/helpers.ts'
import { act } from '../../surfaces/tools/act.ts'
import { relate } from '../../surfaces/tools/relate.ts'
import type { Output } from '../../surfaces/tools/tool.ts'
import { cuesIn } from './cues.ts'

/** What an agent reads after it has recorded a decision. */
async function decide(t: TestMemory, name: string, description: string, more: object = {}): Promise<string[]> {
  t.clock.days(1)
  const actions = [['record-decision', { name, description, ...more }]]
  return ((await act.run({ memory: t.memory, project: t.project }, { actions })) as Output).text.split('\n')
}
const notesOf = (lines: readonly string[]) => lines.filter((l) => l.startsWith('note: ')).map((l) => l.slice(6))
const actionIn = (note: string) => JSON.parse(note.slice(note.indexOf('["'), note.lastIndexOf(']') + 1))

test('[G2] of five decisions on auth, db, auth, deploy, auth each names the earlier ones on its topic, and no others', async () => {
  const t = openTestMemory()
  const said: [string, string, string][] = [
    ['jwt', 'Use JWT tokens', 'auth'],
    ['postgres', 'Use PostgreSQL', 'db'],
    ['refresh', 'Add refresh tokens', 'auth'],
    ['docker', 'Use Docker', 'deploy'],
    ['expiry', 'Token expiry 1hr', 'auth'],
  ]
  const notes: string[][] = []
  for (const [name, description, topic] of said)
    notes.push(notesOf(await decide(t, name, description, { topics: [topic] })))
  const [first, db, third, deploy, fifth] = notes
  expect([first, db, deploy]).toEqual([[], [], []])
  expect(third).toEqual([
    'decided earlier: "jwt" (both on auth; both say tokens); if this replaces it: ["supersede", {"old": "decision:jwt", "new": "decision:refresh"}]; if it goes with it: ["link-entities", {"from": "decision:refresh", "to": "decision:jwt", "type": "similar-to"}]',
  ])
  expect(fifth![0]).toMatch(/"jwt".*"refresh"|"refresh".*"jwt"/)
  expect(fifth![0]).not.toMatch(/postgres|docker/)
})

test('[G3] words that say how a decision relates are told with the action that says it; nothing is linked by itself', async () => {
  const t = openTestMemory()
  await decide(t, 'jwt', 'Use JWT tokens for API authentication')
  await decide(t, 'docker', 'Deploy with Docker')
  await decide(t, 'sqlite-tests', 'Tests use SQLite in memory')
  await decide(t, 'rest-only', 'The public API is REST')
  const cases: [string, string, RegExp, string][] = [
    ['redis', 'Keep sessions in Redis instead of JWT tokens', /says "instead of JWT tokens"/, 'redis supersedes jwt'],
    ['kube', 'Run on Kubernetes; this builds on deploying with Docker', /"builds on deploying with Docker"/, 'kube depends-on docker'], // biome-ignore format: one case
    ['json', 'Tags are JSON. Because tests use SQLite we cannot use arrays', /"Because tests use SQLite we cannot"/, 'sqlite-tests constrains json'], // biome-ignore format: one case
    ['openapi', 'Describe it with OpenAPI, as decided in rest-only', /"as decided in rest-only"/, 'openapi cites rest-only'], // biome-ignore format: one case
    ['arrays', 'Use array columns, which is incompatible with tests in SQLite', /"incompatible with tests/, 'arrays conflicts-with sqlite-tests'], // biome-ignore format: one case
  ]
  for (const [name, description, why, link] of cases) {
    const lines = await decide(t, name, description)
    const [note = ''] = notesOf(lines)
    expect(lines.length).toBeLessThanOrEqual(6)
    expect(note).toMatch(why)
    expect(t.memory.reader.list('relationship')).toEqual([])
    const [done] = t.act([actionIn(note)]).results
    const { from, to, type } = t.memory.reader.entity(String(done!.link ?? done!.id))!.fields
    const ends = [from, to].map((id) => String(id).replace('decision:', ''))
    expect([`${ends[0]} ${type} ${ends[1]}`, `${ends[1]} ${type} ${ends[0]}`]).toContain(link)
    t.act([['undo', {}]])
  }
})

test('[G3] what was linked, rejected or taken away is not suggested again; a shared file and a name are', async () => {
  const t = openTestMemory()
  await decide(t, 'retry-writes', 'Three attempts with a pause', { locations: ['src/store/write.ts:12'] })
  const file = await decide(t, 'one-lock', 'A single writer at a time', { locations: ['src/store/write.ts:90'] })
  expect(notesOf(file)[0]).toMatch(/"one-lock" impacts "retry-writes"\? It is in src\/store\/write.ts as well/)
  const again = (): Promise<string[]> =>
    decide(t, 'one-lock', 'A single writer at a time', { rationale: `day ${t.clock.now}` })
  t.act([['propose', { action: actionIn(notesOf(file)[0]!) }]])
  expect(notesOf(await again())).toEqual([])
  const [link] = t.memory.reader.list('relationship', { all: true })
  t.act([['reject', { ref: link!.id }]])
  expect(notesOf(await again())).toEqual([])
  const named = await decide(t, 'audit', 'Every row has an author; see retry-writes')
  expect(notesOf(named)[0]).toContain('"audit" references "retry-writes"? It names "retry-writes"')
})

test('[G3] cues are read in plain sentences, and name what follows them', () => {
  const said = (text: string) => cuesIn(text).map((c) => [c.type, c.object])
  expect(said('Replace the self-hosted Jenkins with Concourse.')).toEqual([['supersedes', 'the self-hosted Jenkins']])
  expect(said('We move from npm to pnpm')).toEqual([['supersedes', 'npm']])
  expect(said("We can't rent the studio if we keep the second car")).toEqual([['conflicts-with', 'we keep the second car']]) // biome-ignore format: one case
  expect(said('No loans, because of the mortgage we cannot repay faster')).toEqual([['constrains', 'the mortgage']])
  expect(said('We cannot use Redis as a queue')).toEqual([])
  expect(said('As the lease ends in May, we cannot build a wall')).toEqual([['constrains', 'the lease ends in May']])
  expect(said('A plain sentence about instead-of gates')).toEqual([])
  expect(cuesIn(`${'because '.repeat(2_000)}we cannot ${'if '.repeat(2_000)}`).length).toBeLessThanOrEqual(20)
})

const backfill = async (t: TestMemory, args: object = {}) =>
  (await relate.run({ memory: t.memory, project: t.project }, { ...args })) as Output

test('[G3] relate goes through a whole store: it proposes with evidence, a second run proposes nothing, what is rejected or removed stays away', async () => {
  const t = openTestMemory()
  t.act([
    ['record-person', { name: 'Ana Silva', role: 'accountant' }],
    ['record-concept', { name: 'double-entry bookkeeping', definition: 'a method of accounts' }],
    ['record-file-understanding', { path: 'src/ledger.ts', summary: 'the ledger' }],
    ['record-decision', { name: 'paper-ledger', description: 'Keep the ledger on paper' }],
  ])
  t.clock.days(1)
  t.act([
    ['record-decision', { name: 'sheet', description: 'A spreadsheet replaces the ledger on paper; Ana Silva keeps it by double-entry bookkeeping', locations: ['src/ledger.ts:3'] }], // biome-ignore format: one action
  ])
  const rows = t.rows()
  const dry = await backfill(t, { 'dry-run': true })
  expect(dry.text).toContain(
    'would propose 4 of 4 found:\n  sheet supersedes paper-ledger: says "replaces the ledger on paper"',
  )
  expect(t.rows()).toBe(rows)

  const first = await backfill(t)
  const proposed = (first.json as { proposed: { from: string; type: string; to: string }[] }).proposed
  expect(proposed.map((l) => `${l.type} ${l.to}`).sort()).toEqual([
    'about file:src-ledger-ts-d5b7d5fb0571',
    'applies-framework concept:double-entry-bookkeeping',
    'involves person:ana-silva',
    'supersedes decision:paper-ledger',
  ])
  expect(t.get('paper-ledger')!.fields.status).not.toBe('superseded')
  const waiting = t.memory.reader.list('relationship', { standing: 'proposed' })
  expect(waiting.map((l) => l.fields.description)).toContain('says "replaces the ledger on paper"')
  expect((await backfill(t)).text).toBe('nothing new to propose\n4 wait for your answer: tidemark review')

  const [supersedes, ...others] = waiting.toSorted((a) => (a.fields.type === 'supersedes' ? -1 : 1))
  t.act([['confirm', { ref: supersedes!.id }], ...others.slice(1).map((l) => ['reject', { ref: l.id }])])
  t.act([['confirm', { ref: others[0]!.id }]])
  const { from, to, type } = others[0]!.fields
  t.act([['unlink-entities', { from, to, type }]])
  expect(t.get('paper-ledger')!.fields.status).toBe('superseded')
  expect((await backfill(t)).text).toBe('nothing new to propose')
})

test('[G3] relate leaves no more than its limit to be answered, the surest first, and leaves out what would close a cycle', async () => {
  const t = openTestMemory()
  await decide(t, 'bikes', 'Go to work by bike')
  await decide(t, 'tram', 'Go by tram, which depends on going to work by bike')
  await decide(t, 'season-pass', 'Buy the pass for a year')
  t.act([
    ['link-entities', { from: 'bikes', to: 'season-pass', type: 'depends-on' }],
    ['link-entities', { from: 'season-pass', to: 'tram', type: 'depends-on' }],
  ])
  expect((await backfill(t)).text).toBe('nothing new to propose')
  for (let i = 0; i < 6; i++) {
    await decide(t, `rule-${i}`, `Rent number ${i} is paid in cash`)
    await decide(t, `later-${i}`, `A bank order replaces cash for rent number ${i}`)
  }
  expect((await backfill(t, { limit: 4 })).json).toMatchObject({ waiting: 4 })
  const again = await backfill(t, { limit: 4 })
  expect(again.json).toMatchObject({ proposed: [], waiting: 4 })
  expect(again.text).toContain('then run this again for more')
  const [one] = t.memory.reader.list('relationship', { standing: 'proposed' })
  t.act([['reject', { ref: one!.id }]])
  expect((await backfill(t, { limit: 4 })).json).toMatchObject({ proposed: [{}], waiting: 4 })
})

test('[G3] [G6] with a rule, a question and several earlier decisions on its subject, the answer to a decision has six lines at most', async () => {
  const t = openTestMemory()
  const topics = ['payments']
  t.act([
    ['record-fact', { fact: 'Payments are stored in euros', category: 'constraint', topics }],
    ['record-question', { question: 'Which currency do payments have?', topics }],
  ])
  for (const bank of ['Alfa', 'Beta', 'Gamma', 'Delta'])
    await decide(t, `bank-${bank.toLowerCase()}`, `Payments go through the bank ${bank}`, { topics })
  const lines = await decide(t, 'bank-omega', 'Payments go through the bank Omega, which replaces the bank Delta', {
    topics,
  })
  expect(lines.length).toBeLessThanOrEqual(6)
  const [, , ...notes] = lines
  expect(notes.map((n) => /question|rule|supersedes|decided earlier/.exec(n)?.[0])).toEqual(['question', 'rule', 'supersedes', 'decided earlier']) // biome-ignore format: one line
  expect(notes.at(-1)!.match(/"bank-\w+" \(/g)).toHaveLength(2) // three earlier decisions in all
})
