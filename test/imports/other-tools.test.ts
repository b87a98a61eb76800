import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importTool } from '../../src/surfaces/tools/import.ts'
import { next } from '../../src/surfaces/tools/next.ts'
import type { ToolContext } from '../../src/surfaces/tools/tool.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay, take, unplaced } from './helpers.ts'

const again = async (t: TestMemory, format: string, path: string) => {
  const before = t.rows()
  expect((await take(t, format, path)).batches).toEqual([])
  expect(t.rows()).toBe(before)
}

test('[A3] notes of basic-memory become concepts with observations, tags, relations and text', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'notes/coffee.md': `---
title: Coffee Brewing
type: note
tags: [coffee, brewing]
permalink: coffee-brewing
status: active
---
# Coffee Brewing

Long words about coffee.

## Observations
- [method] Pour over is clearer #filter (personal experience)
- [ ] buy beans
- [docs](https://example.com) are no observation

## Relations
- relates_to [[Beans]]
- requires [[grinding]]
- contrasts_with [[Tea]]
`,
    'notes/beans.md': '---\ntitle: Beans\n---\n# Beans\n',
    'notes/sub/grinding.md': '- [technique] Grind fresh\n',
  })
  const report = await take(t, 'basic-memory', 'notes')
  const { reader } = t.memory
  const coffee = t.get('concept:Coffee Brewing')!
  expect(coffee.fields).toMatchObject({
    type: 'note',
    observations: ['[method] Pour over is clearer #filter (personal experience)'],
    topics: ['brewing', 'coffee', 'filter'],
    attrs: { permalink: 'coffee-brewing', status: 'active' },
  })
  expect((['from', 'to'] as const).flatMap((end) => reader.links(end, coffee.id).map((l) => `${l.type} ${reader.entity(end === 'from' ? l.to : l.from)!.name}`)).filter((l) => !l.startsWith('from-source')).sort()).toEqual(['depends-on grinding', 'relates-to Beans']) // biome-ignore format: one list
  expect(reader.list('chunk').map((c) => c.fields.sourceFile)).toEqual(['notes/coffee.md'])
  expect(unplaced(report)).toEqual(['notes/coffee.md:20 contrasts_with [[Tea]] — there is no such note'])
  await again(t, 'basic-memory', 'notes')
})

test('[A3] a note of basic-memory keeps what a statement stands under, what a relation says, and links that lead nowhere', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'notes/plan.md': `---
title: PLAN-1-new-till
---
# PLAN-1 New till

## Scope

### Out of scope
- [limit] Cards from abroad #later

## Observations
- [fact] It prints twice

## Relations
- depends_on [[PLAN-2 Old Printer]] (until the new one is here)
- implements [[Till law]] (paragraph 3)
- see [[old_printer]] and [[Tax|the tax]]
`,
    'notes/printer.md': '---\ntitle: PLAN-2-old-printer\npermalink: shop/old-printer\n---\n',
    'notes/Tax.md': '- [fact] 19 percent\n',
  })
  const report = await take(t, 'basic-memory', 'notes')
  const { reader } = t.memory
  const plan = t.get('concept:PLAN-1-new-till')!
  expect(plan.fields.observations).toEqual(['[limit] Out of scope: Cards from abroad #later', '[fact] It prints twice'])
  const said = reader
    .links('from', plan.id)
    .map((l) => [l.type, reader.entity(l.to)!.name, l.entity.fields.description])
  expect(said).toContainEqual(['depends-on', 'PLAN-2-old-printer', 'until the new one is here'])
  expect(said).toContainEqual(['see', 'PLAN-2-old-printer', 'and [[Tax|the tax]]'])
  const text = reader.list('chunk').map((c) => c.fields.content).join() // biome-ignore format: a row
  expect(text).toContain('- implements [[Till law]] (paragraph 3)')
  expect(text).toContain('and [[Tax|the tax]]')
  expect(unplaced(report)).toEqual(['notes/plan.md:16 implements [[Till law]] — there is no such note'])
  await again(t, 'basic-memory', 'notes')
})

