import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import type { ActOptions } from '../../src/engine/memory.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { parts, replicaOf, sync } from '../briefing/helpers.ts'
import { openTestMemory, seededBytes, type TestMemory, userError } from '../helpers.ts'
import { SEED } from '../runs.ts'

const AGENT: ActOptions = { agent: 'claude-code', session: 'work' }
const rulesOf = (t: TestMemory) => parts(brief(t.memory, t.project, { budget: 100_000, client: 'claude' }).text).outside
const fact = (text: string, more: object = {}) => ['record-fact', { fact: text, ...more }]

/** A store in which something of every standing lies about. */
function store(): TestMemory {
  const t = openTestMemory()
  writeFileSync(join(t.dir, 'CLAUDE.md'), '')
  const theirs = replicaOf(t, 'team')
  theirs.act([fact('From others')])
  sync(theirs, t.memory)
  t.act([
    fact('Never push to main', { category: 'constraint', locations: ['AGENTS.md:3'] }),
    fact('Use npm'),
    fact('Use pnpm'),
    fact('Old rule'),
    fact('Deleted rule'),
    fact('Gone by a purge'),
    fact('Retired rule'),
    ['supersede', { old: 'fact:use-npm', new: 'fact:use-pnpm' }],
    ['delete-fact', { ref: 'fact:deleted-rule' }],
    ['retire', { ref: 'fact:retired-rule', reason: 'no longer' }],
  ])
  t.act([['propose', { action: fact('Waits') }]], AGENT)
  t.act([['propose', { action: fact('Rejected rule') }]], AGENT)
  t.act([['reject', { ref: 'fact:rejected-rule' }]])
  t.act([['propose', { action: ['retire', { ref: 'fact:old-rule', reason: 'old' }] }]], AGENT)
  const link = { from: 'fact:use-pnpm', to: 'fact:old-rule', type: 'supersedes' }
  t.act([['propose', { action: ['link-entities', link] }]], AGENT)
  t.act([fact('Deploy by hand')])
  t.act([['propose', { action: fact('Deploy by CI') }]], AGENT)
  t.act([['supersede', { old: 'fact:deploy-by-hand', new: 'fact:deploy-by-ci' }]])
  return t
}

const waitingLink = (t: TestMemory) => t.memory.reader.list('relationship', { standing: 'proposed' })[0]!.id
const waitingEdit = (t: TestMemory) => t.memory.reader.list('proposal', { standing: 'proposed' })[0]!.id
const linkTo = (t: TestMemory, id: string) => t.memory.reader.links('to', id)[0]!.entity.id
const MAIN = 'fact:never-push-to-main'

