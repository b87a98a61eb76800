import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { calledAs } from '../../src/engine/read/called.ts'
import { knownOn } from '../../src/find/code/known.ts'
import { isRead, ruleLine } from '../../src/session/briefing/sections/rules.ts'
import { printReport } from '../../src/travel/formats/import/report.ts'
import { rulesIn } from '../../src/travel/formats/import/statements.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay, take, unplaced } from './helpers.ts'

const facts = (t: TestMemory) =>
  t.memory.reader
    .list('fact')
    .map(({ fields: f }) => [f.fact, f.category, f.locations, f.topics])
    .sort((a, b) => (String((a[2] as string[])[0]) < String((b[2] as string[])[0]) ? -1 : 1))

const PAGE = `---
name: guide
---
# Shop

The shop sells tea.

## Testing

- Always run tests before committing. They take
  a minute.
- **never** use sync I/O in handlers

## Code style

Prefer named exports. The pattern is one repository per aggregate.

- we use pnpm for installs
- Four spaces

\`\`\`sh
never run this
\`\`\`

<!-- always ignore
this -->

<!-- tidemark: begin -->
- Never import what Tidemark wrote itself
<!-- tidemark: end -->
`

test('[G7] rules become facts with category, line and topics; the rest of the page is searchable', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': PAGE })
  const report = await take(t, 'claude-md', 'CLAUDE.md')
  expect(facts(t)).toEqual([
    ['Always run tests before committing', 'workflow', ['CLAUDE.md:10'], ['testing']],
    ['never use sync I/O in handlers', 'constraint', ['CLAUDE.md:12'], ['testing']],
    expect.arrayContaining([['CLAUDE.md:16']]),
    expect.arrayContaining([['CLAUDE.md:16']]),
    ['we use pnpm for installs', 'tool', ['CLAUDE.md:18'], ['code style']],
    ['Four spaces', 'convention', ['CLAUDE.md:19'], ['code style']],
  ])
  expect(t.get('fact:always-run-tests-before-committing')?.fields.context).toBe('They take a minute.')
  expect(t.get('fact:prefer-named-exports')?.fields.category).toBe('convention')
  expect(t.get('fact:the-pattern-is-one-repository-per-aggregate')?.fields.category).toBe('pattern')
  expect(t.memory.reader.list('chunk').map((e) => e.fields.content)).toEqual([
    'Prefer named exports. The pattern is one repository per aggregate.\n\n- we use pnpm for installs\n- Four spaces\n\n```sh\nnever run this\n```',
    'The shop sells tea.',
  ])
  expect(unplaced(report)).toEqual([])
  expect(printReport(report)).toContain('read: 6 rules, 2 chunks')
})

test('a second run writes nothing; lines that moved are followed; a rule that left is retired, one that returns restored', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'AGENTS.md': '# A\n- Never log secrets\n- We use pnpm\n' })
  await take(t, 'claude-md', 'AGENTS.md')
  const before = t.memory.cursor
  expect(await take(t, 'claude-md', 'AGENTS.md')).toMatchObject({ created: 0, updated: 0, unchanged: 2, batches: [] })
  expect(t.memory.cursor).toBe(before)

  lay(t.dir, { 'AGENTS.md': '# A\n\n\n- Never log secrets\n- We use npm\n' })
  const changed = await take(t, 'claude-md', 'AGENTS.md')
  expect(changed.gone).toEqual([
    { where: 'fact:we-use-pnpm', what: 'We use pnpm', why: 'no longer in AGENTS.md: retired' },
  ])
  expect(t.get('fact:never-log-secrets')?.fields.locations).toEqual(['AGENTS.md:4'])
  expect(
    t.memory.reader
      .list('fact')
      .map((e) => e.name)
      .sort(),
  ).toEqual(['Never log secrets', 'We use npm'])
  expect((await take(t, 'claude-md', 'AGENTS.md')).batches).toEqual([])

  lay(t.dir, { 'AGENTS.md': '# A\n- Never log secrets\n- We use pnpm\n' })
  await take(t, 'claude-md', 'AGENTS.md')
  expect(
    t.memory.reader
      .list('fact')
      .map((e) => e.name)
      .sort(),
  ).toEqual(['Never log secrets', 'We use pnpm'])
})

test('a rule that stands in two files stays when one of them drops it', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': '- Never push to main\n', 'AGENTS.md': '- never push to main.\n' })
  await take(t, 'claude-md', 'CLAUDE.md')
  await take(t, 'claude-md', 'AGENTS.md')
  expect(facts(t)).toEqual([['Never push to main', 'constraint', ['CLAUDE.md:1', 'AGENTS.md:1'], undefined]])
  const settled = t.memory.cursor
  await take(t, 'claude-md', 'CLAUDE.md')
  await take(t, 'claude-md', 'AGENTS.md')
  expect(t.memory.cursor).toBe(settled)
  lay(t.dir, { 'CLAUDE.md': 'Nothing here.\n' })
  await take(t, 'claude-md', 'CLAUDE.md')
  expect(facts(t)).toEqual([['Never push to main', 'constraint', ['AGENTS.md:1'], undefined]])
})

test('the same rule twice in a file is one fact with both places', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': '- Never push to main\n- Use tabs\n- never push to main.\n' })
  await take(t, 'claude-md', 'CLAUDE.md')
  expect(t.get('fact:never-push-to-main')?.fields.locations).toEqual(['CLAUDE.md:1', 'CLAUDE.md:3'])
  expect((await take(t, 'claude-md', 'CLAUDE.md')).batches).toEqual([])
})

test('a rule that a file says a hundred thousand times is one fact with its first places', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': '- Never push to main\n'.repeat(100_000) })
  await take(t, 'claude-md', 'CLAUDE.md')
  expect(t.get('fact:never-push-to-main')?.fields.locations).toHaveLength(50)
})

