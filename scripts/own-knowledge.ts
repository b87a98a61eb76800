// What Tidemark knows of its own repository, in a clone of it: for the pictures of the dashboard. What its maintainers
// recorded, rules, pages and proposals are read from the clone. What no clone has is played: people, sessions, claims, observations, hooks.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemEnv } from '../src/base/env.ts'
import type { ActOptions } from '../src/engine/memory.ts'
import { findProject } from '../src/engine/store/project.ts'
import { openProject } from '../src/project/open.ts'
import { logHook } from '../src/session/hooks/log.ts'
import { importFrom } from '../src/travel/formats/import/index.ts'
import { receive } from '../src/travel/sync/receive.ts'
import { sessionsOf } from '../src/work/coordination/sessions.ts'
import { synthesize } from '../src/work/evolution/synthesis.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const REPOSITORY = join(import.meta.dirname, '..')

const NAMED = 'Use named exports, not default ones'
const SKILL = `---
name: release
---
# Release

## Execution steps

1. Run the whole test suite
2. Raise the version
3. Tag the commit
`

const LESSONS = [
  ['record-learning', { title: 'A Yjs transaction does not roll back', body: 'After a throwing `transact` the half-done write stays. All judgement goes into the plan, which is pure; what writes cannot fail.', severity: 'high', topics: ['crdt'] }],
  ['record-failed-approach', { approach: 'A nested map for each record under a natural key', outcome: 'In 200 of 200 concurrent creations one side was lost', lesson: 'Flat cells, and write only what was said', topics: ['crdt'] }],
  ['record-failed-approach', { approach: "Leaving the wait for the lock to SQLite", outcome: 'A process was deaf for 100 ms at a time', lesson: 'Wait in short random steps', topics: ['concurrency'] }],
  ['record-learning', { title: 'Unicode classes in a pattern cost a hook milliseconds', body: 'V8 builds their tables at first use. Texts of ASCII take a cheap pattern.', severity: 'medium', topics: ['startup'] }],
  ['record-correction', { wrongBelief: 'A model that asked for JSON also reads the text beside it', rightBelief: 'Clients show the model the JSON instead of the text', severity: 'high', topics: ['mcp'] }],
  ['record-principle', { name: 'plan-then-apply', description: 'All judgement is in a pure plan; what applies it cannot fail', confidence: 0.95, topics: ['crdt', 'storage'] }],
  ['record-principle', { name: 'one-declaration-per-thing', description: 'A kind, a verb or a tool is one file and one line in a list', confidence: 0.9, topics: ['architecture'] }],
  ['record-pattern', { name: 'tool-in-one-file', description: 'The same value serves MCP, the command line and HTTP', confidence: 0.9, location: 'src/surfaces/tools/list.ts:22', topics: ['architecture'] }],
  ['record-question', { question: 'Should a shared segment be compressed before git sees it?', context: 'git compresses it again', topics: ['sharing'] }],
  ['record-concept', { name: 'doorbell', description: 'A file beside the store that names the newest batch, so that other processes notice it' }],
  ['record-concept', { name: 'cell', description: 'One value of one field of one entity, written by one replica' }],
  ['record-mark', { name: 'first-public-version', note: 'before the dashboard' }],
] as const // biome-ignore format: a table

const LINKS = [
  ['implements', 'decision:one-yjs-document-per-entity', 'principle:plan-then-apply'],
  ['implements', 'decision:lists-are-cells-with-a-place', 'concept:cell'],
  ['based-on', 'decision:lists-are-cells-with-a-place', 'failed-approach:a-nested-map-for-each-record-under-a-natural-key'],
  ['based-on', 'decision:own-waiting-for-the-lock', "failed-approach:leaving-the-wait-for-the-lock-to-sqlite"],
  ['supports', 'learning:a-yjs-transaction-does-not-roll-back', 'principle:plan-then-apply'],
  ['implements', 'decision:tools-are-values-with-params', 'principle:one-declaration-per-thing'],
  ['implements', 'pattern:tool-in-one-file', 'decision:tools-are-values-with-params'],
  ['relates-to', 'decision:events-carry-what-they-overwrote', 'decision:stamps-carry-a-counter-that-never-resets'],
  ['depends-on', 'decision:events-carry-what-they-overwrote', 'decision:one-yjs-document-per-entity'],
  ['depends-on', 'decision:lists-are-cells-with-a-place', 'decision:stamps-carry-a-counter-that-never-resets'],
  ['depends-on', 'decision:a-delete-carries-what-it-had-seen', 'decision:events-carry-what-they-overwrote'],
  ['relates-to', 'decision:a-new-identity-for-a-file-that-moved', 'decision:a-forked-identity-is-given-up'],
  ['relates-to', 'decision:purge-leaves-a-nameless-tombstone', 'decision:ids-hash-twelve-digits'],
  ['depends-on', 'decision:vectors-are-made-by-whoever-asks', 'decision:static-table-as-the-built-in-embedder'],
  ['depends-on', 'decision:own-layout-of-the-token-table', 'decision:static-table-as-the-built-in-embedder'],
  ['relates-to', 'decision:relevance-by-the-best-ones-quality', 'decision:fts5-for-candidates-own-ranking'],
  ['depends-on', 'decision:deny-named-warn-implicit', 'decision:claims-in-the-plan'],
  ['relates-to', 'decision:overlap-errs-to-meet', 'decision:claims-in-the-plan'],
  ['depends-on', 'decision:liveness-by-process', 'decision:presence-is-rows-not-log'],
] as const // biome-ignore format: a table

