import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportTool } from '../../src/surfaces/tools/export.ts'
import type { Output } from '../../src/surfaces/tools/tool.ts'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { testUnless } from '../needs.ts'
import { runs } from '../runs.ts'
import { lay, take, unplaced } from './helpers.ts'

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const LEARNING = {
  ...{ id: 'L-001', title: 'pymysql is not thread-safe', body: 'Open one connection a thread.', scope: 'project' },
  ...{ stack: ['python'], category: 'technical', severity: 'high', source: 'Shop', date: '2026-02-08' },
  ...{ classified_by: 'agent', checkpoint_type: 'retro' },
}

/** The documented files, in the words of the concept paper where it has an example. */
const FILES: Readonly<Record<string, string>> = {
  'handoff.md': `# Session Handoff
**Written:** 2026-02-16 14:30
**Session context:** 78% used

## In Progress
- Implementing auth middleware (specs/auth.md, step 3 of 7)
- Tests written, 4/12 passing

## Decisions Made
- Chose JWT over session cookies (lighter, stateless)
- Using RS256 not HS256 (key rotation support)

## Blockers
- Keycloak JWKS endpoint returns stale keys (need cache-busting)

## Next Steps
1. Fix JWKS cache issue
2. Complete remaining 8 test cases
3. Run /add:verify
`,
  'swarm-state.md': `# Swarm State

## test-writer (2026-02-16 14:00)
status: complete
claimed: specs/auth.md → tests/auth.test.ts
result: 12 tests written, all RED
handoff: ready for implementer

## implementer (2026-02-16 14:15)
status: active
claimed: tests/auth.test.ts → src/auth/
result: pending
depends-on: test-writer

## reviewer
status: blocked
claimed: src/auth/
`,
  'observations.md': `# Process Observations

2026-02-14 10:30 | deploy | deployed cache code without production verification | cost: 2hr debugging
2026-02-14 16:00 | verify | caught type error pre-push via gate 2 | saved: ~30min
2026-02-15 09:00 | deploy | triggered 7 builds with known synthesis bug | cost: $147 API + 3hr
2026-02-15 09:00 | deploy | triggered 7 builds with known synthesis bug | cost: $147 API + 3hr
2026-02-15 | handoff | new session missing context, spent 15min re-reading code
- 2026-02-16 10:00 | tdd-cycle | [agent-retro] implementer skipped error handling on API calls | cost: reviewer rework
`,
  'mutations.md': `# Process Mutations

## M-001 (2026-02-16, approved)
**Trigger:** 3/5 deploys skipped verification (observations 2026-02-14, 2026-02-15)
**Change:** \`/add:deploy\` SKILL.md step 3 now requires smoke test pass before downstream operations
**Status:** Applied
**Outcome:** Next 2 deploys verified successfully (observed 2026-02-17, 2026-02-18)

## M-002 (2026-02-20, rejected)
**Change:** \`/add:verify\` asks twice
**Status:** Rejected
**Proposed by:** the reviewer
`,
  'decisions.md': `# Decisions

2026-02-16 14:00 | Chose JWT over session cookies | lighter, stateless
2026-02-16 | RS256 instead of HS256 | keys rotate | and Keycloak has it
2026-02-15 09:00 | Ship on Fridays
Trunk-based | fewer merges
2026-02-17 10:00 | Tests run on each push. The slow ones run at night | cost
`,
  'learnings.json': json({ version: '1.0.0', project: 'Shop', entries: [LEARNING, { ...LEARNING, id: 'L-003', title: 'Vite caches by mtime', category: 'anti-pattern', severity: 'low' }] }), // biome-ignore format: one line
  'learnings-archive.json': json({ archived: [{ ...LEARNING, id: 'L-002', title: 'Old quirk' }] }),
  'learnings.md': `# Project Learnings — Shop

> **Tier 3: Project-Specific Knowledge**
> Generated from \`.add/learnings.json\` — do not edit directly.
> Agents read JSON for filtering; this file is for human review.

## Anti-Patterns

- **[low] Vite caches by mtime** (L-003, 2026-02-08)
  Open one connection a thread.

## Technical

- **[high] pymysql is not thread-safe** (L-001, 2026-02-08)
  Open one connection a thread.

---
*2 entries. Last updated: 2026-02-08. Source: .add/learnings.json*
`,
  'retro-scores.json': json({
    version: '1.0.0',
    project: 'Shop',
    entries: [{ date: '2026-02-19', collab_score: 4, add_effectiveness: 5.8, swarm_effectiveness: 6.2, retro_file: '.add/retros/r.md', context: 'solo' }], // biome-ignore format: one line
  }),
  'config.json': json({
    $schema: 'https://example.org/config.schema.json',
    version: '0.11.0',
    project: { name: 'Shop', description: 'Sells tea', created: '2026-02-07' },
    maturity: { level: 'beta', promoted_from: 'alpha', promoted_date: '2026-04-23' },
    planning: { wip_limit: 4, current_milestone: 'M3' },
    quality: { coverage_threshold: 0, type_check_blocking: false, lint: { backend: 'ruff' } },
    source_control: { protected_branches: ['main', 'release'] },
  }),
}