test('@imports are followed one level, inside the project only', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md':
      'See @docs/rules.md, @../outside.md, @~/private.md, @none.md and `@code.md`. Types are in @types/node.\n@link.md\n@docs/rules.md\n',
    'docs/rules.md': '- Never sleep in tests\n@deeper.md\n',
    'docs/deeper.md': '- Never read me\n',
    '../outside.md': '- Never read this\n',
  })
  symlinkSync(join(t.dir, '../outside.md'), join(t.dir, 'link.md'))
  const report = await take(t, 'claude-md', 'CLAUDE.md')
  expect(facts(t)).toEqual([['Never sleep in tests', 'constraint', ['docs/rules.md:1'], undefined]])
  expect(unplaced(report)).toEqual([
    'CLAUDE.md:1 @../outside.md — outside the project',
    'CLAUDE.md:1 @~/private.md — outside the project',
    'CLAUDE.md:1 @none.md — there is no such file',
    'CLAUDE.md:2 @link.md — a link, which is not followed',
    'docs/rules.md:2 @deeper.md — an import within an import is not followed',
  ])
})

test('[A7] secrets and private regions of many lines are out before the page is cut into lines', async () => {
  const t = openTestMemory()
  const key = [
    '-----BEGIN RSA PRIVATE KEY-----',
    'MIIEowIBAAKCAQEA7bq',
    'use secretline for everything',
    '-----END RSA PRIVATE KEY-----',
  ]
  lay(t.dir, {
    'CLAUDE.md': `- Use the token ghp_${'a'.repeat(30)}\n\n${key.join('\n')}\n\n<private>\n- Always call Bob first\n</private>\n- Never panic\n`,
  })
  const report = await take(t, 'claude-md', 'CLAUDE.md')
  for (const text of ['secretline', 'Bob', 'a'.repeat(30)])
    expect(t.memory.occurrences(text).filter((o) => o.count > 0)).toEqual([])
  expect(t.get('fact:never-panic')?.fields.locations).toEqual(['CLAUDE.md:11'])
  expect(report.redacted).toEqual([
    { where: 'CLAUDE.md:1', category: 'GitHub token' },
    { where: 'CLAUDE.md:3', category: 'private key' },
  ])
})

test('[A7] [T50] a private key goes whole where another secret overlaps its beginning', async () => {
  const t = openTestMemory()
  const body = ['MIIEowIBAAKCAQEA7bqXYZ', 'QWERTYuiopASDFGHjkl123', 'zxcvBNMqwe456RTYuio789']
  const pem = `-----BEGIN RSA PRIVATE KEY-----\n${body.join('\n')}\n-----END RSA PRIVATE KEY-----`
  lay(t.dir, { 'CLAUDE.md': `- Always set private_key=${pem} for the deploy\n- Never panic\n` })
  const report = await take(t, 'claude-md', 'CLAUDE.md')
  for (const line of body) expect(t.memory.occurrences(line).filter((o) => o.count > 0)).toEqual([])
  expect(report.redacted).toHaveLength(1)
  expect(t.get('fact:never-panic')?.fields.locations).toEqual(['CLAUDE.md:6'])
})

test('a file of prose alone gives no rules: it is a document', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': `# T\n\n${'A story.\n\n'.repeat(30)}` })
  const report = await take(t, 'claude-md', 'CLAUDE.md')
  expect(report).toMatchObject({ read: { rules: 0, chunks: 1 } })
  expect(t.memory.reader.list('fact')).toEqual([])
})

/** The rules of one page, as they would be told. */
async function rulesOf(page: string, path = 'CLAUDE.md') {
  const t = openTestMemory()
  lay(t.dir, { [path]: page })
  await take(t, 'claude-md', path)
  return facts(t).map(([fact]) => fact)
}

test('a rule keeps its subject: the words before it, what leads to its list, a heading that forbids', async () => {
  expect(
    await rulesOf('- A field is for ever. Never rename or retype one that was released. Clients keep it.\n'),
  ).toEqual(['A field is for ever. Never rename or retype one that was released'])
  expect(await rulesOf('Adding a field is safe. Never rename one that was released.\n')).toEqual([
    'Adding a field is safe. Never rename one that was released',
  ])
  expect(await rulesOf('## Release\n\nBefore you release:\n\n- the changelog names it\n- bump the version\n')).toEqual([
    'Before you release: the changelog names it',
    'Before you release: bump the version',
  ])
  expect(await rulesOf("## Don'ts\n\n- Secrets in the log\n- Never push to main\n")).toEqual([
    "Don'ts: Secrets in the log",
    'Never push to main',
  ])
  expect(await rulesOf('**Never:**\n- commit secrets\n')).toEqual(['Never: commit secrets'])
})

test('reasons, parts and consequences below a rule are no rules; a quotation and an example are whole', async () => {
  const page = `# Security

## Don't store addresses in shared state

Never persist addresses outside.

Addresses stored outside:
- Leak topology to anyone who can read the store
- Couple the routing to state that changes

Storing decisions:
- Creates state that must be recovered after restarts

> Files are examples. Never treat a pointer as
> license to copy.

- Don't keep a reverse list (e.g. \`Status.Refs\`) in the status

## Anti-patterns

### Caches without a need

- Adding caches without evidence of a problem
`
  expect((await rulesOf(page)).sort()).toEqual([
    "Don't keep a reverse list (e.g. `Status.Refs`) in the status",
    'Never persist addresses outside',
    'Never treat a pointer as license to copy',
  ])
})

test('two lines are two rules, and one statement of two sentences is one', async () => {
  expect(await rulesOf('Never push to main\nUse tabs, not spaces\nAvoid default exports\n', '.cursorrules')).toEqual([
    'Never push to main',
    'Use tabs, not spaces',
    'Avoid default exports',
  ])
  expect(await rulesOf('- Prefer immutable state. Do not use `ref` as a workaround.\n')).toEqual([
    'Prefer immutable state. Do not use `ref` as a workaround',
  ])
})