/** What was seen of two operations, and what it cost. */
const SEEN = [
  ['release', 'forgot to generate the pages', '40 min'],
  ['release', 'tests were green on the first run', 'saved: 1 h'],
  ['release', 'forgot to generate the pages', '1 h'],
  ['implement', 'review found a race', '2 h'],
  ['release', 'forgot to generate the pages', '30 min'],
  ['implement', 'two agents split the work', 'saved: 3 h'],
] as const

/** Clones this repository to a directory, and fills its memory. Gives the id of a decision worth a page. */
export async function ownKnowledge(root: string): Promise<string> {
  execFileSync('git', ['clone', '-q', REPOSITORY, root])
  for (const [name, value] of [['user.name', 'Ana'], ['user.email', 'ana@example.org']] as const) // biome-ignore format: short
    execFileSync('git', ['-C', root, 'config', name, value])
  const project = findProject(root)
  let now = Date.now()
  const memory = openProject(project, { env: { ...systemEnv, now: () => now } })
  const ana = { user: 'Ana', agent: 'cli', by: 'person' } as const
  const claude = { user: 'Ana', agent: 'claude-code', session: 'claude-4b1f', by: 'agent' } as const
  const codex = { user: 'Ben', agent: 'codex', session: 'codex-77ac', by: 'agent' } as const
  const act = (at: number, actions: readonly (readonly unknown[])[], o: ActOptions) => {
    now = Math.max(now, Math.min(at, Date.now()))
    return memory.act(actions, o)
  }
  try {
    receive(memory, root)
    const skill = join(root, '.claude/skills/release/SKILL.md')
    mkdirSync(dirname(skill), { recursive: true })
    writeFileSync(skill, SKILL)
    now = Date.now() - 12 * DAY
    for (const [format, path] of [
      ['docs', 'docs'],
      ['claude-md', 'AGENTS.md'],
    ] as const)
      importFrom(memory, format, join(root, path), {
        root,
        source: `import ${path}`,
        standing: 'confirmed',
        ...ana,
      })
    for (const [operation, what, cost] of SEEN)
      act(now + 1.5 * DAY, [['record-observation', { operation, what, cost }]], codex)
    act(Date.now() - DAY, LESSONS, claude)
    act(
      now + 1,
      LINKS.map(([type, from, to]) => ['link-entities', { type, from, to }]),
      claude,
    )
    act(now + 1, [['record-fact', { fact: NAMED, category: 'convention' }]], ana)
    for (const scope of ['test/build-once.ts', 'vitest.config.ts', 'web/vite.config.ts'])
      act(
        now + 1,
        [['record-exception', { ruleBroken: NAMED, justification: 'its tool asks for a default', scope }]],
        codex,
      )
    synthesize(memory, project)
    act(Date.now() - 60 * MINUTE, [['start-goal', { originalAsk: 'People see and steer the memory on one local page', topics: ['dashboard'] }], ['start-activity', { description: 'The dashboard stays fast with a large memory', topics: ['dashboard'] }], ['start-task', { description: 'Fetch the review list page by page' }], ['add-task', { description: 'Measure opening with 100,000 entities' }]], claude) // biome-ignore format: a table
    const sessions = sessionsOf(memory)
    for (let day = 9; day > 0; day--)
      for (const [event, ms, tokens] of [
        ['SessionStart', 61, 1_240],
        ['UserPromptSubmit', 38, 180],
        ['PreToolUse', 33, 90],
      ] as const) {
        // biome-ignore format: a table
        now = Date.now() - day * DAY
        logHook(project, { at: now, client: 'claude-code', event, session: 'claude-4b1f', ms: ms + day })
        sessions.told('claude-4b1f', { door: event, ids: [], tokens: tokens - 37 * (day % 4), chars: 4 * tokens })
      }
    now = Date.now() - 6 * MINUTE
    sessions.start({ id: 'claude-4b1f', client: 'claude-code', user: 'Ana', root, branch: 'review-pages' })
    sessions.start({
      id: 'codex-77ac',
      client: 'codex',
      user: 'Ben',
      role: 'test-writer',
      root,
      branch: 'review-pages',
    })
    sessions.start({ id: 'claude-4b1f/reviewer', client: 'claude-code', user: 'Ana', parent: 'claude-4b1f', root })
    sessions.patch('claude-4b1f', { title: 'fetch the review list page by page', contextUsed: 62 })
    sessions.patch('codex-77ac', { title: 'tests for long lists first', contextUsed: 31 })
    sessions.patch('claude-4b1f/reviewer', { title: 'read the change of the review page', contextUsed: 12 })
    sessions.edited('claude-4b1f', 'web/src/pages/review.tsx')
    act(
      Date.now() - 4 * MINUTE,
      [['claim', { paths: ['web/src/pages/review.tsx', 'src/tools/review*.ts'], note: 'pages of the review list' }]],
      claude,
    )
    act(
      now + 1,
      [['claim', { paths: ['test/dashboard/**'], role: 'test-writer', note: 'writes the tests first' }]],
      codex,
    )
    act(now + 1, [['share-set', { key: 'review-answer', value: { limit: 50, offset: 0 } }]], claude)
    act(now + 1, [['share-set', { key: 'test-status', value: { passed: 41, failed: 2 } }]], codex)
    sessions.heartbeat('claude-4b1f')
    act(Date.now() - MINUTE, [['share-merge', { key: 'test-status', value: { failed: 0, passed: 43 } }]], codex)
  } finally {
    memory.close()
  }
  return 'decision:lists-are-cells-with-a-place'
}