const inFolder = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`.add/${name}`, text]))

const out = (t: TestMemory, path: string, more: object = {}) =>
  exportTool.run(t, { format: 'add', path: join(t.dir, path), ...more }) as Output

const filesOf = (dir: string) =>
  Object.fromEntries(readdirSync(dir).sort().map((name) => [name, readFileSync(join(dir, name), 'utf8')])) // biome-ignore format: one thought

/** What is known, without when and from where it was taken in. */
const knowledge = ({ memory }: TestMemory): string[] =>
  memory
    .registry()
    .kinds()
    .flatMap((kind) => memory.reader.list(kind.name, { all: true }))
    .map(({ kind, fields: { provenance: _, ...fields } }) => JSON.stringify([kind, Object.entries(fields).sort()]))
    .sort()

/** JSON files count by what they say: the order of keys is not knowledge. */
const meant = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [name, name === 'config.json' ? JSON.parse(text) : text])) // biome-ignore format: one thought

test('[P1] [P4] [P7] every documented file of .add/ is printed again byte for byte, and says the same elsewhere', async () => {
  const t = openTestMemory()
  lay(t.dir, inFolder(FILES))
  const report = await take(t, 'add', '.', { by: 'agent' }) // as the command line does: its rules wait for a yes
  expect(unplaced(report)).toEqual([])
  out(t, 'out/.add')
  expect(meant(filesOf(join(t.dir, 'out/.add')))).toEqual(meant(FILES))
  const other = openTestMemory({ seed: 2 })
  lay(other.dir, inFolder(filesOf(join(t.dir, 'out/.add'))))
  expect(unplaced(await take(other, 'add', '.', { by: 'agent' }))).toEqual([])
  expect(knowledge(other)).toEqual(knowledge(t))
  out(other, 'again/.add')
  expect(filesOf(join(other.dir, 'again/.add'))).toEqual(filesOf(join(t.dir, 'out/.add')))
  // written over the files it came from, it is still the same
  out(t, '.add', { force: true })
  expect(await take(t, 'add', '.')).toMatchObject({ created: 0, updated: 0, batches: [], gone: [], kept: [] })
})

test('[P7] what a file says and Tidemark does not keep is named at the import', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.add/decisions.md': '# Decisions\n\n## 2026\n<!-- old -->\n2026-02-16 | Trunk | fewer merges\n',
    '.add/mutations.md': '# Process Mutations\n\n## M-001 (2026-02-16, approved)\nA remark.\n**Change:** deploy asks\n',
    '.add/swarm-state.md':
      '# Swarm State\n\n## a (2026-02-16 14:00)\nstatus: complete\n\n## a (2026-02-17 14:00)\nstatus: active\n',
    '.add/config.json': { project: { name: 'Shop', url: null }, planning: { cycle_history: [] } },
    '.add/handoff.md': '# Session Handoff\n\n## Next Steps\n- [x] Build\n- [ ] Ship\n',
    '.add/learnings.json': { entries: [LEARNING], generator: 'x' },
  })
  expect(unplaced(await take(t, 'add', '.'))).toEqual([
    '.add/learnings.json generator — said of the file and of no entry',
    '.add/config.json 2 settings without a value — they say nothing',
    '.add/decisions.md 2 headings, comments or rules — they say nothing by themselves',
    '.add/mutations.md:4 A remark. — no part of a mutation',
    '.add/swarm-state.md 1 earlier blocks — the last block of a role counts',
    '.add/handoff.md 2 check marks — steps are kept without them',
  ])
})