test('commands, tables, paragraphs on how it is built and steps of a procedure are no rules, and can be found', async () => {
  const page = `# Shop

## Commands

- \`pnpm build\` - Build the library
- \`pnpm test\`: Run all tests

| Command | Use |
|---|---|
| \`always\` | never |

## Architecture

The gateway uses Redis for sessions. Requests pass the gate first.

- **Server**: F# with ASP.NET

## Adding a route

1. Create a file in routes
2. Run the generator
`
  expect(await rulesOf(page)).toEqual([])
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': page })
  await take(t, 'claude-md', 'CLAUDE.md')
  expect(
    t.memory.reader
      .list('chunk')
      .map((e) => e.fields.section)
      .sort(),
  ).toEqual(['Shop › Adding a route', 'Shop › Architecture', 'Shop › Commands'])
})

test('rules for some files keep their globs: of Cursor, of Copilot, of a package', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.cursor/rules/ui.mdc':
      '---\ndescription: UI\nglobs: web/**/*.{ts,tsx}, *.css\nalwaysApply: false\n---\n- Never use inline styles\n',
    '.cursor/rules/all.mdc': '---\nglobs: web/**\nalwaysApply: true\n---\n- Never push to main\n',
    '.github/instructions/specs.instructions.md': '---\napplyTo: "docs/spec/**"\n---\n- Do not record history\n',
    'packages/cart/CLAUDE.md': '- Never round twice\n',
    'GEMINI.md': '- Never guess\n',
  })
  for (const path of ['.cursor/rules', '.github/instructions', 'packages/cart/CLAUDE.md', 'GEMINI.md'])
    await take(t, 'claude-md', path)
  expect(Object.fromEntries(t.memory.reader.list('fact').map((e) => [e.name, e.fields.paths]))).toEqual({
    'Never use inline styles': ['web/**/*.{ts,tsx}', '**/*.css'],
    'Never push to main': undefined,
    'Do not record history': ['docs/spec/**'],
    'Never round twice': ['packages/cart/**'],
    'Never guess': undefined,
  })
  expect(knownOn(t, 'packages/cart/src/sum.ts').map((e) => e.name)).toEqual(['Never round twice'])
  expect(knownOn(t, 'web/shop/page.tsx').map((e) => e.name)).toEqual(['Never use inline styles'])
})

test('a name in code is kept as it is written', async () => {
  expect(await rulesOf('- Keep `__version__` in `shop/__init__.py` and `**kwargs` **in step**\n')).toEqual([
    'Keep `__version__` in `shop/__init__.py` and `**kwargs` in step',
  ])
})

test('the title of a page and what leads to examples make no rules of what stands below', async () => {
  const page = `# Till guidelines

## Order of work

1. Drawer and receipts
2. Card reader (two makers)

## Scope

Every discount of the old till should work. This includes items such as:

- coupons
- staff prices

The hard part is the day's end: when two tills close at once, the server must split the sums while:

- Keeping the drawers apart

## Not yet implemented

- Refunds (only vouchers exist)
`
  expect(await rulesOf(page)).toEqual([])
  expect(await rulesOf('# Code style\n\n- Four spaces\n')).toEqual(['Four spaces'])
})

test('what comes before the sentence that leads to a list is a rule of its own', async () => {
  expect(
    await rulesOf('Prices are never rounded twice. A receipt must show:\n\n- the tax number\n- the till\n'),
  ).toEqual(['Prices are never rounded twice', 'A receipt must show: the tax number', 'A receipt must show: the till'])
})

test('a condition leads to its list as a heading, after a comma and indented below a heading', async () => {
  expect(await rulesOf('## When a drawer is added\n\n- Register it in `tills.json`\n- Two keys\n')).toEqual([
    'When a drawer is added: Register it in `tills.json`',
    'When a drawer is added: Two keys',
  ])
  expect(
    await rulesOf('Whenever a tax changes, like the one on tea, make sure to add:\n- a test of the sum\n'),
  ).toEqual(['Whenever a tax changes, like the one on tea, make sure to add: a test of the sum'])
  expect(await rulesOf('### Plans\n\tWhen the change is large:\n\t\t- Always write a plan\n')).toEqual([
    'When the change is large: Always write a plan',
  ])
})

test('a label that forbids is part of the rule, and conventions on git are rules', async () => {
  expect(
    await rulesOf(
      '## Git conventions\n\n- **NEVER commit**: receipts, `.key` files\n- **Branches**: `main`, `fix/<name>`\n',
    ),
  ).toEqual(['NEVER commit: receipts, `.key` files', 'Branches: `main`, `fix/<name>`'])
})

test('a command with its name is a note', async () => {
  const page = `## Development conventions

### Tests

- **Unit tests:** \`till test --unit\`
- Start the reader: \`docker compose up reader -d\` -- in the background
- All: \`till test --all\` -- NEVER CANCEL
- **Commits**: \`feat: say what changed\`
`
  expect(await rulesOf(page)).toEqual(['All: `till test --all` -- NEVER CANCEL', 'Commits: `feat: say what changed`'])
})

test('a line that begins with emphasis goes on the sentence above it', async () => {
  const page = `Two tills on one drawer are **unsupported** for *sums*. The lock on the drawer keeps
**safety** — the last coin is never counted twice even where two of the tills count at once —
but sums may be late by a minute, and the bank is asked about them again after the evening ends.
`
  expect(await rulesOf(page)).not.toContainEqual(expect.stringMatching(/^safety/))
})

test('headings of other languages promise rules', async () => {
  expect(await rulesOf('## 3. 强制约束（MUST）\n\n1. 新的价格逻辑放在 `till/` 里\n')).toEqual([
    '新的价格逻辑放在 `till/` 里',
  ])
  expect(await rulesOf('## 提交规范\n\nPR 描述至少包含：\n\n1. 改动范围（文件列表）\n')).toEqual([])
  expect(await rulesOf('## Regeln\n\n- Preise in ganzen Cent\n')).toEqual(['Preise in ganzen Cent'])
})

