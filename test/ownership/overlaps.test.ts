import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findOverlaps } from '../../src/project/ownership/overlaps.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay, take } from '../imports/helpers.ts'

/** Each finding on one line: what it is, where it stands, who should own it. */
const told = (t: TestMemory, memoryFile?: string): string[] =>
  findOverlaps(t.memory, t.dir, memoryFile).map(
    (o) => `${o.type}${o.count > 1 ? ` ×${o.count}` : ''}: ${o.places.map((p) => p.where).join(' = ')} → ${o.owner}`,
  )

const LEARNING = { id: 'L-001', title: 'Redis drops keys silently at maxmemory', body: 'Set noeviction.' }

test('[P7] one statement in several stores is one finding, with the owner first', () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md':
      '# App\n\n- **Use `pnpm`**\n- Redis drops keys silently at maxmemory.\n- Every handler validates its input with zod\n',
    'MEMORY.md': '- use pnpm\n- Each handler validates its input with zod.\n',
    '.add/learnings.json': { entries: [LEARNING] },
    '.add/observations.md': '2026-02-14 10:30 | deploy | deployed without verification | cost: 2hr\n',
  })
  t.act([['record-decision', { name: 'storage', description: 'All state is kept in one SQLite file' }]])
  lay(t.dir, { 'AGENTS.md': 'All state is kept in one SQLite file.\n' })
  expect(told(t).sort()).toEqual([
    'alike: CLAUDE.md:5 = MEMORY.md:2 → CLAUDE.md',
    'same: .add/learnings.json#L-001 = CLAUDE.md:4 → .add/learnings.json',
    'same: CLAUDE.md:3 = MEMORY.md:1 → CLAUDE.md',
    'same: decision:storage = AGENTS.md:1 → knowledge (decisions)',
  ])
})

test('[P7] what is read from a file, or shows what is known, is no repetition of it', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md':
      '- Never push to main directly\n\n<!-- tidemark: begin -->\n- Run the linter before each commit\n<!-- tidemark: end -->\n',
    '.add/learnings.json': { entries: [LEARNING] },
    '.add/learnings.md':
      '# Learnings\n\n- **[high] Redis drops keys silently at maxmemory** (L-001, 2026-02-08)\n  Set noeviction.\n',
    '.add/handoff.md': '# Session Handoff\n\n## Decisions Made\n- Chose JWT over session cookies\n',
    '.add/decisions.md': '2026-02-16 14:00 | Chose JWT over session cookies | lighter\n',
    '.add/observations.md':
      '2026-02-14 10:30 | deploy | skipped the smoke test | -\n2026-02-15 10:30 | deploy | skipped the smoke test | -\n',
  })
  await take(t, 'claude-md', 'CLAUDE.md', { standing: 'confirmed' })
  await take(t, 'add', '.')
  t.act([['record-fact', { fact: 'Run the linter before each commit', category: 'workflow' }]])
  expect(t.memory.reader.list('fact').length).toBeGreaterThan(1)
  expect(told(t)).toEqual([])
})

test('[P7] other numbers, objects, headings and negations are other statements', () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md':
      '# A\n\n## Web\n- Sessions expire after 30 minutes of silence\n- Run all tests\n\n## Api\n- Run all tests\n- Never log the body of a request\n',
    'MEMORY.md': '- Sessions expire after 60 minutes of silence\n- Always log the body of a request\n- See below\n',
    'CLAUDE.local.md': '- See below\n',
  })
  expect(told(t)).toEqual([])
})

test('[P7] files of two clients may say the same, unless one reads the other', () => {
  const t = openTestMemory()
  const rules = '- Use pnpm for packages\n- Tests run with vitest\n'
  lay(t.dir, {
    'AGENTS.md': rules,
    'CLAUDE.md': rules,
    '.cursor/rules/base.mdc': '---\nalwaysApply: true\n---\n- Tests run with vitest\n',
  })
  expect(told(t)).toEqual([
    'copies: AGENTS.md:1 = CLAUDE.md:1 → AGENTS.md',
    'copies: AGENTS.md:2 = CLAUDE.md:2 = .cursor/rules/base.mdc:4 → AGENTS.md',
  ])
  lay(t.dir, { 'CLAUDE.md': `@AGENTS.md\n\n${rules}`, '.cursor/rules/base.mdc': '' })
  expect(told(t)).toEqual([
    'same: AGENTS.md:1 = CLAUDE.md:3 → AGENTS.md',
    'same: AGENTS.md:2 = CLAUDE.md:4 → AGENTS.md',
  ])
})

test('[P7] a statement in the wrong store is told by its form or its heading', () => {
  const t = openTestMemory()
  lay(t.dir, {
    'CLAUDE.md': `# App

The service answers with JSON.

## In Progress
- Auth middleware, step 3 of 7

## Gotchas

### Redis
- Keys vanish at maxmemory without a log line

## Next.js conventions
- Pages stand in app/

2026-02-14 10:30 | deploy | deployed without verification | cost: 2hr
`,
    'MEMORY.md': '## Decisions\n- 2026-01-02: JWT instead of cookies, since it is stateless\n',
    '.add/handoff.md': '# Session Handoff\n\n## In Progress\n- Auth middleware, step 3 of 7\n',
  })
  expect(told(t)).toEqual([
    'same: .add/handoff.md:4 = CLAUDE.md:6 → .add/handoff.md',
    'misplaced: CLAUDE.md:11 → knowledge (learnings)',
    'misplaced: CLAUDE.md:16 → knowledge (observations)',
    'misplaced: MEMORY.md:2 → knowledge (decisions)',
  ])
})

test('[P7] the notes that a client keeps outside of the project are read where they are named', () => {
  const t = openTestMemory()
  mkdirSync(join(t.dir, '../home'), { recursive: true })
  const memory = join(t.dir, '../home/MEMORY.md')
  lay(t.dir, { 'CLAUDE.md': '- Use pnpm for packages\n', '../home/MEMORY.md': '- Use pnpm for packages\n' })
  expect(told(t)).toEqual([])
  expect(told(t, memory)).toEqual([`same: CLAUDE.md:1 = ${memory}:1 → CLAUDE.md`])
})
