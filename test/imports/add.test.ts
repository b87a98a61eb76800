import { expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay, take, unplaced } from './helpers.ts'

const learning = (id: string, title: string, more: object = {}) => ({
  id,
  title,
  body: `${title}: the long form.`,
  scope: 'project',
  stack: ['node'],
  category: 'technical',
  severity: 'high',
  source: 'Shop',
  date: '2026-03-01',
  classified_by: 'agent',
  checkpoint_type: 'retro',
  ...more,
})

const CONFIG = {
  $schema: 'https://example.org/config.schema.json',
  version: '1.0.0',
  project: { name: 'Shop', description: 'Sells tea', author: 'ana' },
  maturity: { level: 'alpha', promoted_date: '2026-02-03' },
  planning: { wip_limit: 3, current_cycle: null, cycle_history: [] },
  quality: { coverage_threshold: 80, e2e_required: false, lint: { backend: 'ruff', frontend: null } },
  environments: { local: { run: 'make up', url: null } },
  source_control: { branching: 'trunk', protected_branches: ['main', 'release'] },
  extras: { region: 'eu', api_key: 'abcdef1234567' },
}

const project = (over: Record<string, unknown> = {}) => ({
  '.add/learnings.json': {
    version: '1',
    entries: [
      learning('L-001', 'Pin the base image'),
      learning('L-002', 'Cache needs a key', { severity: 'blocker', hint: { pr: 12 } }),
    ],
  },
  '.add/learnings-archive.json': { archived: [learning('L-000', 'Old quirk')], archived_on: '2026-04-01' },
  '.add/learnings.md':
    '# Learnings\n\n## Anti-Patterns\n\n- **[high] Pin the base image** (L-001, 2026-03-01)\n  The short form.\n\n- **[low] Only in the page** (L-050, 2026-03-02)\n  Somebody wrote it by hand.\n\n- A plain remark. With a second sentence.\n\n---\n*3 entries.*\n',
  '.add/config.json': CONFIG,
  '.add/retro-scores.json': {
    entries: [
      {
        date: '2026-03-05',
        collab_score: 7,
        add_effectiveness: 8.5,
        swarm_effectiveness: 6,
        retro_file: '.add/retros/r.md',
        context: 'solo',
        mood: 'fine',
      },
      { collab_score: 1 },
    ],
  },
  '.add/add-feedback.md':
    '# Feedback\n\n## 2026-03-06\n- **Suggestion:** Skip empty tables. They are noise.\n- **Retro:** .add/retros/r.md\n',
  '.add/observations.md':
    '# Observations\n2026-03-07 10:00 | deploy | smoke test skipped \\| forgotten | cost: 2 h\n2026-03-07 10:00 | deploy | smoke test skipped \\| forgotten | cost: 2 h\nhello\n',
  '.add/handoff.md':
    '# Session Handoff\n**Written:** 2026-03-08 17:30\n**Session context:** 80% used\n\n## In Progress\n- Checkout\n  page\n\n## Decisions Made\n1. Use Stripe\n\n## Blockers\nNone\n\n## Next Steps\n- [ ] Test it\n\n## Notes\nThe cart is slow.\n',
  '.add/away-log.md': 'x',
  ...over,
})

const named = (t: TestMemory, kind: string) =>
  t.memory.reader
    .list(kind, { all: true })
    .map((e) => e.name)
    .sort()