test('invariants and principles are rules; a label within a list names what is below it alone', async () => {
  expect(await rulesOf('## Architecture invariants\n\n- `till` depends on no screen\n')).toEqual([
    '`till` depends on no screen',
  ])
  const page = `## Principles

- Three layers:
  - \`till\` counts
- One currency a till
`
  expect(await rulesOf(page)).toEqual(['One currency a till'])
})

test('what only points elsewhere, and what a title says is done once, is no rule', async () => {
  const page = `# Adding a till

## Wiring

- Register the till as a drawer
- Name it
- Plug it in
- Never share its key

## Checks

Before closing, verify each item below.

- Refer to section 7 of the plan for more details
- Count the coins: See "Counting"
`
  expect(await rulesOf(page)).toEqual(['Never share its key'])
})

test('what a heading forbids never reads as an order, whatever words an item has', async () => {
  const page = `# Shop

## Do NOT

- Leave notes that are not about the till
- Round with no test. Mend the cause: the sum, not the receipt.
- Edit \`src/ui/\` by hand. After adding a coin, run \`till check\`.

## Testing conventions

### What NOT to test

- Private drawers directly
- Coins with no value

### Do

- Whole sales

## Forbidden patterns

### Sums kept twice

- One price in many places
- Use a second drawer

### Instead

- Use one drawer

## Conventions to avoid

- Wide receipts
`
  expect(await rulesOf(page)).toEqual([
    'What NOT to test: Private drawers directly',
    'What NOT to test: Coins with no value',
    'Whole sales',
    'Forbidden patterns: Sums kept twice: Use a second drawer',
    'Use one drawer',
    'Conventions to avoid: Wide receipts',
    'Do NOT: Leave notes that are not about the till',
    'Do NOT: Round with no test',
    'Do NOT: Edit `src/ui/` by hand',
  ])
  expect(await rulesOf('# Till rules\n\n- ✅ Four spaces\n- ❌ Default exports\n- ❌ NO wide receipts\n')).toEqual([
    'Four spaces',
    "Don't: Default exports",
    'NO wide receipts',
  ])
  expect(
    await rulesOf(
      '## Do not\n\n### Why\n\n- Sums must be safe\n\n### Always write\n\n- Use whole sums\n\n### Coins\n\nUse copper.\n',
    ),
  ).toEqual(['Do not: Coins: Use copper', 'Sums must be safe', 'Use whole sums'])
  expect(await rulesOf("## Don'ts\n\n- ✅ Use one drawer\n")).toEqual(['Use one drawer'])
  expect(await rulesOf("## Don'ts\n\nUse default exports.\n\n- In the till:\n  - Use floats\n")).toEqual([
    "Don'ts: Use default exports",
    "Don'ts: In the till: Use floats",
  ])
})

test('what to do instead of a forbidden thing is no part of it, and no forbidden thing is lost', async () => {
  const never = await rulesOf('## Never\n\n- **Force push**\n  - Use a new commit instead.\n')
  expect(never).toEqual(['Never: Force push'])
  const main = await rulesOf('## Never\n\nYou must never push to main. Use pull requests.\n')
  expect(main).toEqual(['You must never push to main'])
  expect(await rulesOf('## Rules\n\nAvoid these:\n\n- inline styles\n')).toEqual(['Avoid these: inline styles'])
})

test('a section without a Latin letter is kept', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': 'Касса продаёт чай.\n\n---\n', 'AGENTS.md': '# 店\n\nお茶を売る店です。\n' })
  for (const file of ['CLAUDE.md', 'AGENTS.md'])
    expect(await take(t, 'claude-md', file)).toMatchObject({ read: { chunks: 1 } })
})

test('no sentence of a paragraph with a rule in it is lost', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md': `# Shop

The till returns a list. It is long. Each drawer must return a sum.

The readers are cashiers. Be brief and exact. Do not use dialect. Nobody reads it.
`,
  })
  await take(t, 'claude-md', 'CLAUDE.md')
  const told = t.memory.reader.list('fact').map(({ fields: f }) => [f.fact, f.context])
  expect(told.sort()).toEqual([
    ['Be brief and exact', 'The readers are cashiers.'],
    ['Do not use dialect', 'Nobody reads it'],
    ['Each drawer must return a sum', 'The till returns a list. It is long.'],
  ])
})

test('a bold item above others is their heading: a condition and a prohibition go with them', async () => {
  const page = `# Shop

## Guidelines

1. **Receipt Wording**
   - Four lines at most
2. **When closing**
   - Count the coins
3. **Never**
   - Open two drawers
4. **Use one drawer**
   - It is safer
`
  expect(await rulesOf(page)).toEqual([
    'Never: Open two drawers',
    'Use one drawer',
    'It is safer',
    'Four lines at most',
    'When closing: Count the coins',
  ])
})

test('a quotation below an item is no part of it', async () => {
  const page = '## Rules\n\n- Count the coins\n> Written by a program.\n> Never edit it.\n'
  expect(await rulesOf(page)).toContain('Count the coins')
})

test('the numbered steps of a release are no rules, but for what they order always; those of a workflow are', async () => {
  const steps = '1. Update the price list before tagging\n2. Never publish on a Friday\n'
  expect(await rulesOf(`# Shop\n\n## Release process\n\n${steps}`)).toEqual(['Never publish on a Friday'])
  for (const heading of ['Git workflow', 'Release process rules', 'Pull request and release process'])
    expect(await rulesOf(`# Shop\n\n## ${heading}\n\n${steps}`), heading).toHaveLength(2)
})