test('[A3] issues of beads become tasks with their epic, what blocks them and where they came from', async () => {
  const t = openTestMemory()
  const issue = (id: string, more: object) => JSON.stringify({ id, title: `Issue ${id}`, status: 'open', priority: 1, issue_type: 'task', created_at: '2026-01-01T00:00:00Z', ...more }) // biome-ignore format: one record
  const dep = (id: string, on: string, type: string) => ({ issue_id: id, depends_on_id: on, type })
  lay(t.dir, {
    '.beads/issues.jsonl': [
      issue('bd-2', { dependencies: [dep('bd-2', 'bd-1', 'blocks'), dep('bd-2', 'bd-e', 'parent-child'), dep('bd-2', 'bd-9', 'blocks')], labels: ['auth'], description: 'OAuth fails' }), // biome-ignore format: one record
      issue('bd-1', { status: 'closed', close_reason: 'done in #4', dependencies: [dep('bd-1', 'bd-2', 'discovered-from')] }), // biome-ignore format: one record
      issue('bd-e', { issue_type: 'epic', dependencies: [dep('bd-e', 'bd-g', 'parent-child'), dep('bd-e', 'bd-t', 'blocks')] }), // biome-ignore format: one record
      issue('bd-g', { issue_type: 'epic' }),
      issue('bd-3', { dependencies: [dep('bd-3', 'bd-2', 'parent-child')] }),
      issue('bd-t', { status: 'tombstone' }),
      '<<<<<<< HEAD',
    ].join('\n'),
  })
  const report = await take(t, 'beads', '.beads')
  const { reader } = t.memory
  const byBead = new Map(
    [...reader.list('task', { all: true }), ...reader.list('activity', { all: true })].map((e) => [
      (e.fields.attrs as { beads: string }).beads,
      e,
    ]),
  )
  expect([...byBead.keys()].sort()).toEqual(['bd-1', 'bd-2', 'bd-3', 'bd-e', 'bd-g'])
  expect(byBead.get('bd-2')!.fields).toMatchObject({ activity: byBead.get('bd-e')!.id, topics: ['auth'], attrs: { description: 'OAuth fails', priority: 1 } }) // biome-ignore format: one record
  expect(byBead.get('bd-1')!.fields).toMatchObject({ state: 'complete', result: 'done in #4' })
  const links = [...byBead.values()].flatMap((e) => reader.links('from', e.id).map((l) => `${(e.fields.attrs as { beads: string }).beads} ${l.type}`)) // biome-ignore format: one list
  expect(links.sort()).toEqual(['bd-1 discovered-from', 'bd-2 blocked-by', 'bd-3 child-of', 'bd-e child-of'])
  expect(unplaced(report)).toEqual([
    '.beads/issues.jsonl:7 <<<<<<< HEAD — not an issue with id and title',
    '.beads/issues.jsonl:1 bd-2 blocks bd-9 — there is no such issue',
    '.beads/issues.jsonl:3 bd-e blocks bd-t — that issue was deleted',
  ])
  await again(t, 'beads', '.beads')
})

