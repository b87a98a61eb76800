import fc from 'fast-check'
import { expect, test } from 'vitest'
import { figures, judged } from '../../bench/capture.ts'
import { capturedIn } from '../../src/hooks/capture/patterns.ts'

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

const README = `# Contributing to Frobnicator

Thanks for your interest! Please read this guide before you open a pull request, it saves
everybody time. We use pnpm for installs and always squash before merging, so that the
history of the main branch stays readable for those who come after us.

## Rules

- Always run \`make lint\` before committing
- Never push to main
- Prefer named exports

## Releases

Releases are cut on Tuesdays. Never release on a Friday, and always tag the commit with the
version that stands in package.json, or the pipeline will refuse to publish anything at all.

1. Always update the changelog
2. Never skip the smoke test
3. Tag it

## Layout

The pattern is one package for each feature, and we use turbo for builds of all of them.
`

test.each<[string, string]>([
  ['a document that was pasted', README],
  ['one with a question in front and behind', `What do you think of this?\n\n${README}\n\nIs it too long?`],
  ['a quoted mail', 'Bob wrote:\n\nAlways deploy on Mondays. We use pnpm for installs.\n'],
  ['an answer that is announced', 'The README says:\nAlways run make first\nNever push to main\n'],
  ['a file that is announced', 'Here is the style guide from docs/style.md:\n\n- always use tabs\n- never use var\n'],
  ['@file and what it holds', 'Please follow @docs/rules.md:\nAlways use tabs'],
  [
    'files that Gemini CLI attaches',
    'Look at @a.md\n--- Content from referenced files ---\nContent from @a.md:\nAlways use tabs\n\nNever use var\n--- End of content ---\n',
  ],
  ['the same, cut off', 'Look at @a.md\n--- Content from referenced files ---\nAlways use tabs\n\nNever use var'],
  ['nested elements', '<docs><docs>a</docs>\nAlways use tabs</docs>'],
  ['an element with attributes that is not closed', 'Read it.\n<document path="x">\n\nAlways use tabs\nNever use var'],
  ['a log', '2026-11-21T10:00:00 start\n2026-11-21T10:00:01 ok\nNever use this port twice\n2026-11-21T10:00:02 end'],
  ['lines of a log', 'ERROR: Always close the pool\nWARN Never reuse a handle after close\nFix it.'],
  ['a stack trace', 'TypeError: never call this twice\n    at run (/a/b.js:1:2)\n    at main (/a/c.js:3:4)'],
  ['a diff', 'diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-Always use tabs\n+Never use tabs in this file\n'],
  ['a shell', '$ lint --explain\n| Always use tabs in files |\n'],
  ['indented code', 'Fix this:\n\n    // Always use tabs in this file\n    // never use spaces here\n'],
  ['words in quotation marks', 'What does the line "Always run tests before committing" mean for us here'],
  [
    'the words of somebody else',
    'The README says we always squash before merging, but the history does not look like it.',
  ],
  ['according to', 'According to the docs, never call this from a worker.'],
  ['a code fence that is not closed', '~~~\nAlways use tabs here'],
])('[G7] what was pasted is not what the user said: %s', (_, text) => {
  expect(capturedIn(text)).toEqual([])
})

test.each<[string, string]>([
  ['Rules for this repo:\n- always use pnpm for installs\n- fix the page', 'Always use pnpm for installs'],
  [
    'Here are our conventions for errors in the log:\n- never print secrets to the log',
    'Never print secrets to the log',
  ],
  [`Never push to main.\n\n${README}`, 'Never push to main'],
  [`${README}\n\nThat is too long. We use npm for installs. Mend it.`, 'We use npm for installs'],
  [
    '2026-11-21T10:00:00 a\n2026-11-21T10:00:01 b\n2026-11-21T10:00:02 c\n\nNever log times like that, always use UTC',
    'Never log times like that, always use UTC',
  ],
  ['# Task\nAdd a page.\n\n# Rules\n- Never store tokens in localStorage', 'Never store tokens in localStorage'],
  ['Remember: "always squash before you merge"', 'Always squash before you merge'],
  ['Use "a" here, and never push to "main" without a review', 'Never push to "main" without a review'],
  ['From now on, never call eval() in handlers', 'Never call eval() in handlers'],
  ['Render <Foo> there.\nAlways use Map<string, number> for caches', 'Always use Map<string, number> for caches'],
])('[G7] what the user typed beside it is taken: %j', (text, fact) => {
  expect(capturedIn(text).map((f) => f.action[1].fact)).toEqual([fact])
})

test('[G7] control characters and marks of direction are no part of what was said', () => {
  expect(one('Always\u0000 use \u001b[31mtabs in this repo.\u202e')?.action[1].fact).toBe(
    'Always use tabs in this repo',
  )
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

test.each([
  ['judge-2', 0.9, 0.6],
  ['judge', 0.9, 0.6],
  ['unseen-5-held', 0.9, 0.5],
])(
  '[G7] of prompts that nothing was trained on, what is captured is right, and most rules are noticed: %s',
  (set, precision, recall) => {
    const found = figures(judged(set))
    expect(found.precision).toBeGreaterThanOrEqual(precision)
    expect(found.recall).toBeGreaterThanOrEqual(recall)
    expect(found.noticed).toBeGreaterThanOrEqual(0.75)
    expect(found.asked).toBeLessThanOrEqual(0.15)
  },
)

test.each([
  [
    'every service writes to its own schema',
    'dates are stored in UTC',
    'the domain layer must not import the ui layer',
  ],
  ['if a migration drops a column it needs a review', 'you need to ask before you add a package', 'no magic numbers'],
])('[G7] what is said of each of a kind is captured by its shape: %s', (...rules) => {
  for (const rule of rules) expect(capturedIn(rule), rule).toHaveLength(1)
})

test.each([
  'every job waits for the same lock',
  'dates are stored in the wrong order',
  'each invoice should show the VAT',
  'state lives in redux, move it to the url',
  'translate this: never trust user input',
  'no, that is the old client',
])('[G7] what is at hand, what a product shows and what is to be written is no rule: %s', (text) => {
  expect(capturedIn(text)).toEqual([])
})

test('[G7] what is asked behind a rule is not part of it', () => {
  expect(one('we moved from npm to pnpm, you can delete the old lockfile')?.action[1].fact).toBe(
    'We moved from npm to pnpm',
  )
})

test.each([
  ['When fixing a bug, always write a failing test first', 'workflow'],
  ['fix the login. always use zod', 'constraint'],
  ['can you add paging? always sort by id', 'constraint'],
  ['we switched from npm to pnpm', 'tool'],
  ['we use the repository pattern', 'pattern'],
  ["please don't use lodash", 'constraint'],
  ["don't ever force-push", 'constraint'],
  ['Behebe den Fehler. Nutze immer zod.', 'constraint'],
  ['Arregla el login. Siempre valida la entrada.', 'constraint'],
  ["Corrige le login. N'utilise jamais any.", 'constraint'],
  ['修复登录问题。永远不要直接推送到 main', 'constraint'],
])('[G7] a rule said in passing is captured without the request around it: %s', (text, category) => {
  const found = one(text)
  expect(found?.category).toBe(category)
  expect(found?.action[1].fact).not.toMatch(/login|paging|Fehler|修复/)
})

test.each(['Never mind, leave it', 'Never seen this error before', 'Always the same error'])(
  '[G7] "%s" is no rule',
  (text) => {
    expect(capturedIn(text)).toEqual([])
  },
)