test('an item stays with the condition, the order or the subject that leads to it', async () => {
  const page = `# Shop

## Drawer rules

ALWAYS run these commands before closing the till:

1. **Count** (required):
   - \`till count\` - Counts the coins

There are three drawers.

- **Drawers:**
  - **Open a Drawer When:**
    - A customer pays

  - **Shift Coins When:**
    - Better drawers stand empty

Use the rules below when:

- You are writing a receipt

## Matching

The till matches receipts by the following criteria:

- Must be of one day

## Brass Drawer Guidelines

**Best practices:**
- Keep drawers light
- Keep brass drawers dry

## Receipts

A receipt moves a sum. Therefore, every receipt must have a date.

MUST have one total.
`
  expect((await rulesOf(page)).sort()).toEqual([
    'A receipt moves a sum. Therefore, every receipt must have a date',
    'ALWAYS run these commands before closing the till: Count (required):; `till count` - Counts the coins',
    'Keep brass drawers dry',
    'Keep drawers light',
    'Open a Drawer When: A customer pays',
    'Receipts: MUST have one total',
    'Shift Coins When: Better drawers stand empty',
    'The till matches receipts by the following criteria: Must be of one day',
  ])
})

test('an example, a link to another page, and what a page says of its own use are no rules', async () => {
  const page = `Use this rule to learn how receipts are printed.

## Conventions

- Avoid folds
  - Example 1: Avoid a fold at the total
  - Example (for two): print both
- [Folds](docs/folds.md) - what a fold is
`
  expect(await rulesOf(page)).toEqual(['Avoid folds'])
})

test('a file on how rules are written is for the files of rules', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.cursor/rules/cursor_rules.mdc':
      '---\ndescription: Guidelines for creating and maintaining Cursor rules\nglobs: **/*\nalwaysApply: true\n---\n- Never say it twice\n',
    'web/.cursor/rules/self.mdc': '# How to write rule files\n\n- Never use a table\n',
    '.cursor/rules/all.mdc':
      '---\ndescription: The AI rules of the shop\nalwaysApply: true\n---\n- Never lend a drawer\n',
  })
  await take(t, 'claude-md', '.cursor/rules')
  await take(t, 'claude-md', 'web/.cursor/rules')
  const paths = (id: string) => t.get(`fact:${id}`)?.fields.paths
  expect(paths('never-say-it-twice')).toEqual(['.cursor/rules/**'])
  expect(paths('never-use-a-table')).toEqual(['web/.cursor/rules/**'])
  expect(paths('never-lend-a-drawer')).toBeUndefined()
})

test('a plain order counts among rules, a list in order is one rule, and a pattern that describes is none', async () => {
  const page = `## Code style

- Avoid globals
- Prefer early returns
- Establish one way to log
- Logs are kept for a week
- Consider \`Option\` where nothing is found

Read these in order:

1. a.md
2. b.md

Never use these:

- \`var\` → use \`let\`

## Core patterns

- Flow collection by \`Internal\` actions
- Enforce one store

## Hand-over

- [ ] No secrets in logs
`
  expect((await rulesOf(page)).sort()).toEqual([
    'Avoid globals',
    'Consider `Option` where nothing is found',
    'Enforce one store',
    'Establish one way to log',
    'Logs are kept for a week',
    'Never use these: `var` → use `let`',
    'No secrets in logs',
    'Prefer early returns',
    'Read these in order: a.md; b.md',
  ])
})

test('a rule of a file is told with the headings that its words lack, and what is explained beside it is found', async () => {
  const t = openTestMemory()
  const why = 'the shards are by account, and no table of them is whole on one server'
  lay(t.dir, {
    'AGENTS.md': `# Shop\n\n## Internal APIs\n\n- Never add long remarks\n\n## Testing\n\nSearch is sharded: ${why}, as each of them is small. Never assume one shard in testing.\n`,
  })
  await take(t, 'claude-md', 'AGENTS.md')
  const [told] = t.memory.reader.list('fact').filter((e) => e.name.includes('remarks'))
  expect(calledAs(told!)).toBe('Never add long remarks (under: internal apis)')
  expect(ruleLine(told!)?.short).toBe('- Never add long remarks (under: internal apis)')
  expect((await t.library.recall('how is search sharded')).text).toContain(why)
})

test('a client is not told again what it reads through a link', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'AGENTS.md': '# Shop\n\n- Never add long remarks\n' })
  symlinkSync('AGENTS.md', join(t.dir, 'CLAUDE.md'))
  await take(t, 'claude-md', 'AGENTS.md')
  const [rule] = t.memory.reader.list('fact')
  const project = { ...t.project, root: t.dir }
  expect(isRead(rule!, { client: 'claude-code', project })).toBe(true)
  expect(isRead(rule!, { client: 'gemini-cli', project })).toBe(false)
})

test('a rule of two files with other words beside it is left as changed by nobody', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'AGENTS.md': '# A\n\nNever edit generated files. They are overwritten by the next build.\n',
    'CLAUDE.md': '# C\n\nNever edit generated files. The generator is in tools.\n',
  })
  for (const turn of [1, 2])
    for (const file of ['AGENTS.md', 'CLAUDE.md']) {
      const { kept, updated } = await take(t, 'claude-md', file)
      expect(kept).toEqual([])
      if (turn === 2) expect(updated).toBe(0)
    }
  t.act([['record-fact', { ref: 'fact:never-edit-generated-files', context: 'Run the generator' }]])
  expect((await take(t, 'claude-md', 'CLAUDE.md')).kept).toHaveLength(1)
})

test('an order below a heading that describes, and a sentence that goes on with a name', async () => {
  const page = `## Architecture

- Favor composition over options
- Validate props where they come in
- Prefer slots for what may differ
- The store is one file

When settings change, always update the page of settings.

This package is the engine that the plugin uses to render, and is NOT part of the plugin's public
API and not meant for direct use by anybody who writes a site with it in the usual way at all.

## Pitfalls to avoid

- Never cache tokens
- Never log tokens
- Use a fresh one for each call
`
  expect((await rulesOf(page)).sort()).toEqual([
    'Favor composition over options',
    'Never cache tokens',
    'Never log tokens',
    'Prefer slots for what may differ',
    'Validate props where they come in',
    'When settings change, always update the page of settings',
  ])
})