test('[A3] an issue of beads keeps who made it and what else it says; the most urgent one that nobody has is next', async () => {
  const t = openTestMemory()
  const issue = (id: string, more: object) => JSON.stringify({ id, title: `Issue ${id}`, status: 'open', ...more })
  lay(t.dir, {
    '.beads/issues.jsonl': [
      issue('bd-1', { priority: 3, created_by: 'ana', owner: 'ben@shop.example', spec_id: 'cart', body: 'All of it', needs: ['a', 'b'], score: 7, flag: null, pinned: true, metadata: { pr: 12, by: ['ben'] }, ephemeral: false }), // biome-ignore format: one record
      issue('bd-2', { priority: 0, status: 'in_progress', assignee: 'ana' }),
      issue('bd-3', { priority: 1, created_at: '2026-02-01' }),
      issue('bd-4', { priority: 'P1', created_at: '2026-01-01' }),
    ].join('\n'),
  })
  await take(t, 'beads', '.beads')
  const { reader } = t.memory
  const of = (id: string) => reader.list('task').find((e) => (e.fields.attrs as { beads: string }).beads === id)!
  expect(of('bd-1').fields.attrs).toEqual({ beads: 'bd-1', status: 'open', priority: 3, created_by: 'ana', owner: 'ben@shop.example', spec_id: 'cart', body: 'All of it', needs: 'a, b', score: 7, pinned: true, metadata: { pr: 12, by: ['ben'] } }) // biome-ignore format: one record
  const context = { ...t, session: undefined, agent: 'test' } as unknown as ToolContext
  const told: string[] = []
  for (const _ of Array(4)) {
    const { text } = (await next.run(context, {})) as { text: string }
    told.push(text.split('\n')[0]!)
    t.act([['complete', { ref: /task:\S+/.exec(text)![0] }]])
  }
  expect(told).toEqual(['Issue bd-4', 'Issue bd-3', 'Issue bd-1', 'Issue bd-2 (in_progress, ana)'])
})

test('[A3] the export of claude-mem: observations become learnings, decisions proposals, the rest chunks', async () => {
  const t = openTestMemory()
  const observation = (type: string, title: string) => ({ id: 1, memory_session_id: 's', type, title, subtitle: 'short', facts: '["one","two"]', narrative: 'The long form.', concepts: '["gotcha"]', files_read: '["src/a.ts"]', files_modified: null, created_at_epoch: 1760000000000 }) // biome-ignore format: one record
  lay(t.dir, {
    'mem.json': {
      exportedAt: '2026-01-01', query: '', totalObservations: 2,
      observations: [observation('discovery', 'WAL needs shared memory'), observation('decision', 'Use WAL'), 7],
      sessions: [{ id: 1 }],
      summaries: [{ memory_session_id: 's', request: 'make it fast', learned: 'locks matter', created_at_epoch: 1760000000 }],
      prompts: [{ content_session_id: 's', prompt_number: 1, prompt_text: 'Why is it slow?', created_at_epoch: 1760000000000 }],
    }, // biome-ignore format: one file
  })
  const report = await take(t, 'claude-mem', 'mem.json')
  const learned = t.get('learning:WAL needs shared memory')!
  expect(learned.fields).toMatchObject({ body: 'short\n\nThe long form.\n\n- one\n- two', topics: ['gotcha'], attrs: { type: 'discovery', files: 'src/a.ts' } }) // biome-ignore format: one record
  expect(t.get('decision:Use WAL')!.fields.standing).toBe('proposed')
  expect(t.memory.reader.list('chunk').map((c) => `${c.fields.speaker} ${c.fields.date}`).sort()).toEqual(['summary 2025-10-09T08:53:20.000Z', 'user 2025-10-09T08:53:20.000Z']) // biome-ignore format: one list
  expect(report.unplaced).toHaveLength(1)
  await again(t, 'claude-mem', 'mem.json')
})

