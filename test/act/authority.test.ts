import { expect, test } from 'vitest'
import type { ActOptions } from '../../src/engine/memory.ts'
import { ACTORS, CHANGES, OWNERS, outcomeOf, STANDINGS } from '../../src/model/authority.ts'
import { replicaOf, sync } from '../briefing/helpers.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const AGENT: ActOptions = { agent: 'claude-code', session: 'work' }
const OTHER: ActOptions = { agent: 'codex', session: 'elsewhere' }

/** A person's decision, one of this agent's and one of another session's, which agree on a text. */
function store(): TestMemory {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'his', description: 'Use Postgres', rationale: 'marigold' }]])
  t.act([['record-decision', { name: 'mine', description: 'Use SQLite', rationale: 'one file' }]], AGENT)
  t.act([['record-decision', { name: 'theirs', description: 'Use Redis', rationale: 'tulip' }]], OTHER)
  return t
}

/** What an agent's action comes to: the proposal that it became, if it did. */
function proposal(t: TestMemory, action: readonly unknown[], by = AGENT): string | undefined {
  const before = JSON.stringify(['his', 'mine', 'theirs'].map((name) => t.get(`decision:${name}`)?.fields))
  const done = t.act([action], by)
  const id = /confirm (\S+?)[` ]/.exec(done.notes.join('\n'))?.[1]
  if (id !== undefined)
    expect(JSON.stringify(['his', 'mine', 'theirs'].map((name) => t.get(`decision:${name}`)?.fields))).toBe(before)
  return id
}

const ERASE = ['purge', { ref: 'decision:theirs', reason: 'in the way' }]

test.each([
  ['purge of another session’s', ERASE],
  ['purge of a person’s', ['purge', { ref: 'decision:his', reason: 'x' }]],
  ['purge by a text of a person’s', ['purge', { secret: 'marigold', reason: 'x' }]],
  ['purge by a text of another session’s', ['purge', { secret: 'tulip', reason: 'x' }]],
  ['other words for a person’s', ['record-decision', { ref: 'decision:his', description: 'Use MySQL' }]],
  ['another reason', ['record-decision', { name: 'his', rationale: 'cheap' }]],
  ['rename', ['rename', { ref: 'decision:his', name: 'ours' }]],
  ['retire', ['retire', { ref: 'decision:his', reason: 'old' }]],
  ['an end of its time', ['record-decision', { ref: 'decision:his', validTo: '2020-01-01' }]],
  ['delete', ['delete-decision', { ref: 'decision:his' }]],
  ['supersede', ['supersede', { old: 'decision:his', new: 'decision:mine' }]],
  ['supersede by a link', ['link-entities', { from: 'decision:mine', to: 'decision:his', type: 'supersedes' }]],
  ['demotion', ['record-decision', { ref: 'decision:his', standing: 'proposed' }]],
])('[Y1] an agent proposes, of what others stand by: %s; a person’s yes does it', (_what, action) => {
  const t = store()
  const id = proposal(t, action)
  expect(id).toMatch(/^(?:proposal|relationship):/)
  const person = store()
  // of a text, what holds it is named: the text is not said again
  person.act([
    String(JSON.stringify(action)).includes('"secret"')
      ? [
          'purge',
          { ref: /purge",\{"reason":"x","ref":"([^"]+)/.exec(String(t.get(id!)!.fields.action))![1], reason: 'x' },
        ]
      : action,
  ])
  t.act([['confirm', { ref: id }]])
  const told = (of: TestMemory) =>
    of.memory.reader.list('decision').map((e) => [e.id, e.fields.description, e.fields.rationale])
  expect(told(t)).toEqual(told(person))
})

test.each([
  ['what it wrote itself', ['record-decision', { ref: 'decision:mine', description: 'Use files' }]],
  ['words of another agent', ['record-decision', { ref: 'decision:theirs', description: 'Use Valkey' }]],
  ['retiring what an agent wrote', ['retire', { ref: 'decision:theirs', reason: 'old' }]],
  ['erasing its own', ['purge', { ref: 'decision:mine', reason: 'x' }]],
  ['erasing a text of its own', ['purge', { secret: 'one file', reason: 'x' }]],
  ['undoing its own', ['undo', { batch: 'last' }]],
  ['adding to a person’s', ['record-decision', { name: 'his', topics: ['storage'], tags: ['db'] }]],
  ['saying more beside a person’s words', ['record-decision', { name: 'his', optionsConsidered: ['MySQL'] }]],
])('[Y1] an agent does at once: %s', (_what, action) => {
  expect(proposal(store(), action)).toBeUndefined()
})

test('[Y1] batches of a person, and of another session, are taken back by a yes alone', () => {
  const t = store()
  const { batch } = t.act([['record-decision', { name: 'typed', description: 'By hand' }]])
  const theirs = t.act([['record-decision', { name: 'other', description: 'By another' }]], OTHER).batch
  for (const action of [
    ['undo', { batch }],
    ['undo', { batch: theirs }],
    ['undo', { allOf: 'elsewhere' }],
  ])
    expect(proposal(t, action)).toMatch(/^proposal:/)
  expect(t.get('decision:typed')?.live).toBe(true)
  const id = proposal(t, ['undo', { batch }])!
  t.act([['confirm', { ref: id }]])
  expect(t.get('decision:typed')?.live).toBe(false)
})

test('[Y1] "last" in a proposed undo is the batch that was last when it was proposed', () => {
  const t = store()
  const { batch } = t.act([['record-decision', { name: 'typed', description: 'By hand' }]], { session: 'work' })
  const id = proposal(t, ['undo', { batch: 'last' }])!
  expect(t.get(id)?.fields.action).toContain(batch)
})

test('[Y1] a proposed erasure does not say the text, and nothing of it is left after the yes', () => {
  const t = store()
  const id = proposal(t, ['purge', { secret: 'marigold', reason: 'private' }])!
  expect(t.get(id)?.fields.action).not.toContain('marigold')
  t.act([['confirm', { ref: id }]])
  for (const text of ['marigold', 'decision:his'])
    expect(t.memory.occurrences(text).filter(({ count }) => count > 0)).toEqual([])
})

test('[Y1] a text that our own detector knows as a secret goes at once, whoever wrote it', () => {
  const t = openTestMemory()
  const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  t.memory.db.write(() => {}) // the store is there
  t.act([['record-decision', { name: 'his', description: 'Use the bot' }]])
  t.act([['record-learning', { title: 'the bot', body: 'its token' }]], OTHER)
  expect(() => t.act([['purge', { secret: token, reason: 'leaked' }]], AGENT)).toThrow('stands nowhere')
  expect(t.act([['purge', { secret: 'its token', reason: 'leaked' }]], AGENT).notes.join()).toContain('proposed')
})

test('[Y1] what another replica wrote and nobody here stands by, agents work on; its erasure waits', () => {
  const t = openTestMemory()
  const theirs = replicaOf(t, 'team')
  theirs.act([['record-decision', { name: 'far', description: 'Use Redis' }]])
  sync(theirs, t.memory)
  expect(proposal(t, ['record-decision', { ref: 'decision:far', description: 'Use Valkey' }])).toBeUndefined()
  expect(proposal(t, ['purge', { ref: 'decision:far', reason: 'x' }])).toMatch(/^proposal:/)
})

test('[Y1] work and what coordinates it stay everybody’s', () => {
  const t = openTestMemory()
  t.act([['start-goal', { originalAsk: 'Ship it' }]], { session: 'desk' })
  const goal = t.memory.reader.list('goal')[0]!
  t.act([['complete', { ref: goal.id }]], AGENT)
  expect(t.get(goal.id)?.fields.state).toBe('complete')
  t.act([['share-set', { key: 'plan', value: 1 }]])
  expect(t.act([['share-set', { key: 'plan', value: 2 }]], AGENT).notes.join()).not.toContain('proposed')
})

test('[Y1] the table: what a person decides is done, what binds never changes by anybody else, and every case has an outcome', () => {
  for (const change of CHANGES)
    for (const who of ACTORS)
      for (const whose of OWNERS)
        for (const standing of STANDINGS) {
          const outcome = outcomeOf(change, who, whose, standing)
          if (change === 'release') expect(outcome).toBe(whose === 'own' ? 'done' : 'refused')
          else if (who === 'person' || who === 'reviewer') expect(outcome).toBe('done')
          else if (standing === 'binding') expect(outcome).toBe('proposed')
        }
})