test('the process files of a project become learnings, facts, scores, insights, observations and a handoff', async () => {
  const t = openTestMemory()
  lay(t.dir, project())
  const report = await take(t, 'add', '.')

  expect(named(t, 'learning')).toEqual([
    'A plain remark.',
    'Cache needs a key',
    'Old quirk',
    'Only in the page',
    'Pin the base image',
  ])
  expect(t.get('learning:pin-the-base-image')?.fields).toMatchObject({
    title: 'Pin the base image',
    body: 'Pin the base image: the long form.',
    scope: 'project',
    stack: ['node'],
    category: 'technical',
    severity: 'high',
    source: 'Shop',
    date: '2026-03-01',
    classifiedBy: 'agent',
    checkpointType: 'retro',
    attrs: { addId: 'L-001' },
  })
  expect(t.get('learning:cache-needs-a-key')?.fields.attrs).toEqual({
    addId: 'L-002',
    severity: 'blocker',
    hint: { pr: 12 },
  })
  expect(t.get('learning:old-quirk')?.fields.retired).toBe('archived in .add/learnings-archive.json')
  expect(t.get('learning:only-in-the-page')?.fields).toMatchObject({
    severity: 'low',
    category: 'anti-pattern',
    body: 'Somebody wrote it by hand.',
    attrs: { addId: 'L-050' },
    locations: ['.add/learnings.md:8'],
  })

  expect(
    t.memory.reader
      .list('fact')
      .map((e) => [e.fields.fact, e.fields.category, (e.fields.locations as string[])[0]])
      .sort(),
  ).toEqual([
    ['At most 3 pieces of work are in progress at once', 'constraint', '.add/config.json#planning.wip_limit'],
    ['Lint the backend with ruff', 'tool', '.add/config.json#quality.lint.backend'],
    [
      'Never push directly to protected branches: main, release',
      'constraint',
      '.add/config.json#source_control.protected_branches',
    ],
    ['Run in the environment local with: make up', 'tool', '.add/config.json#environments.local.run'],
    ['Test coverage must be at least 80 %', 'constraint', '.add/config.json#quality.coverage_threshold'],
    ['The branching strategy is trunk', 'workflow', '.add/config.json#source_control.branching'],
    ["The project's maturity level is alpha", 'workflow', '.add/config.json#maturity.level'],
  ])
  expect(t.get('concept:shop')?.fields).toMatchObject({
    definition: 'Sells tea',
    type: 'project',
    attrs: {
      author: 'ana',
      maturity: { promoted_date: '2026-02-03' },
      quality: { e2e_required: false },
      extras: { region: 'eu', api_key: '[redacted: credential]' },
    },
  })
  expect(t.memory.occurrences('abcdef1234567').filter((o) => o.count > 0)).toEqual([])

  expect(t.memory.reader.list('retro-score')[0]?.fields).toMatchObject({
    date: '2026-03-05',
    collab: 7,
    effectiveness: 8.5,
    swarm: 6,
    file: '.add/retros/r.md',
    context: 'solo',
    attrs: { mood: 'fine' },
  })
  expect(t.memory.reader.list('insight')[0]?.fields).toMatchObject({
    summary: 'Skip empty tables.',
    detail: 'Skip empty tables. They are noise.',
    category: 'suggestion',
    attrs: { date: '2026-03-06', retro: '.add/retros/r.md' },
  })
  expect(t.memory.reader.list('observation').map((e) => [e.fields.operation, e.fields.what, e.fields.cost])).toEqual([
    ['deploy', 'smoke test skipped | forgotten', 'cost: 2 h'],
    ['deploy', 'smoke test skipped | forgotten', 'cost: 2 h'],
  ])
  expect(t.memory.reader.list('handoff')[0]?.fields).toMatchObject({
    title: 'ADD handoff',
    written: '2026-03-08T17:30:00.000Z',
    contextUsed: '80% used',
    inProgress: ['Checkout page'],
    decisionsMade: ['Use Stripe'],
    blockers: ['None'],
    nextSteps: ['Test it'],
    body: '## Notes\nThe cart is slow.',
  })

  expect(unplaced(report)).toEqual([
    '.add/learnings-archive.json archived_on — said of the file and of no entry',
    '.add/config.json 4 settings without a value — they say nothing',
    '.add/retro-scores.json#entries[1] {"collab_score":1} — not an entry with a date',
    '.add/observations.md 1 lines — not in the form of an observation',
    '.add/handoff.md 1 check marks — steps are kept without them',
    '.add/away-log.md a file — none of the files that are read',
  ])
  expect(report.redacted).toEqual([{ where: '.add/config.json#project', category: 'credential' }])
})

test('a second run writes nothing, from the root or from the folder itself', async () => {
  const t = openTestMemory()
  lay(t.dir, project())
  await take(t, 'add', '.')
  const cursor = t.memory.cursor
  expect(await take(t, 'add', '.')).toMatchObject({ created: 0, updated: 0, batches: [], gone: [], kept: [] })
  expect(await take(t, 'add', '.add')).toMatchObject({ created: 0, updated: 0, batches: [], source: 'import add .add' })
  expect(t.memory.cursor).toBe(cursor)
})

