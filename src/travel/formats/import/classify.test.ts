import { expect, test } from 'vitest'
import { type Category, classifyRule, plainLine } from './classify.ts'
import { meaningOf } from './headings.ts'

const category = (line: string) => classifyRule(line)?.category

const SENTENCES: readonly [line: string, category: Category | undefined][] = [
  // the five of the rule
  ['Always run tests before committing', 'workflow'],
  ['never use sync I/O in handlers', 'constraint'],
  ['we use pnpm for installs', 'tool'],
  ['prefer named exports', 'convention'],
  ['the pattern is one repository per aggregate', 'pattern'],
  // steps
  ['When a migration changes, always regenerate the client', 'workflow'],
  ['Before opening a pull request, run the linter', 'workflow'],
  ['Run `make check` after every change', 'workflow'],
  ['After editing a schema, run the generator.', 'workflow'],
  ['- [ ] **Always** rebase before you merge', 'workflow'],
  // ways of writing
  ['Always use named exports', 'constraint'],
  ['Use 2 spaces for indentation', 'convention'],
  ['Use tabs', 'convention'],
  ['use snake_case for columns', 'convention'],
  ['Use descriptive variable names', 'convention'],
  ['Prefer `async`/`await` over callbacks', 'convention'],
  ['Favor composition over inheritance', 'convention'],
  // what must not be
  ["Don't commit to main", 'constraint'],
  ['Do not log personal data', 'constraint'],
  ['Tests must not touch the network', 'constraint'],
  ['Every handler must return a Result', 'constraint'],
  ['Avoid default exports', 'constraint'],
  ['If you are unsure, never guess', 'constraint'],
  ['never use the singleton pattern', 'constraint'],
  ['Source channels are **never modified**', 'constraint'],
  ['Outputs go under outputs/ — never write into .cache', 'constraint'],
  ['An open-source license is required', 'constraint'],
  ['Keep functions short', 'convention'],
  ['Make sure the build passes before you push', 'workflow'],
  // things to use
  ['Use `zod` for validation at the edge', 'tool'],
  ['We use Vitest', 'tool'],
  ['use Redis as the queue', 'tool'],
  ['Use pnpm, not npm', 'tool'],
  ['This project uses Docker Compose for local services', 'tool'],
  ['From now on never call os.Exit in a library', 'constraint'],
  ['From now on, use pnpm', 'tool'],
  ['Use pnpm from now on', 'tool'],
  ['going forward prefer named exports', 'convention'],
  ['Use UUIDs instead of integer ids', 'convention'],
  // ways of building
  ['Use the repository pattern for data access', 'pattern'],
  ['Our pattern is: parse at the edge, trust inside', 'pattern'],
  // no rules
  ['This is the web front end of the shop.', undefined],
  ['Is it always so?', undefined],
  ['The old importer never worked well', undefined],
  ['It is always on', undefined],
  ["esbuild can't spawn in some sandboxes", undefined],
  ['Confirm that the manifest has all required fields: name, version', undefined],
  ['Write the signal into the state and append a message', undefined],
  ['Run the server from source', undefined],
  ['# Never', undefined],
  ['', undefined],
  ['@docs/style.md', undefined],
  [`Use ${'very '.repeat(100)}long sentences`, undefined],
]

test.each(SENTENCES)('[G7] %s → %s', (line, expected) => {
  expect(category(line)).toBe(expected)
})

test('[G7] the fact is the line without the marks of the page', () => {
  expect(classifyRule('  * [x] **Never** push to `main`.')).toEqual({
    category: 'constraint',
    fact: 'Never push to `main`',
  })
  expect(plainLine('1. use *strict* mode')).toBe('use strict mode')
  expect(plainLine('__Never push__ to **main**, ***ever***')).toBe('Never push to main, ever')
  expect(plainLine('__Never__ push __init__.py')).toBe('Never push __init__.py')
  expect(plainLine('**Never edit src/**')).toBe('Never edit src/')
  expect(plainLine('__Use snake_case here__')).toBe('Use snake_case here')
})

test('[G7] what only looks like emphasis stays', () => {
  for (const line of [
    'Never put code in __init__.py or __main__.py',
    'No tests in src/**/gen/** or lib/**/*.ts',
    'Use *args, not *',
    'Use **kwargs and **opts',
    'Format *.ts and *.js',
    'Run it at */15 * * * *',
  ])
    expect(plainLine(line)).toBe(line)
})

test('[G7] a heading promises a category for the short items below it', () => {
  expect(meaningOf('Code Style').promise).toBe('convention')
  expect(meaningOf('Commands').promise).toBe('description')
  expect(meaningOf('Git workflow').promise).toBe('workflow')
  expect(meaningOf("Don'ts").promise).toBe('constraint')
  expect(meaningOf('Design patterns').promise).toBe('pattern')
  expect(meaningOf('Introduction').promise).toBe('description')
  expect(meaningOf('Tea').promise).toBeUndefined()
})
