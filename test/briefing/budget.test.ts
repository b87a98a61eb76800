// @module-tag property
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimateTokens } from '../../src/find/recall/token-estimate.ts'
import { brief, wasBriefed } from '../../src/session/briefing/brief.ts'
import { BRIEFING_CHARS, fill } from '../../src/session/briefing/budget.ts'
import type { Item, Section } from '../../src/session/briefing/types.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { runs, SEED } from '../runs.ts'
import { countTokens } from '../tokens.ts'
import { openTestMemory, parts } from './helpers.ts'

const numRuns = runs(25, 100)
const seed = SEED
console.log(`seed ${seed}`)

const words = fc
  .array(fc.constantFrom('never', 'token', 'src/auth.ts', '`npm ci`', '运行测试', 'не', '😀', 'a\nb', '—', '"x"', '\u202e'), { minLength: 1, maxLength: 60 })
  .map((w) => w.join(' ')) // biome-ignore format: one thought

const known = fc.record({
  facts: fc.array(words, { maxLength: 30 }),
  decisions: fc.array(words, { maxLength: 30 }),
  failures: fc.array(words, { maxLength: 10 }),
  handoff: fc.array(words, { maxLength: 60 }),
  sessions: fc.nat(5),
})

test('[M7] a briefing never exceeds its tokens, nor 9,000 characters; equal input gives equal bytes', () => {
  fc.assert(
    fc.property(known, fc.constantFrom(40, 150, 500, 2_000, 20_000), (k, budget) => {
      const t = openTestMemory()
      const act = (actions: unknown[]) => {
        for (let i = 0; i < actions.length; i += 40) t.act(actions.slice(i, i + 40))
      }
      act(k.facts.map((fact, i) => ['record-fact', { fact: `${i} ${fact}` }]))
      act(k.decisions.map((description, i) => ['record-decision', { name: `d${i}`, description }]))
      act(
        k.failures.map((approach, i) => [
          'record-failed-approach',
          { approach: `${i} ${approach}`, outcome: approach },
        ]),
      )
      if (k.handoff.length > 0) t.act([['write-handoff', { nextSteps: k.handoff }]], { session: 'before' })
      for (let i = 0; i < k.sessions; i++) sessionsOf(t.memory).start({ id: `s${i}`, client: 'codex' })
      const options = { budget, session: 'me' }
      const told = brief(t.memory, t.project, options)
      expect(countTokens(told.text)).toBeLessThanOrEqual(budget)
      expect(told.tokens).toBeLessThanOrEqual(budget)
      expect(told.tokens).toBe(estimateTokens(told.text))
      expect(told.text.length).toBeLessThanOrEqual(BRIEFING_CHARS)
      expect(brief(t.memory, t.project, options)).toEqual(told)
      const { begins, ends } = parts(told.text)
      expect(begins).toBe(ends)
      // seconds later nothing in it is different
      t.clock.now += 20_000
      expect(brief(t.memory, t.project, options).text).toBe(told.text)
      t.close()
    }),
    { numRuns: Math.min(numRuns, 2_000), seed },
  )
})

const section = (name: string, share: number, binding?: true): Section => ({
  name,
  title: name,
  share,
  ...(binding ? { binding } : {}),
  build: () => undefined,
})
const items = (n: number, length: number): Item[] => Array.from({ length: n }, (_, i) => ({ id: `${i}`, text: `- ${`${i} word `.repeat(length)}` })) // biome-ignore format: one thought
const told = (sections: [Section, Item[]][], tokens: number) =>
  fill(
    sections.map(([s, i]) => ({ section: s, built: { items: i, see: 'elsewhere' } })),
    { tokens, chars: 9_000, count: countTokens },
  )

test('[M7] each section has its share, and what one leaves goes to the others, the first before the last', () => {
  const alone = told([[section('a', 30), items(50, 5)]], 1_000)
  expect(countTokens(alone.text)).toBeGreaterThan(850)
  const both = told(
    [
      [section('a', 30), items(50, 5)],
      [section('b', 30), items(50, 5)],
    ],
    1_000,
  )
  const [a, b] = both.sections
  expect(a!.shown.length).toBeGreaterThan(b!.shown.length) // the rest goes to the first
  expect(b!.tokens).toBeGreaterThan(200)
  const little = told(
    [
      [section('a', 30), items(1, 5)],
      [section('b', 30), items(50, 5)],
    ],
    1_000,
  )
  expect(little.sections[1]!.tokens).toBeGreaterThan(700)
})

test('[M7] a long item does not shut out a short one; what is left out is counted, with how to see it', () => {
  const long: Item = { id: 'long', text: `- ${'word '.repeat(2_000)}` }
  const { text, sections } = told([[section('a', 30), [long, ...items(2, 2)]]], 300)
  expect(sections[0]!.shown.map((i) => i.id)).toEqual(['0', '1'])
  expect(text).toContain('(1 left out: elsewhere)')
  const short: Item = { id: 'long', text: long.text, short: '- in short' }
  expect(told([[section('a', 30), [short]]], 300).text).toContain('- in short')
})

test('[M7] the most important comes first: rules, then where the work was left', () => {
  const t = openTestMemory()
  t.act(Array.from({ length: 50 }, (_, i) => ['record-decision', { name: `d${i}`, description: 'word '.repeat(40), impact: 9 }])) // biome-ignore format: one thought
  t.act([['record-fact', { fact: 'Run the tests' }]])
  t.act([['write-handoff', { nextSteps: ['fix the JWKS cache'] }]], { session: 'before' })
  const { text, sections } = brief(t.memory, t.project, { budget: 400 })
  expect(sections.map((s) => s.name)).toEqual(['rules', 'handoff', 'decisions'])
  expect(text.slice(0, 2_000)).toContain('Run the tests')
  expect(text.slice(0, 2_000)).toContain('fix the JWKS cache')
  expect(text).toMatch(/\d+ left out: discover \(get-decisions\)/)
})

test('[M7] what was told is kept: which entities, how many tokens', () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Run the tests' }]])
  sessionsOf(t.memory).start({ id: 'me' })
  const b = brief(t.memory, t.project, { session: 'me' })
  wasBriefed(t.memory, { session: 'me' }, b, 'session-start', t.memory.cursor)
  expect(sessionsOf(t.memory).toldOf('me')).toMatchObject([
    { door: 'session-start', ids: ['fact:run-the-tests'], tokens: b.tokens, chars: b.chars },
  ])
  expect(b.line).toBe(`1 rule, about ${Math.round(b.tokens / 1.5)} tokens`) // b.tokens is an estimate
})

test('[M7] a project of which nothing is known tells in two lines what it is for', () => {
  const t = openTestMemory()
  const { text, sections, tokens } = brief(t.memory, t.project)
  expect(text.split('\n')).toHaveLength(2)
  expect(sections).toEqual([])
  expect(tokens).toBe(estimateTokens(text))
})

test('a briefing into whose budget nothing fits does not say that nothing is recorded', () => {
  const t = openTestMemory()
  expect(brief(t.memory, t.project, { budget: 10 })).toMatchObject({
    text: '',
    line: expect.stringMatching(/^nothing recorded yet/),
  })
  t.act([['record-decision', { name: 'sign with RS256', rationale: 'keys can be rotated' }]])
  expect(brief(t.memory, t.project, { budget: 10 }).line).toBe('nothing fits into 10 tokens: give it a larger budget')
})