test('a changed source updates: texts by their id, settings by supersession, the archive by retirement and return', async () => {
  const t = openTestMemory()
  lay(t.dir, project())
  await take(t, 'add', '.')
  lay(t.dir, {
    '.add/learnings.json': { entries: [learning('L-000', 'Old quirk'), learning('L-002', 'The cache needs two keys')] },
    '.add/learnings-archive.json': { archived: [learning('L-001', 'Pin the base image')] },
    '.add/config.json': { ...CONFIG, maturity: { level: 'beta' }, environments: {} },
  })
  const report = await take(t, 'add', '.')
  expect(t.get('learning:pin-the-base-image')?.fields.retired).toBeDefined()
  expect(t.get('learning:old-quirk')?.fields.retired).toBeUndefined()
  expect(t.get('learning:cache-needs-a-key')?.name).toBe('The cache needs two keys')
  const facts = t.memory.reader.list('fact', { all: true })
  const level = (l: string) => facts.find((e) => e.name.endsWith(`maturity level is ${l}`))!
  expect(t.memory.reader.links('from', level('beta').id).map((l) => [l.type, l.to])).toEqual([
    ['supersedes', level('alpha').id],
  ])
  expect(report.gone.map((g) => `${g.what} — ${g.why}`)).toEqual([
    expect.stringMatching(/^Run in the environment local .* retired$/),
  ])
  expect((await take(t, 'add', '.')).batches).toEqual([])

  lay(t.dir, { '.add/config.json': CONFIG })
  await take(t, 'add', '.')
  expect(t.memory.reader.links('to', level('alpha').id)).toEqual([])
  expect(t.get(level('beta').id)?.fields.retired).toMatch(/^no longer in /)
  expect((await take(t, 'add', '.')).batches).toEqual([])
})

test('what was changed, retired or deleted here stays so until the source changes', async () => {
  const t = openTestMemory()
  lay(t.dir, project())
  await take(t, 'add', '.')
  t.act([
    ['record-learning', { ref: 'learning:pin-the-base-image', severity: 'low', stack: { remove: ['node'] } }],
    ['retire', { ref: 'learning:only-in-the-page', reason: 'fixed' }],
    ['delete-learning', { ref: 'learning:cache-needs-a-key' }],
    ['restore', { ref: 'learning:old-quirk' }],
  ])
  const report = await take(t, 'add', '.')
  expect(report.batches).toEqual([])
  expect(report.kept.map((k) => `${k.what} — ${k.why}`)).toEqual([
    'learning Pin the base image — stack was changed here and not in the source',
    'learning Pin the base image — severity was changed here and not in the source',
    expect.stringMatching(/^learning Cache needs a key — deleted here/),
    'learning Old quirk — restored here',
    'learning Only in the page — retired here',
  ])
  lay(t.dir, {
    '.add/learnings.json': { entries: [learning('L-001', 'Pin the base image', { severity: 'critical' })] },
  })
  await take(t, 'add', '.')
  expect(t.get('learning:pin-the-base-image')?.fields.severity).toBe('critical')
})

test('files that are not there, broken or odd are told; what is missing from a broken source is not held to be gone', async () => {
  const t = openTestMemory()
  lay(t.dir, project())
  await take(t, 'add', '.')
  lay(t.dir, {
    '.add/config.json': '{ broken',
    '.add/retro-scores.json': '[3]',
    '.add/learnings-archive.json': { archived: 'x' },
  })
  const report = await take(t, 'add', '.')
  expect(report.gone).toEqual([])
  expect(unplaced(report)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^\.add\/config\.json the whole file — not JSON/),
      '.add/retro-scores.json#entries[0] 3 — not an entry with a date',
      '.add/learnings-archive.json the whole file — it has no list "archived"',
    ]),
  )
  expect(t.memory.reader.list('fact')).toHaveLength(7)
})

test('two entries of one title are two learnings; an id used twice is told', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.add/learnings.json': {
      entries: [learning('L-1', 'Same'), learning('L-2', 'same'), learning('L-1', 'Other'), { id: 'L-3' }],
    },
  })
  const report = await take(t, 'add', '.')
  expect(named(t, 'learning')).toEqual(['Same', 'same (L-2)'])
  expect(unplaced(report)).toEqual([
    '.add/learnings.json#L-1 Other — the id is taken by .add/learnings.json#L-1, which holds',
    '.add/learnings.json#L-3 {"id":"L-3"} — not an entry with a title',
  ])
  expect((await take(t, 'add', '.')).batches).toEqual([])
})

test('the ids of two projects do not meet', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'a/.add/learnings.json': { entries: [learning('L-1', 'Of a')] },
    'b/.add/learnings.json': { entries: [learning('L-1', 'Of b')] },
  })
  await take(t, 'add', 'a')
  await take(t, 'add', 'b')
  expect(named(t, 'learning')).toEqual(['Of a', 'Of b'])
})