test('[P7] what is known and has no place in these files is named at the export', async () => {
  const t = openTestMemory()
  t.act([
    ['record-decision', { name: 'use-sqlite', description: 'One file', rationale: 'no daemon', impact: 8 }],
    ['record-decision', { name: 'json-files' }],
    ['supersede', { old: 'json-files', new: 'use-sqlite' }],
    ['record-fact', { fact: 'Use pnpm' }],
    ['record-insight', { summary: 'Retros help' }],
    ['record-observation', { operation: 'deploy', what: 'skipped | the test', cost: 'cost: 1 h' }],
  ])
  const { text } = out(t, 'out')
  expect(text.split('\n').at(-1)).toBe('without a place in these files: 1 decision, 1 fact, 1 insight, description of decision (1), impact of decision (1)') // biome-ignore format: one line
  const files = filesOf(join(t.dir, 'out'))
  expect(files['decisions.md']).toMatch(/^# Decisions\n\n\d{4}-\d\d-\d\d \d\d:\d\d \| use-sqlite \| no daemon\n$/)
  expect(files['observations.md']).toContain(' | deploy | skipped \\| the test | cost: 1 h\n')
  expect(Object.keys(files)).not.toContain('handoff.md')
})

const word = fc.stringMatching(/^[a-zA-Zäß0-9$~][a-zA-Z0-9äß ,./'-]{0,30}[a-z0-9]$/).map((w) => w.replace(/ +/g, ' '))
const minute = fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }).map((d) => d.toISOString().slice(0, 16).replace('T', ' ')) // biome-ignore format: one line

test('[P1] [P7] logs of any words are printed as they were read', { tags: ['property'] }, async () => {
  const line = fc.tuple(minute, word, word, word).map((parts) => parts.join(' | '))
  const log = fc.uniqueArray(line, { minLength: 1, maxLength: 8, selector: (l) => l.split(' | ')[1]!.toLowerCase().replace(/[.\s]+/g, ' ') }) // biome-ignore format: one line
  await fc.assert(
    fc.asyncProperty(log, log, async (observed, decided) => {
      const t = openTestMemory()
      const files = {
        'observations.md': `# Process Observations\n\n${[...observed].sort().join('\n')}\n`,
        'decisions.md': `# Decisions\n\n${decided.map((l) => l.split(' | ').slice(0, 3).join(' | ')).join('\n')}\n`,
      }
      lay(t.dir, inFolder(files))
      await take(t, 'add', '.')
      out(t, 'out')
      expect(filesOf(join(t.dir, 'out'))).toMatchObject(files)
      t.close()
    }),
    { numRuns: runs(10, 300), examples: [[['2020-01-01 00:00 | a | b | c'], ['2020-01-01 00:00 | 0. 0 | $a | c']]] },
  )
})

const REAL = process.env.TIDEMARK_REAL_ADD ?? resolve(import.meta.dirname, '../../../shared/data/projects/add')

testUnless(!existsSync(REAL) && `no ${REAL}`)(
  '[P7] the files of a real project say the same after a round trip',
  async () => {
    const t = openTestMemory()
    await importFrom(t.memory, 'add', REAL, { root: resolve(REAL, '..') })
    out(t, 'out/add')
    const other = openTestMemory({ seed: 2 })
    await importFrom(other.memory, 'add', join(t.dir, 'out/add'), { root: join(t.dir, 'out') })
    const bare = (k: string[]) => k.filter((s) => !s.startsWith('["insight"')) // add-feedback.md is not written
    if (process.env.TIDEMARK_SHOW) console.log(out(t, 'out/add').text)
    expect(bare(knowledge(other))).toEqual(bare(knowledge(t)))
    const read = (dir: string, file: string) => JSON.parse(readFileSync(join(dir, file), 'utf8'))
    // a stack is a set: its order is not kept
    const sorted = (entries: { stack: string[] }[]) => entries.map((e) => ({ ...e, stack: [...e.stack].sort() }))
    expect(sorted(read(join(t.dir, 'out/add'), 'learnings.json').entries)).toEqual(
      sorted(read(REAL, 'learnings.json').entries),
    )
    expect(read(join(t.dir, 'out/add'), 'retro-scores.json').entries).toEqual(read(REAL, 'retro-scores.json').entries)
  },
)