test('[T28] what stands among prohibitions is never turned into an order, and what binds a file is a rule', async () => {
  const page = `## Don'ts

- Don't commit secrets
- Use eval on input
- Put tokens in logs

## Files

- This file must never be edited by hand
- This file defines how agents work

Let's always use pnpm.
`
  expect((await rulesOf(page)).sort()).toEqual([
    "Don't commit secrets",
    "Let's always use pnpm",
    'This file must never be edited by hand',
  ])
})

test('[T28] a rule of the root and of a folder holds everywhere, whichever is read first', async () => {
  for (const files of [
    ['AGENTS.md', 'till/AGENTS.md'],
    ['till/AGENTS.md', 'AGENTS.md'],
  ]) {
    const t = openTestMemory()
    lay(t.dir, { 'AGENTS.md': '- Never sell on credit.\n', 'till/AGENTS.md': '- Never sell on credit.\n- Never open the till.\n' })
    for (const file of [...files, ...files]) await take(t, 'claude-md', file)
    const paths = t.memory.reader.list('fact').map(({ name, fields }) => [name, fields.paths])
    expect(paths.sort()).toEqual([['Never open the till', ['till/**']], ['Never sell on credit', undefined]])
  }
}) // biome-ignore format: pages

test('orders among rules: behind a label and a dash, in a paragraph, below a bold line; and in other languages', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md': `# Shop

## Tone

- **Check prices** - ensure that each sum is in cents
- No jokes
- The till was bought in May

A sale is allowed only after the drawer was counted. Start each day with an empty drawer. The shop was opened in May.

**Critical rules**

1. **Drawers**
   - \`till/*\` for sums
   - Reason: a drawer is small

## Convencoes de Codigo

- Nomes em portugues

## Arbeitsweise

- Änderungen klein halten

## Notizen

- Gib keine Preise ohne Steuer aus
- Suivre les noms du catalogue
- Manter os nomes do caixa
`,
  })
  await take(t, 'claude-md', 'CLAUDE.md')
  const told = t.memory.reader.list('fact').map(({ fields: f }) => f.fact)
  expect(told.sort()).toEqual([
    'A sale is allowed only after the drawer was counted',
    'Check prices - ensure that each sum is in cents',
    'Gib keine Preise ohne Steuer aus',
    'Manter os nomes do caixa',
    'No jokes',
    'Nomes em portugues',
    'Start each day with an empty drawer',
    'Suivre les noms du catalogue',
    '`till/*` for sums',
    'Änderungen klein halten',
  ])
})

test('[T28] prohibitions, reports and short orders stay what they are', async () => {
  expect(await rulesOf('## Nunca\n\n- No toques main\n')).toEqual(['No toques main'])
  expect(await rulesOf('## Interdictions\n\n- Aucun secret dans le code\n')).toEqual([])
  expect(await rulesOf('## Rules\n\n- Secrets stay in the vault, never committed\n')).toEqual([
    'Secrets stay in the vault, never committed',
  ])
  expect(await rulesOf('1. **Use pnpm**\n   - npm breaks the lockfile\n')).toContain('Use pnpm')
  const report = 'The sum is kept. Never mutate it. Test coverage dropped last year. Plan B failed in May. Order matters less.'
  expect(await rulesOf(`# Shop\n\n${report}\n`)).toEqual([expect.stringContaining('Never mutate it')])
}) // biome-ignore format: pages

test('[T28] a rule of Cursor names a file from the top of the project; that the rules are to be followed is no rule', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.cursor/rules/api.mdc':
      '---\nglobs: services/**\n---\nYou must follow the following guidelines.\n\n@docs/guidelines/api.md\n',
    'docs/guidelines/api.md': '# API\n\n- Never call fetch in a component\n',
  })
  const report = await take(t, 'claude-md', '.cursor/rules')
  expect(unplaced(report)).toEqual([])
  const told = t.memory.reader.list('fact').map(({ fields: f }) => [f.fact, f.paths, f.locations])
  expect(told).toEqual([['Never call fetch in a component', ['services/**'], ['docs/guidelines/api.md:3']]])
})

test('[T28] a line with a symbol above a list is its lead; what is allowed is no order', async () => {
  const page = `# Till

When a drawer is closed, you MUST do the following:

1. Count the coins

🚫 NEVER:

- Lend the key

You must:

- Lock the till

❌ **Foreign coins:**

- Take them at the counter

Always:

- Print the receipt

❌ Never

- Print the tax twice

## Do not

- Open two drawers

✅ Instead of that:

- Use one drawer

## Notes

Never:

- Lend a drawer to a guest

Allowed:

- Use a drawer of your own
- Never sell it

You may:

- Always keep the receipt
`
  expect((await rulesOf(page)).sort()).toEqual([
    'Always: Print the receipt',
    'Do not: Open two drawers',
    'Instead of that: Use one drawer',
    'NEVER: Lend the key',
    'Never sell it',
    'Never: Lend a drawer to a guest',
    'Never: Print the tax twice',
    'When a drawer is closed, you MUST do the following: Count the coins',
    'You must: Lock the till',
  ])
  expect(await rulesOf('## When a sum is wrong\n\n❌ **Avoid:** a guess\n✅ **Do:**\n- Count the coins again\n')).toEqual([
    'When a sum is wrong: Avoid: a guess',
    'When a sum is wrong: Count the coins again',
  ])
}) // biome-ignore format: pages

test('[T28] an order that leads to code is a rule where it is understood without the code', async () => {
  const code = '\n```sh\ntill count\n```\n'
  const page = `# Shop

Always close the drawer before counting:
${code}
Never run this:
${code}
Prices are kept in two places. You must give the tax in each entry:
${code}
The till prints the day:
${code}
## Conventions

- **Always round** in \`sum.ts\`:
${code}
- Group the coins by their metal:
${code}
- Never do:
${code}
- Prefer:
${code}`
  expect((await rulesOf(page)).sort()).toEqual([
    'Always close the drawer before counting',
    'Always round in `sum.ts`',
    'Group the coins by their metal',
    'You must give the tax in each entry',
  ])
})