test('[H1] sessions that SpecStory wrote down become turns with speaker and time, without tools and thoughts', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.specstory/history/2026-07-13_13-40-49Z-fix.md': `<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-07-13 13:40:49Z

<!-- Claude Code Session 5c7d5c23-0691-4467-b98e-0fb865b4a639 (2026-07-13 13:40:49Z) -->

_**User (2026-07-13 13:40:49Z)**_

fix the flaky test in app.py

---

_**Agent (claude-opus-4-8 2026-07-13 13:40:56Z)**_

<think>secret thoughts</think>
I'll look at the test first.

<tool-use data-tool-type="shell" data-tool-name="Bash"><details>
<summary>Tool use: **Bash**</summary>
1 failed, 3 passed
</details></tool-use>

_**Agent (claude-opus-4-8) (sidechain)**_

words of a subagent
`,
    '.specstory/history/notes.md': 'no session\n',
    '.specstory/history/old.md':
      '<!-- Generated by SpecStory -->\n\n# Cart (2026-07-12 09:00:00Z)\n\n_**User**_\n\ncount the cart\n',
  })
  await importTool.run(t, { format: 'specstory' })
  expect(t.memory.reader.list('turn').map((c) => `${c.fields.speaker} ${c.fields.date} ${c.fields.content}`).sort()).toEqual([
    "specstory 2026-07-13T13:40:56.000Z I'll look at the test first.",
    'user 2026-07-12T09:00:00.000Z count the cart',
    'user 2026-07-13T13:40:49.000Z fix the flaky test in app.py',
  ]) // biome-ignore format: one list
  const before = t.rows()
  await importTool.run(t, { format: 'specstory' })
  expect(t.rows()).toBe(before)
})

test.each(['decisions', 'basic-memory', 'beads', 'claude-mem', 'specstory'])(
  '[A1] %s refuses what it cannot read, follows no link, and writes nothing then',
  async (format) => {
    const t = openTestMemory()
    mkdirSync(join(t.dir, 'd'))
    symlinkSync('/etc/hostname', join(t.dir, 'd/issues.jsonl'))
    symlinkSync('/etc/hostname', join(t.dir, 'd/a.md'))
    symlinkSync('.', join(t.dir, 'd/loop'))
    lay(t.dir, { 'bad.json': '{"a": ' })
    const before = t.rows()
    for (const path of ['nowhere', 'd', 'd/a.md', 'bad.json', '/dev/zero']) {
      const run = async () => importTool.run(t, { format, path: path.startsWith('/') ? path : join(t.dir, path) })
      if (format === 'decisions' && path === 'bad.json') await run()
      else if (format === 'basic-memory' && path === 'bad.json') continue
      else await expect(run(), path).rejects.toMatchObject({ name: 'UserError' })
    }
    expect(t.rows()).toBe(before)
  },
)

test("[G3] the wish of Claude Code's note is its description where the text begins with a story", async () => {
  const t = openTestMemory()
  const note = (description: string, text: string) =>
    `---\nname: feedback-a\n${description}type: feedback\n---\n\n${text}\n`
  lay(t.dir, {
    'memory/a.md': note('description: "Never hide a \\"lost\\" coin"\n', 'On Monday a coin was gone for two days.'),
    'memory/b.md': note('description: on migrations\n', 'Ask before a migration runs.\n\nOne locked the shop.'),
    'memory/c.md': note('', 'Short answers are liked.'),
  })
  await take(t, 'notes', 'memory')
  const told = t.memory.reader.list('fact', { all: true }).map(({ fields: f }) => [f.fact, f.context])
  expect(told.sort()).toEqual([
    ['Ask before a migration runs', 'One locked the shop.'],
    ['Never hide a "lost" coin', 'On Monday a coin was gone for two days.'],
    ['Short answers are liked', undefined],
  ])
  const before = t.rows()
  expect((await take(t, 'notes', 'memory')).batches).toEqual([])
  expect(t.rows()).toBe(before)
})

test('[A3] of Codex, groups of other folders are counted, and a page of the project is read; a line of an index stays whose file is gone', async () => {
  const t = openTestMemory()
  const group = (cwd: string, known: string) =>
    `# Task Group: x\n\napplies_to: cwd=${cwd};\n\n## Reusable knowledge\n\n- ${known}\n\n`
  lay(t.dir, {
    '.codex/memories/MEMORY.md': group('/home/ana/shop', 'The cart rounds once.'),
    'codex/MEMORY.md': group('/srv/a', 'Of a.') + group('/srv/b', 'Of b.'),
    'memory/MEMORY.md': '- [Cups](cups.md) — clay\n- [Tea](tea.md) — Assam from Ana only\n',
    'memory/cups.md': '---\nname: cups\ndescription: Cups are of clay\ntype: project\n---\nOld ones.\n',
  })
  await take(t, 'notes', '.codex/memories/MEMORY.md')
  expect(t.memory.reader.list('learning').map((e) => e.name)).toEqual(['The cart rounds once'])
  const others = 'codex/MEMORY.md groups of tasks: 2 — their `cwd` is another folder'
  expect(unplaced(await take(t, 'notes', 'codex/MEMORY.md'))).toEqual([others])
  await take(t, 'notes', 'memory')
  const texts = t.memory.reader.list('chunk').map((c) => JSON.stringify(c.fields))
  expect(texts.join()).toContain('Assam from Ana only')
  expect(texts.join()).not.toContain('clay')
})

