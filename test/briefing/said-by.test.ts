import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { besideOf, dayOf, holdsJson, holdsOf, marksOf } from '../../src/find/recall/told.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { openTestMemory, replicaOf, sync } from './helpers.ts'

const told = (t: ReturnType<typeof openTestMemory>, id: string) => {
  const e = t.memory.reader.entity(id)!
  const holds = holdsOf(t.memory, t.dir, [e]).get(id)!
  return { beside: besideOf(e, holds, dayOf(e), String), marks: marksOf(holds), json: holdsJson(holds) }
}
const hashed = (hash: string) =>
  ['record-decision', { name: 'etag-hash', description: `ETags are hashed with ${hash}` }] as const

test('[T12] beside an agent’s own words stands the agent, beside those that a person typed the person', () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'weak-etags' }]], { agent: 'claude-code' })
  t.act([['record-decision', { name: 'strong-etags' }]], { by: 'person', agent: 'cli' })
  t.act([['record-fact', { fact: 'Ask first' }]], { agent: 'claude-code', source: 'prompt' })
  expect(told(t, 'decision:weak-etags').beside).toMatch(/^\(claude for tester, /)
  for (const id of ['decision:strong-etags', 'fact:ask-first']) expect(told(t, id).beside).toMatch(/^\(tester, /)
})

test('[C5] what two wrote at once is told as in conflict, until it is written again', () => {
  const t = openTestMemory()
  const [ana, ben] = [replicaOf(t, 'ana', 5), replicaOf(t, 'ben', 6)]
  ana.act([hashed('sha1')])
  sync(ana, ben)
  ben.act([hashed('xxhash')])
  ana.act([hashed('md5')])
  sync(ben, ana)
  sync(ana, t.memory)
  expect(told(t, 'decision:etag-hash').marks).toContain('in conflict (description): see tidemark conflicts')
  expect(told(t, 'decision:etag-hash').json).toMatchObject({ conflict: expect.any(String) })
  t.act([hashed('blake2b')], { by: 'person' })
  expect(told(t, 'decision:etag-hash').marks).not.toContainEqual(expect.stringContaining('conflict'))
})

test('[W1] what stands after @ in a block of code is no import: its rules are told', () => {
  const t = openTestMemory()
  mkdirSync(join(t.dir, 'docs'))
  writeFileSync(join(t.dir, 'docs/rules.md'), '- Never commit to main\n')
  t.act([['record-fact', { fact: 'Never commit to main', locations: ['docs/rules.md:1'] }]], { by: 'person' })
  const told = () => brief(t.memory, t.project, { session: 's2', client: 'claude' }).text
  writeFileSync(join(t.dir, 'CLAUDE.md'), 'Write:\n\n```\n@docs/rules.md\n```\n<!-- @docs/rules.md -->\n')
  expect(told()).toContain('- Never commit to main')
  writeFileSync(join(t.dir, 'CLAUDE.md'), '@docs/rules.md\n')
  expect(told()).not.toContain('- Never commit to main')
})

test('[W1] a rule of a main file is told before one of a folder of rules, that before one of a page that a rule names', () => {
  const t = openTestMemory()
  const rule = (fact: string, at: string) =>
    t.act([['record-fact', { fact, category: 'constraint', locations: [at] }]], {
      by: 'person',
      source: `import claude-md ${at}`,
    })
  rule('Never start a server', 'CLAUDE.md:9')
  t.clock.now += 1_000
  rule('Use Turbo streams', '.cursor/rules/ui.mdc:3')
  t.clock.now += 1_000
  rule('Name each stream', 'docs/streams.md:3')
  const { text } = brief(t.memory, t.project, { session: 's2', client: 'codex' })
  expect(text).toMatch(/- Never start a server\n- Use Turbo streams\n- Name each stream/)
})

test('[P4] a step of a handoff says that the decision which it names was changed since', () => {
  const t = openTestMemory()
  t.act([hashed('sha1')], { by: 'person' })
  t.act([['write-handoff', { title: 'etags', nextSteps: ['Use sha1 as etag-hash says'] }]], { session: 'morning' })
  const start = () => brief(t.memory, t.project, { session: 'evening' }).text
  expect(start()).not.toContain('was changed after')
  t.clock.now += 60_000
  t.act([hashed('blake2b')], { by: 'person' })
  expect(start()).toContain('Use sha1 as etag-hash says [decision:etag-hash was changed after this was written]')
})