test('[T28] orders outside a heading of rules: what should be, a moment first, a verb among rules; what a thing does is none', async () => {
  const page = `# Shop

## Creating receipts

- Receipts should be short
- Run \`till count\` before committing
- Number at least two copies
- Read the price list of the year
- You should see a total
- The till asks what tax should apply

## Coins

If a sum is wrong, stop and report it.

- Never melt coins
- When a coin is bent, split the sum

## Till conventions

- Build tool: brass
- \`TillTotal\` stays in whole cents
- TillScript files end with a total

## Drawer

- The key is kept by the till so that nobody has to look for it, and the clerk doesn't have to ask
- The drawer always opens at noon
- Uses brass for the key
`
  expect((await rulesOf(page)).sort()).toEqual([
    'If a sum is wrong, stop and report it',
    'Never melt coins',
    'Read the price list of the year',
    'Receipts should be short',
    'Run `till count` before committing',
    'TillScript files end with a total',
    'When a coin is bent, split the sum',
    '`TillTotal` stays in whole cents',
  ])
  expect((await rulesOf("## Don'ts\n\n- Don't lend the key - use a copy\n- Use a second drawer\n")).sort()).toEqual([
    "Don't lend the key - use a copy",
  ])
})

test('[T28] a sentence that means nothing alone stays with the one before it; no mark of a quotation, no glued title', async () => {
  const page = `# Shop

Before selling a coin, ask: *"Is it ours?"* If no — don't sell it. Never lend it.

Run the count then close the till. Use this at noon.

> The list of prices is in the vault. Don't copy it.

## Till rules

- **Names of drawers**
  Use the metal of the coins.
- **Never**
  lend the key.
`
  expect((await rulesOf(page)).sort()).toEqual([
    'Before selling a coin, ask: "Is it ours?" If no — don\'t sell it',
    'Names of drawers: Use the metal of the coins',
    'Never lend it',
    'Never lend the key',
    'Run the count then close the till. Use this at noon',
    "The list of prices is in the vault. Don't copy it",
  ])
})

test('[T28] orders and prohibitions in Russian, Chinese and Korean, none turned round', async () => {
  const page = `# Shop

## 🚫 Запреты

- Выдавать сдачу без чека
- НЕ ИСПОЛЬЗУЙ чужую кассу

## Касса

- Касса стоит у окна
- Чек: всегда печатай итог
- Никогда не продавай в долг

## 格式

- 避免两个抽屉
- 价格应含税
- 硬币需分类
- 应用程序有两个抽屉
- 如果需要可以再数

## 수납

- 동전을 섞지 말 것
- 영수증을 출력하라
- 서랍은 두 개이다
`
  expect((await rulesOf(page)).sort()).toEqual([
    'Запреты: Выдавать сдачу без чека',
    'НЕ ИСПОЛЬЗУЙ чужую кассу',
    'Никогда не продавай в долг',
    'Чек: всегда печатай итог',
    '价格应含税',
    '硬币需分类',
    '避免两个抽屉',
    '동전을 섞지 말 것',
    '영수증을 출력하라',
  ])
  expect(await rulesOf('## Правила\n\n- Цены в копейках\n')).toEqual(['Цены в копейках'])
  expect(await rulesOf('## 规则\n\n在收银时，请遵循以下规则：\n\n- 先数硬币\n')).toEqual([expect.stringContaining('先数硬币')])
  expect(await rulesOf('## Касса\n\n❌ **НЕ делай так:**\n\n- Закрывать без отчёта\n')).toEqual([
    'НЕ делай так: Закрывать без отчёта',
  ])
}) // biome-ignore format: pages

test('[T28] every sign that crosses out forbids, a tick allows, another sign stays where it is', async () => {
  const page = `# Shop

## Till

- ✗ Lend the key to a guest
- ✘ Open the second drawer
- 🛑 Melt the coins
- 🙅‍♀️ Use a pencil
- 👎 Use the old till
- ✓ Use the new till
- 📌 Use ink for receipts
- 🔥 Use the red drawer
- 🔥 Never use the blue drawer
- ✅ ❌ Use both tills
- Use a coin of lead ❌
- ✅ Use silver ❌ Use tin

## Till rules

✓ Use a lamp
☒ Use a candle

❌ Use copper for coins. ✅ Use gold for them.
`
  expect((await rulesOf(page)).sort()).toEqual([
    "Don't: Lend the key to a guest",
    "Don't: Open the second drawer",
    "Don't: Use a candle",
    "Don't: Use a pencil",
    "Don't: Use the old till",
    'Never use the blue drawer',
    'Use a lamp',
    'Use ink for receipts',
    'Use the new till',
  ])
})

test('[T28] a sign before a moment or other words forbids nothing; a word that may forbid makes no orders', async () => {
  const page = `# Shop

## 🚫 Till rules

- Always count the coins
- Use the new drawer

## ⛔ Before you close

1. Lock the drawer

## ❌ Bad

- Use lead coins

## Things you may not do

- Lend the key

## None of this is fine

- Use a pencil
- Never melt coins

## Evitar

- Usar lápiz

## 编码禁止

- 使用 铅笔

## Запрещено

- Не писать чеки
- ❌ NO usar tinta

## 금지

- 서랍마다 동전을 사용하세요

## 이미지 마감

- 항상 영수증을 출력하세요

## Receipts are never optional

- Print receipts before you close the till

## Allowed

- Use a pencil of your own
`
  expect((await rulesOf(page)).sort()).toEqual([
    'Bad: Use lead coins',
    'Before you close: Lock the drawer',
    'Evitar: Usar lápiz',
    'NO usar tinta',
    'Never melt coins',
    'Print receipts before you close the till',
    'Things you may not do: Lend the key',
    'Запрещено: Не писать чеки',
    '编码禁止: 使用 铅笔',
    '금지: 서랍마다 동전을 사용하세요',
    '항상 영수증을 출력하세요',
  ])
})