/** Every way by which a text comes to bind, or a binding text changes. `told`: the agent is refused, and told the person's command. */
const ROUTES: readonly [what: string, action: (t: TestMemory) => unknown[], told?: string][] = [
  ['a new fact', () => fact('Pipe curl into sh')],
  ['a new fact that calls itself confirmed', () => fact('Pipe curl into sh', { standing: 'confirmed' })],
  ['a fact recorded anew after it was deleted', () => fact('Deleted rule', { anew: true })],
  ['other words for a rule', () => ['record-fact', { ref: MAIN, fact: 'Push to main' }]],
  ['a context for a rule', () => fact('Never push to main', { context: 'except with --force' })],
  ['a context for a rule whose replacement waits', () => fact('Deploy by hand', { context: 'or not' })],
  ['retire of a rule whose replacement waits', () => ['retire', { ref: 'fact:deploy-by-hand', reason: 'x' }]],
  ['another category', () => ['record-fact', { ref: MAIN, category: 'tool' }]],
  ['a place that hides it from a client', () => ['record-fact', { ref: MAIN, locations: ['CLAUDE.md'] }]],
  ['an end of its time', () => ['record-fact', { ref: MAIN, validTo: '2020-01-01' }]],
  ['rename', () => ['rename', { ref: MAIN, name: 'Push to main' }]],
  ['standing: proposed', () => ['record-fact', { ref: MAIN, standing: 'proposed' }]],
  ['standing: confirmed for a proposal', () => ['record-fact', { ref: 'fact:waits', standing: 'confirmed' }]],
  ['standing: confirmed for a rejected one', () => fact('Rejected rule', { standing: 'confirmed' })],
  ['confirm', () => ['confirm', { ref: 'fact:waits' }], 'tidemark confirm fact:waits'],
  ['confirm of what was rejected', () => ['confirm', { ref: 'fact:rejected-rule' }], 'tidemark confirm fact:rejected-rule'],
  ['confirm of a proposed edit', (t) => ['confirm', { ref: waitingEdit(t) }], 'tidemark confirm proposal:'],
  ['confirm of a proposed link', (t) => ['confirm', { ref: waitingLink(t) }], 'tidemark confirm'],
  ['confirm of what came by sync', () => ['confirm', { ref: 'fact:from-others' }], 'tidemark confirm fact:from-others'],
  ['a word beside what came by sync', () => fact('From others', { tags: ['seen'] })],
  ['retire', () => ['retire', { ref: MAIN, reason: 'in the way' }]],
  ['delete', () => ['delete-fact', { ref: MAIN }]],
  ['purge', () => ['purge', { ref: MAIN, reason: 'in the way' }]],
  ['purge of what replaced a rule', (t) => ['purge', { ref: linkTo(t, 'fact:use-npm'), reason: 'x' }]],
  ['restore of a deleted one', () => ['restore', { ref: 'fact:deleted-rule' }]],
  ['restore of a retired one', () => ['restore', { ref: 'fact:retired-rule' }]],
  ['supersede', () => ['supersede', { old: MAIN, new: 'fact:use-pnpm' }]],
  ['a link that supersedes', () => ['link-entities', { from: 'fact:use-pnpm', to: MAIN, type: 'supersedes' }]],
  ['unlink', () => ['unlink-entities', { from: 'fact:use-pnpm', to: 'fact:use-npm', type: 'supersedes' }]],
  ['undo', () => ['undo', { batch: 'last-of-person' }]],
] // biome-ignore format: a table to read at a glance

/** What a person agreed to last, so that an undo has something of theirs to take back. */
const prepared = (t: TestMemory, action: readonly unknown[]): unknown[] => {
  if (action[0] !== 'undo') return [...action]
  return ['undo', { batch: t.act([fact('Said last by the person')]).batch }]
}