test('a long handoff keeps its next steps and its newest sections; every section is whole in chunks, replaced with the file', async () => {
  const t = openTestMemory()
  const section = (n: number) =>
    `## Part ${n}\n${Array.from({ length: 30 }, (_, i) => `line ${i} of part ${n} ${'x'.repeat(200)}`).join('\n')}\n`
  const handoff = (parts: number[]) =>
    `# Work (updated 2026-05-01)\n\n${parts.map(section).join('\n')}\n## Next candidates\n- Ship\n`
  lay(t.dir, { '.add/handoff.md': handoff([1, 2, 3, 3]) })
  await take(t, 'add', '.')
  const it = t.memory.reader.list('handoff')[0]!
  expect(it.fields).toMatchObject({
    nextSteps: ['Ship'],
    written: '2026-05-01',
    attrs: { heading: 'Work (updated 2026-05-01)' },
  })
  expect(String(it.fields.body).split('\n').length).toBeLessThanOrEqual(54)
  const chunks = () =>
    t.memory.reader.list('chunk').sort((a, b) => Number(a.fields.position) - Number(b.fields.position))
  const text = (name: string) =>
    chunks()
      .filter((c) => c.fields.section === name)
      .map((c) => c.fields.content)
      .join('')
  expect(text('Part 2')).toBe(section(2).trim())
  expect(text('Part 3 (2)')).toBe(section(3).trim())
  expect(t.memory.reader.links('to', it.id)).toHaveLength(chunks().length)
  expect((await take(t, 'add', '.')).batches).toEqual([])
  lay(t.dir, { '.add/handoff.md': handoff([7]) })
  await take(t, 'add', '.')
  expect(new Set(chunks().map((c) => c.fields.section))).toEqual(new Set(['Part 7']))
})

test('decisions, mutations and the swarm state are read, with the fields that other tools put there', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    '.add/decisions.md':
      '# Decisions\n\n2026-02-16 14:30 | Use JWT over session cookies. They are lighter. | stateless | alpha | auth\n- 2026-02-17 | RS256 \\| not HS256\n\nSome prose.\n',
    '.add/mutations.md':
      '# Process Mutations\n\n## M-001 (2026-02-16, approved)\n**Trigger:** 3/5 deploys skipped verification\n**Change:** `/add:deploy` step 3 now requires the smoke test\nto pass\n**Status:** Applied\n**Outcome:** Next 2 deploys verified\n**Owner:** ana\n\n## M-002\n**Trigger:** none\n',
    '.add/swarm-state.md':
      '# Swarm State\n\n## test-writer (2026-02-16 14:00)\nstatus: complete\nclaimed: specs/auth.md → tests/auth.test.ts\nresult: 12 tests written, all RED\nhandoff: ready for implementer\nbranch: feat/auth\n\n## implementer (2026-02-16 14:15)\nstatus: active\nclaimed: src/auth/\nresult: pending\ndepends-on: test-writer\n',
    '.add/config.json': { maturity: { level: 'alpha', evidence: ['no specs'], next: 'beta' } },
  })
  const report = await take(t, 'add', '.')
  expect(t.get('Use JWT over session cookies.')!.fields).toMatchObject({
    description: 'Use JWT over session cookies. They are lighter.',
    rationale: 'stateless | alpha | auth',
    attrs: { at: '2026-02-16 14:30' },
    locations: ['.add/decisions.md:3'],
  })
  expect(t.get('decision:RS256 | not HS256')!.fields.attrs).toEqual({ at: '2026-02-17' })
  expect(t.memory.reader.list('mutation').map((e) => e.fields)).toMatchObject([
    {
      change: '`/add:deploy` step 3 now requires the smoke test to pass',
      trigger: '3/5 deploys skipped verification',
      skill: '/add:deploy',
      outcome: 'Next 2 deploys verified',
      attrs: { addId: 'M-001', date: '2026-02-16', owner: 'ana', status: 'applied' },
    },
  ])
  expect(
    t.memory.reader
      .list('result')
      .map((e) => [e.fields.text, e.fields.outcome])
      .sort(),
  ).toEqual([
    ['implementer: src/auth/', 'active'],
    ['test-writer: 12 tests written, all RED', 'complete'],
  ])
  const writer = t.memory.reader.list('result').find((e) => e.name.startsWith('test-writer'))!
  expect(writer.fields.attrs).toMatchObject({ handoff: 'ready for implementer', branch: 'feat/auth' })
  expect(t.memory.reader.list('concept')[0]!.fields.attrs).toEqual({
    maturity: { evidence: ['no specs'], next: 'beta' },
  })
  expect(unplaced(report)).toEqual([
    '.add/decisions.md 1 lines — not in the form of a decision',
    '.add/mutations.md:11 M-002 — a mutation without a change',
  ])
  expect((await take(t, 'add', '.')).batches).toEqual([])
  lay(t.dir, {
    '.add/swarm-state.md': '# Swarm State\n\n## implementer (2026-02-16 14:15)\nstatus: complete\nresult: done\n',
  })
  await take(t, 'add', '.')
  expect(
    t.memory.reader
      .list('result')
      .map((e) => e.fields.text)
      .sort(),
  ).toEqual(['implementer: done', 'test-writer: 12 tests written, all RED'])
})