test("[A3] the why of a note keeps globs and bold words, and a page of Codex's its groups behind a title", async () => {
  const t = openTestMemory()
  const tests = 'Tests stand in `web/**/*.spec.ts` and `api/**`, **not** in `lib/**`.'
  lay(t.dir, {
    'memory/a.md': `---\nname: a\ntype: feedback\n---\n\nKeep tests beside the code.\n\n**Why:** ${tests}\n`,
    '.codex/memories/MEMORY.md': `# What this shop remembers

# Task Group: the till's receipts

applies_to: cwd=/home/ana/shop

## User preferences

- when they ask for it, print the item numbers too [Task 1]

## Reusable knowledge

- The printer wants CRLF. [Task 1]

## Failures and how to do differently

- Printing twice jams -> wait for the first [Task 1]
- The total was 0; look at the whole way: cart -> tax -> till. [Task 1]
`,
    '.codex/memories/raw_memories.md': 'raw\n',
  })
  await take(t, 'notes', 'memory')
  expect(t.get('fact:Keep tests beside the code')!.fields.context).toBe(`Why: ${tests}`)
  const report = await take(t, 'notes', '.codex/memories')
  const about = "Task group: the till's receipts"
  expect(t.get('fact:when they ask for it, print the item numbers too')!.fields.context).toBe(about)
  expect(t.memory.reader.list('learning').map((e) => e.fields.body).sort()).toEqual([
    `The printer wants CRLF\n\n${about}`,
    `The total was 0; look at the whole way: cart -> tax -> till\n\n${about}`,
  ]) // biome-ignore format: one list
  expect(t.memory.reader.list('failed-approach').map((e) => [e.fields.approach, e.fields.lesson])).toEqual([['Printing twice jams', 'wait for the first']]) // biome-ignore format: one list
  expect(unplaced(report)[0]).toContain('other pages: 1')
  await again(t, 'notes', '.codex/memories')
})

test('[A3] what stands above the groups of Codex is of no group', async () => {
  const t = openTestMemory()
  const above =
    '# All\n\n## User preferences\n\n- always print the total\n\n## Reusable knowledge\n\n- The till counts cents\n\n'
  lay(t.dir, { '.codex/memories/MEMORY.md': `${above}# Task Group: x\n\n## Reusable knowledge\n\n- It rounds once\n` })
  await take(t, 'notes', '.codex/memories/MEMORY.md')
  expect(t.get('fact:always print the total')!.fields.context).toBeUndefined()
  const bodies = t.memory.reader.list('learning').map((e) => e.fields.body)
  expect(bodies.toSorted()).toEqual(['It rounds once\n\nTask group: x', 'The till counts cents'])
})

test('[A3] a link of basic-memory to a folder leads to no note, though one has no permalink', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'bm/a.md': '# a\n\n- [x] a\n- [fact] one\n- uses [[shop/]]\n', 'bm/b.md': '# b\n\n- [fact] two\n' })
  expect(unplaced(await take(t, 'basic-memory', 'bm'))).toEqual(['bm/a.md:5 uses [[shop/]] — there is no such note'])
})