test.each(ROUTES)('[T40] %s takes a person: an agent can only propose it', (_what, route, told) => {
  const person = store()
  const his = prepared(person, route(person))
  const asked = rulesOf(person)
  person.act([his])
  expect(rulesOf(person), 'the route changes what binds').not.toBe(asked)

  const t = store()
  const action = prepared(t, route(t))
  const before = rulesOf(t)
  if (told !== undefined || action[0] === 'confirm') {
    const error = userError(() => t.act([action], AGENT))
    expect(error.message).toContain(told)
    expect(error.message).toContain('outside the agent')
  } else if (String((action[1] as { fact?: string }).fact) === 'Rejected rule') {
    expect(userError(() => t.act([action], AGENT)).message).toContain('rejected before')
  } else {
    const done = t.act([action], AGENT)
    expect(done.notes.join('\n')).toMatch(/^proposed; it binds once a person says yes: `tidemark confirm \S+`$/)
    expect(rulesOf(t)).toBe(before)
    // the yes, and with it what the person themselves would have written
    const id = /confirm (\S+)`/.exec(done.notes[0]!)![1]!
    t.act([['confirm', { ref: id }]])
    expect(rulesOf(t)).toBe(rulesOf(person))
  }
  expect(rulesOf(t) === before || told === undefined).toBe(true)
})

test('[Y1] a rule binds until what takes its place does: no to that leaves it, yes ends it, and lists say the same', () => {
  const [no, yes] = [store(), store()]
  for (const t of [no, yes]) {
    expect(rulesOf(t)).toContain('Deploy by hand')
    expect(t.memory.reader.list('fact', { current: true }).map((e) => e.name)).toContain('Deploy by hand')
  }
  no.act([['reject', { ref: 'fact:deploy-by-ci' }]])
  expect(rulesOf(no)).toContain('Deploy by hand')
  yes.act([['confirm', { ref: 'fact:deploy-by-ci' }]])
  expect(rulesOf(yes)).toContain('Deploy by CI')
  expect(rulesOf(yes)).not.toContain('Deploy by hand')
})

test('[T40] several in one batch: what binds is proposed, the rest is written, and later actions see both', () => {
  const t = store()
  const before = rulesOf(t)
  const done = t.act(
    [
      fact('Deploy from laptops'),
      ['record-decision', { name: 'deploy-by-hand', rationale: 'no pipeline yet' }],
      ['link-entities', { from: 'deploy-by-hand', to: 'fact:deploy-from-laptops', type: 'supports' }],
      ['supersede', { old: MAIN, new: 'fact:deploy-from-laptops' }],
      ['record-fact', { ref: MAIN, tags: ['git'] }],
    ],
    AGENT,
  )
  expect(rulesOf(t)).toBe(before)
  expect(done.results.map((r) => [r.verb, r.standing ?? 'written'])).toEqual([
    ['record-fact', 'proposed'],
    ['record-decision', 'written'],
    ['link-entities', 'written'],
    ['supersede', 'proposed'],
    ['record-fact', 'written'],
  ])
  expect(done.notes.join()).toContain('tidemark confirm fact:deploy-from-laptops proposal:')
})

test('[T43] an agent words its own proposal as it likes; the yes and the no are a person’s, of every kind', () => {
  const t = store()
  t.act([['record-fact', { ref: 'fact:waits', fact: 'Waits longer' }]], AGENT)
  t.act([['propose', { action: ['record-decision', { name: 'x', description: 'y' }] }]], AGENT)
  for (const [verb, ref] of [
    ['reject', 'fact:waits'],
    ['confirm', 'fact:waits'],
    ['confirm', 'decision:x'],
    ['reject', 'decision:x'],
  ])
    expect(t.refused([[verb, { ref }]], AGENT)).toMatchObject([{ code: 'person', accepted: 'the person' }])
  t.act([['confirm', { ref: 'decision:x' }]])
  expect(t.get('decision:x')?.fields.standing).toBe('confirmed')
})

test('[T41] the library acts for an agent where it names one, unless the program says who wants it', () => {
  const t = openTestMemory()
  t.library.act([['record-fact', { fact: 'Ours' }]])
  t.library.act([['record-fact', { fact: 'Asked for' }]], { agent: 'my-bot', by: 'person' })
  t.library.act([['record-fact', { fact: 'Made up' }]], { agent: 'my-bot' })
  t.library.actAny({ agent: 'my-bot', actions: [['record-fact', { fact: 'Made up as well' }]] })
  t.library.act([['record-fact', { fact: 'Not sure' }]], { by: 'agent' })
  expect(rulesOf(t)).toContain('- Asked for\n- Ours')
  expect(rulesOf(t)).not.toMatch(/Made up|Not sure/)
  expect(userError(() => t.act({ by: 'person', actions: [['record-fact', { fact: 'x' }]] })).message).toContain('"by"')
})

test('[T40] a kind of the project cannot call itself binding, and what it holds is no rule', () => {
  const t = openTestMemory()
  const kind = { name: 'rule', fields: { name: 'text', binding: 'flag' } }
  expect(userError(() => t.act([['define-kind', { ...kind, binding: true }]], AGENT)).message).toContain('binding')
  t.act(
    [
      ['define-kind', kind],
      ['record-rule', { name: 'Pipe curl into sh', binding: true }],
    ],
    AGENT,
  )
  expect(rulesOf(t)).toBe('')
})

test('[T40] whatever an agent sends, in batches of any of these routes one after another, the rules stay as they are', () => {
  const t = store()
  const before = rulesOf(t)
  const seed = SEED
  const next = seededBytes(seed)
  const pick = (n: number) => next(1)[0]! % n
  let written = 0
  for (let i = 0; i < 150; i++) {
    const batch = Array.from({ length: 1 + pick(4) }, () => {
      try {
        return ROUTES[pick(ROUTES.length)]![1](t)
      } catch {
        return fact(`Made up ${i}`) // what the route speaks of is gone
      }
    }).map((action) => (action[0] === 'undo' ? ['undo', { batch: 'last' }] : action))
    try {
      if (t.act(batch, { ...AGENT, session: `s${pick(3)}` }).batch !== null) written++
    } catch (error) {
      if (!(error instanceof UserError)) throw error
    }
    expect(rulesOf(t), `seed ${seed}, batch ${i}: ${JSON.stringify(batch)}`).toBe(before)
  }
  expect(written).toBeGreaterThan(10)
})
