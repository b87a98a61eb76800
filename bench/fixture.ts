/** Fifty pieces of knowledge as a project of ours would hold them: what the token benchmark prints in every format. */
type Fields = Readonly<Record<string, string | number | boolean | readonly string[]>>
export type Sample = readonly [kind: string, fields: Fields]

const decision = (name: string, description: string, more: Fields = {}): Sample => [
  'decision',
  { name, description, ...more },
]
const principle = (name: string, description: string, confidence: number, tags: readonly string[]): Sample => [
  'principle',
  { name, description, confidence, tags },
]
const fact = (text: string, category: string): Sample => ['fact', { text, category }]
const file = (path: string, purpose: string, more: Fields = {}): Sample => ['file', { path, purpose, ...more }]
const learning = (title: string, body: string, severity: string, stack: readonly string[]): Sample => [
  'learning',
  { title, body, severity, stack },
]

export const SAMPLES: readonly Sample[] = [
  decision('use-sqlite', 'Keep everything in one SQLite file per project', {
    rationale: 'No daemon, no port; a writer holds the lock for less than a millisecond',
    optionsConsidered: ['LMDB', 'PGlite', 'a local daemon'],
    impact: 9,
    confidence: 0.95,
    tags: ['storage', 'architecture'],
  }),
  decision('doc-per-entity', 'One Yjs document for each entity, not one for the project', {
    rationale: 'A single document costs 0.6 s and 110 MB to open at ten thousand entities',
    revisitTrigger: 'an engine that opens lazily and still speaks to the hub',
    impact: 8,
    confidence: 0.9,
    tags: ['crdt', 'storage'],
  }),
  decision('doorbell-file', 'Wake the other processes by a byte written beside the store', {
    rationale: 'Watching the write-ahead log itself is racy',
    impact: 6,
    confidence: 0.9,
    locations: ['src/store/watch.ts:11'],
    tags: ['coordination'],
  }),
  decision('own-scheme', 'Write the query language ourselves', {
    rationale: 'Every library that was tried could be escaped to Function or process',
    optionsConsidered: ['LIPS', 'biwascheme', 'quickjs'],
    impact: 8,
    tags: ['discover', 'security'],
  }),
  decision('node-sqlite', 'node:sqlite instead of a native addon', { impact: 5, confidence: 0.8, tags: ['runtime'] }),
  decision('commands-load-late', 'Each command is imported when it is called', {
    rationale: 'Start-up pays for one command',
    impact: 4,
    tags: ['startup'],
  }),
  decision('store-in-git-dir', 'The store lies in the git common directory', {
    rationale: 'All worktrees share it and git clean spares it',
    impact: 7,
    tags: ['storage', 'git'],
  }),
  decision('content-ids', 'The same normalised text is the same entity', { impact: 5, tags: ['identity'] }),
  decision('full-sync', 'synchronous=FULL for knowledge', {
    rationale: 'An acknowledged batch is on disk',
    impact: 6,
    confidence: 0.85,
    tags: ['storage'],
  }),
  decision('no-embeddings-in-hooks', 'Hooks answer from the text index alone', { impact: 3, tags: ['hooks'] }),
  principle('plan-then-apply', 'All judgement happens before the first write', 0.95, ['architecture']),
  principle('say-only-what-was-said', 'A default is filled in when reading, never written', 0.9, ['crdt']),
  principle('errors-have-a-next-step', 'A refusal says what to do next', 0.9, ['ux']),
  principle('one-word-per-thing', 'Verb, file and documentation use the same word', 0.8, ['style']),
  principle('indexes-are-disposable', 'Whatever can be rebuilt from the log is not the truth', 0.95, ['storage']),
  principle('no-half-states', 'A batch happens entirely or not at all', 0.97, ['storage', 'architecture']),
  principle('measure-then-claim', 'A number in the documents comes from a command that prints it', 0.9, ['docs']),
  principle('late-imports', 'What a command does not need is not loaded', 0.85, ['startup']),
  principle('time-is-an-argument', 'Clock and chance are passed in, so that tests move them', 0.9, ['testing']),
  principle('bounded-everything', 'Each queue, loop and answer has a limit with a name', 0.85, ['security']),
  fact('Run the tests before every commit', 'workflow'),
  fact('Never use synchronous network calls in a handler', 'constraint'),
  fact('We use npm and commit package-lock.json', 'tool'),
  fact('Prefer named exports', 'convention'),
  fact('Tests are sentences about behaviour with a rule id', 'convention'),
  fact('SQL is written as SQL and lives in src/store', 'constraint'),
  fact('No dependency with an install script', 'constraint'),
  fact('A migration that was released is never edited', 'constraint'),
  fact('Commit messages say what changed for the user', 'workflow'),
  fact('Format with biome before pushing', 'tool'),
  file('src/store/db.ts', 'opens the SQLite file, owns the write lock', { tags: ['storage'] }),
  file('src/store/watch.ts', 'calls back after other processes have committed', { tags: ['coordination'] }),
  file('src/memory/plan.ts', 'turns actions into events or problems, without touching the store', { tags: ['writes'] }),
  file('src/memory/fold.ts', 'what the cells of an entity mean', { tags: ['crdt'] }),
  file('src/scheme/machine.ts', 'runs compiled expressions with budgets', { tags: ['discover', 'security'] }),
  file('src/surfaces/cli.ts', 'parses the command line and prints answers', { tags: ['surface'] }),
  file('bin/tidemark.js', 'starts on any Node and says what to install', { tags: ['startup'] }),
  file('src/crdt/cells.ts', 'keys and values inside a document', { tags: ['crdt'] }),
  learning(
    'Yjs decides concurrent map writes by client id',
    'Of two concurrent writes to one key the larger client id wins, whichever was later. Put a clock beside the value and decide when reading.',
    'critical',
    ['yjs'],
  ),
  learning(
    'The file system event of the write-ahead log comes too early',
    'It fires before the index of the log is updated, so a reader that looks at once sees the old state and then nothing more. Of 486 updates nine were never seen.',
    'high',
    ['sqlite', 'node'],
  ),
  learning(
    'Standard output carries protocol only',
    'Anything else that is printed there breaks the MCP client; diagnostics belong on standard error.',
    'high',
    ['mcp'],
  ),
  learning(
    'better-sqlite3 13 crashes on Node 20',
    'It ends with a segmentation fault, not with an error, because engines is only a warning. The entry file has to check the version first.',
    'medium',
    ['node', 'sqlite'],
  ),
  learning(
    'A copied store must get a new replica id',
    'Otherwise both copies write under one clock and diverge silently.',
    'critical',
    ['crdt'],
  ),
  learning('fs.watch on a removed file stays silent', 'Poll as well.', 'medium', ['node']),
  [
    'correction',
    {
      wrongBelief: 'S-expressions halve the tokens of JSON',
      rightBelief: 'They save a few percent over minified JSON',
    },
  ],
  [
    'correction',
    { wrongBelief: 'Compaction is safe while replicas are offline', rightBelief: 'Only below what all have seen' },
  ],
  [
    'failed-approach',
    { approach: 'One Y.Doc for the whole project', why: 'Every short process had to load all of it', tags: ['crdt'] },
  ],
  [
    'failed-approach',
    {
      approach: 'chokidar on the write-ahead log',
      why: '30 ms late, and six rows were never seen',
      tags: ['coordination'],
    },
  ],
  ['question', { question: 'How long does a real disk take for a flush?', tags: ['storage'] }],
  [
    'insight',
    { description: 'Most of what a compact notation saves is white space and repeated keys', tags: ['tokens'] },
  ],
]
