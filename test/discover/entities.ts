type Action = readonly [verb: string, args: Readonly<Record<string, unknown>>]

const decisions = [
  ['use-sqlite', 'One SQLite file per project', 'no daemon, no port', 9, ['storage']],
  ['doc-per-entity', 'One Yjs document per entity', 'a project-wide one opens in 0.6 s', 8, ['crdt']],
  ['doorbell-file', 'Wake other processes through a file', 'watching the WAL is racy', 6, ['coordination']],
  ['own-scheme', 'Write the query language ourselves', 'libraries could be escaped', 8, ['discover']],
  ['no-orm', 'Write SQL as SQL', 'six tables need no mapper', 3, ['storage']],
  ['five-tools', 'Five MCP tools and no more', 'every tool costs tokens in each session', 7, ['mcp']],
  ['immutable-segments', 'Log segments in git are never modified', 'branches never conflict', 8, ['git', 'sync']],
  ['loopback-only', 'Listen on 127.0.0.1 unless asked', 'a memory is private', 9, ['http', 'security']],
  ['hooks-never-fail', 'A hook exits 0 whatever happens', 'memory must not block work', 9, ['hooks']],
  ['esm-only', 'ES modules only', 'one format to test', 2, ['build']],
  ['no-telemetry', 'Send nothing anywhere', 'trust', 10, ['privacy']],
  ['one-file-per-kind', 'A kind is one file and one line in a list', 'adding one touches nothing else', 5, ['layout']],
] as const
const principles = [
  ['plan-then-apply', 'All judgement happens before the first write', 0.95, ['architecture']],
  ['say-only-what-was-said', 'Defaults are filled in when reading', 0.9, ['crdt']],
  ['errors-are-data', 'A mistake in a query is a value', 0.9, ['discover']],
  ['time-is-an-argument', 'Clocks and randomness are passed in', 0.95, ['tests']],
  ['uniqueness-in-the-id', 'The id decides what is the same', 0.9, ['identity']],
  ['hints-with-errors', 'Every refusal says what to do next', 0.85, ['ux']],
  ['surfaces-translate', 'Surfaces translate and decide nothing', 0.9, ['layers']],
  ['limits-have-names', 'A limit is a constant with its story', 0.8, ['style']],
  ['measure-first', 'No claim without a benchmark', 0.9, ['process']],
  ['small-files', 'Look for the second idea at 400 lines', 0.7, ['style']],
  ['no-half-states', 'Synchronous from plan to commit', 0.95, ['storage']],
  ['ports-need-two', 'A port exists where two backends do', 0.8, ['architecture']],
] as const
const facts = [
  ['Run the type checker before committing', 'workflow'],
  ['Use npm for installs', 'tool'],
  ['Never use sleeps in tests', 'constraint'],
  ['Prefer functions over classes', 'convention'],
  ['Test names begin with the rule', 'convention'],
  ['Imports go downward only', 'constraint'],
  ['Commit own paths only', 'workflow'],
  ['Errors carry a hint', 'pattern'],
  ['Biome formats everything', 'tool'],
  ['Keep lines under 120 characters', 'convention'],
] as const
const learnings = [
  ['Stdout carries protocol only', 'Anything else printed there breaks the client.', 'high'],
  ['FTS5 delete needs the old row', 'A contentless index forgets nothing by itself.', 'medium'],
  ['Yjs has no rollback', 'A throwing transaction leaves half a write behind.', 'critical'],
  ['fs.watch may report twice', 'Compare the data version instead of counting.', 'low'],
  ['JSON.parse keeps __proto__', 'It is an own key; assigning it is not.', 'high'],
  ['Lone surrogates change in transport', 'Refuse them at the gate.', 'medium'],
] as const
const files = [
  ['src/engine/write/plan.ts', 'Plans a batch without writing', ['startPlan', 'Planning']],
  ['src/engine/log/fold.ts', 'Folds cells into an entity', ['fold']],
  ['src/engine/store/db.ts', 'Opens SQLite and its locks', ['openDb']],
  ['src/project/discover/discover.ts', 'Evaluates queries', ['discover']],
  ['src/project/verbs/undo.ts', 'Takes batches back', ['undo']],
] as const
const questions = [
  ['Does the hub need Redis?', ['hub']],
  ['How long may a hook take?', ['hooks']],
  ['Which embedder is the default?', ['recall']],
  ['Is one store per worktree wanted?', ['git']],
  ['Do we need a REPL?', ['discover']],
] as const

/** Fifty pieces of knowledge as a project of ours holds them; every text is short. */
export const ENTITIES: readonly Action[] = [
  ...decisions.map(
    ([name, description, rationale, impact, topics]): Action => [
      'record-decision',
      { name, description, rationale, impact, topics },
    ],
  ),
  ...principles.map(
    ([name, description, confidence, tags]): Action => ['record-principle', { name, description, confidence, tags }],
  ),
  ...facts.map(([fact, category]): Action => ['record-fact', { fact, category }]),
  ...learnings.map(([title, body, severity]): Action => ['record-learning', { title, body, severity }]),
  ...files.map(([path, summary, importantSymbols]): Action => ['record-file', { path, summary, importantSymbols }]),
  ...questions.map(([question, topics]): Action => ['record-question', { question, topics }]),
]