test('[T28] below a heading that has both orders and bans, what says itself which it is is a rule', async () => {
  for (const heading of ["Do's and Don'ts", 'Always / never', 'Coding dos & don’ts'])
    expect(
      (await rulesOf(`# Shop\n\n## ${heading}\n\n- Always count the coins\n- Every till must have a lamp\n- Keys must not leave the shop\n- Never melt coins\n- Lead coins\n`)).sort(), // biome-ignore format: a row
    ).toEqual([
      'Always count the coins',
      'Every till must have a lamp',
      'Keys must not leave the shop',
      'Never melt coins',
    ])
})

test('[T28] a paragraph of twenty thousand sentences is read in its own time', { timeout: 40_000 }, () => {
  const started = performance.now()
  expect(rulesIn(`# Rules\n\n${'Never lend the key. The till is old. '.repeat(10_000)}`)).toHaveLength(10_000)
  expect(performance.now() - started).toBeLessThan(20_000)
})

test('[T28] a sign before an order of its own makes no prohibition, one before a thing and its remedy no order', async () => {
  const page = `# Till

## Rules

- 🛑 Always ask before you open the till
- ⛔ Must have a receipt before a refund
- ❌ If the sum is wrong, do not close the till
- ❌ Use lead coins. Use steel coins instead.
- ❌ Hardcode prices, read the list instead

## Never

- Use chalk. Use a pencil instead.
- Log with chalk; use the ledger instead
- Use the ledger instead

## Conventions

### À éviter

- Utiliser des pièces en plomb

### Discouraged

- Use old coins

### Zu vermeiden

- Bleimünzen benutzen
`
  expect((await rulesOf(page)).sort()).toEqual([
    "Don't: Use lead coins",
    'Never: Use chalk',
    'Zu vermeiden: Bleimünzen benutzen',
    'À éviter: Utiliser des pièces en plomb',
    '🛑 Always ask before you open the till',
  ])
})

test('[G7] rules in Chinese and Spanish lists, on lines of their own, and of a list of anti-patterns are kept', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md':
      '# Shop\n\n## 架构\n\n1. 新能力必须进新模块。\n2. 日志中禁止打印完整密钥。\n3. 模块一共三个。\n\n## Trabajo\n\n- Leer docs/A.md antes de cambiar la interfaz.\n\n## Anti-patterns\n\n- Bulk reformatting unrelated to the change\n- Never sleep in tests\n',
    '.windsurfrules': "use commands that run on windows\nuse english in all your code\ndon't use typescript\n",
  })
  await take(t, 'claude-md', 'CLAUDE.md')
  await take(t, 'claude-md', '.windsurfrules')
  const facts = t.memory.reader.list('fact', { all: true }).map((e) => e.name)
  for (const fact of [
    '新能力必须进新模块',
    '日志中禁止打印完整密钥',
    'Leer docs/A.md antes',
    'Anti-patterns: Bulk',
    'use english in all your code',
    "don't use typescript",
  ])
    expect(facts.join('\n')).toContain(fact)
  expect(facts.join('\n')).not.toContain('一共三个')
  expect(facts).toHaveLength(8)
})

test('[G7] rules that are for a review or for some requests alone say so', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.github/instructions/review.instructions.md':
      '---\napplyTo: "**"\nexcludeAgent: ["coding-agent"]\n---\n\n- Always ask for a test in a review\n',
    '.cursor/rules/commits.mdc':
      '---\ndescription: Commit messages\nalwaysApply: false\n---\n\n- Always write the subject in the imperative\n',
  })
  await take(t, 'claude-md', '.github/instructions')
  await take(t, 'claude-md', '.cursor/rules')
  const facts = t.memory.reader.list('fact', { all: true })
  expect(facts.map((e) => [e.name, e.fields.topics])).toEqual([
    ['Always write the subject in the imperative', ['commit messages']],
  ])
})

test('[G7] a sentence that goes on in the next line is not cut there, and the better way is not forbidden', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'AGENTS.md':
      '# Code\n\nIn this repo we never\nuse default exports.\n\nDo not\nuse var in new code.\n\nnever let the tests\nuse the network\n\n## Anti-patterns to avoid\n\n- Instead of singletons, use dependency injection\n- Deep inheritance: prefer composition\n- Components that use global state\n- Never use var\n\n## 规则\n\n- 用户被禁止登录后跳转到首页\n',
  })
  await take(t, 'claude-md', 'AGENTS.md')
  const facts = t.memory.reader.list('fact', { all: true })
  const names = facts.map((e) => e.name).join('\n')
  expect(names).toContain('In this repo we never use default exports')
  expect(names).not.toMatch(/^use |singletons|inheritance/m)
  expect(names).toContain('Anti-patterns to avoid: Components that use global state')
  expect(names).toContain('Never use var')
  expect(facts.filter((e) => e.name.includes('登录')).map((e) => e.fields.category)).not.toContain('constraint')
})

test('[T28] what stands above a statement says how strongly it has to ask, and a negation is never turned round', async () => {
  const page = `# Till

## À ne pas faire

- N'ouvre jamais deux tiroirs
- ❌ Pas de monnaie en plomb
- Compter sans lampe

## Drawers

**A drawer is for one clerk alone. Nothing else is counted.**

- No drawers for guests
- Count the coins of each drawer
- Shallow drawers hold one row of coins

For every sale, always ask:

- Who pays?
- In which coin?

## Structure of the till

- Open the lid with the key
- The lid is of brass
- The key is of iron
- Never lend the key

| Coin | Use it for |
|---|---|
| Gold | Always keep it. Never lend it. |
`
  expect((await rulesOf(page)).sort()).toEqual([
    'Count the coins of each drawer',
    'For every sale, always ask: Who pays?; In which coin?',
    "N'ouvre jamais deux tiroirs",
    'Never lend the key',
    'No drawers for guests',
    'Pas de monnaie en plomb',
    'À ne pas faire: Compter sans lampe',
  ])
})
