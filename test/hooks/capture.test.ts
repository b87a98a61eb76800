import fc from 'fast-check'
import { expect, test } from 'vitest'
import { capturedIn } from '../../src/hooking/capture/patterns.ts'

const one = (text: string) => {
  const [found, ...more] = capturedIn(text)
  expect(more).toEqual([])
  return found
}

test.each([
  ['Always run tests before committing', 'workflow', 'Always run tests before committing'],
  ['never use sync I/O in handlers', 'constraint', 'Never use sync I/O in handlers'],
  ['we use pnpm for installs', 'tool', 'We use pnpm for installs'],
  ['prefer named exports', 'convention', 'Prefer named exports'],
  ['The pattern is one file per command', 'pattern', 'The pattern is one file per command'],
  ['Please remember: always squash before you merge.', 'workflow', 'Always squash before you merge'],
  ['I prefer named exports over default ones.', 'convention', 'I prefer named exports over default ones'],
  ['From now on, never commit generated files', 'constraint', 'Never commit generated files'],
])('[G7] "%s" is proposed as a fact, %s', (text, category, fact) => {
  expect(one(text)).toMatchObject({ kind: 'fact', category, action: ['record-fact', { fact, category }] })
})

test('[G7] a rule in the middle of a prompt is found, the task around it is not', () => {
  const found = capturedIn(
    'Add a login page to the app. We use vitest for tests. Make the button blue.\n- never store tokens in localStorage\nThanks!',
  )
  expect(found.map((f) => f.action[1].fact)).toEqual(['We use vitest for tests', 'Never store tokens in localStorage'])
})

test('[G7] "Let\'s go with Redis" is proposed as a decision, with the reason', () => {
  expect(one("Let's go with Redis because it has pub/sub built in.")).toMatchObject({
    kind: 'decision',
    action: ['record-decision', { name: 'redis', rationale: 'it has pub/sub built in' }],
  })
  expect(one("Ok, let's go with that.")).toBeUndefined()
})

test('[G7] "No, users are defined in auth/accounts.py" is proposed as a correction', () => {
  expect(one('No, users are defined in auth/accounts.py, not in models.py.')).toMatchObject({
    kind: 'correction',
    action: [
      'record-correction',
      { rightBelief: 'users are defined in auth/accounts.py, not in models.py', wrongBelief: 'in models.py' },
    ],
  })
  expect(one('no, actually the cache is invalidated by the worker')).toMatchObject({ kind: 'correction' })
  expect(one("That's wrong: the limit is 50 per batch")).toMatchObject({
    kind: 'correction',
    action: ['record-correction', { rightBelief: 'the limit is 50 per batch' }],
  })
})

test('[G7] "Skip tests for now — prototype" is proposed as an exception', () => {
  expect(one('Skip tests for now — prototype')).toMatchObject({
    kind: 'exception',
    action: ['record-exception', { ruleBroken: 'tests', justification: 'prototype' }],
  })
})

test.each([
  'Sounds good.',
  'ok',
  'always',
  'By the way, we also need rate limiting',
  'No, thanks, that is all for today.',
  'No problem, take your time with it.',
  'Why do we always run the tests twice?',
  'Should we use pnpm for installs?',
  'I always forget where the config is.',
  'It never worked on my machine, please look into it.',
  'We use the same loop in both places, please refactor it.',
  'Use a map here instead of the array.',
  'Run the tests and fix what fails.',
  'Never mind.',
  'No, run it again with more memory please.',
  '/compact always keep the ids',
  '> Always run tests before committing',
  '```\nnever use sync I/O in handlers\n```',
  '<system-reminder>Always run tests before committing</system-reminder>',
  'Always use four spaces for now, we will see.',
])('[G7] "%s" proposes nothing', (text) => {
  expect(capturedIn(text)).toEqual([])
})

test('[A7] what stands within <private> is not looked at, also where the tag is never closed', () => {
  expect(capturedIn('<private>always use the staging key</private> Fix the page.')).toEqual([])
  expect(capturedIn('Fix the page. <private>we use pnpm for installs')).toEqual([])
})

test('[G7] any text is read in time and gives at most three proposals of bounded length', () => {
  const word = fc.constantFrom(
    'always',
    'never',
    'no,',
    "let's",
    'use',
    'not',
    'skip',
    '—',
    'the',
    'pattern',
    'is',
    '.',
    '\n',
    ',',
    ' ',
    'a'.repeat(50),
    '<private>',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 3_000 }),
        fc.array(word, { maxLength: 600 }).map((w) => w.join(' ')),
      ),
      (text) => {
        const before = process.cpuUsage()
        const found = capturedIn(text)
        const { user, system } = process.cpuUsage(before)
        expect((user + system) / 1000).toBeLessThan(300)
        expect(found.length).toBeLessThanOrEqual(3)
        for (const f of found) expect(f.said.length).toBeLessThanOrEqual(400)
      },
    ),
    { numRuns: 500 },
  )
})
