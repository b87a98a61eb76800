import type { TestMemory } from '../helpers.ts'

/** The example memory of docs/queries.md: one batch a day. */
export const EXAMPLE: readonly (readonly [verb: string, args: Record<string, unknown>])[][] = [
  [
    [
      'record-principle',
      {
        name: 'wrong-impossible-through-structure',
        description: 'Make invalid states structurally impossible',
        confidence: 0.95,
        locations: ['README.md:12', 'CLAUDE.md:234'],
        tags: ['architecture'],
      },
    ],
    ['record-concept', { name: 'world-state-tree', definition: 'The one tree that holds the state of the world' }],
    ['record-principle', { name: 'relief-driven-development', confidence: 0.7, tags: ['process'] }],
  ],
  [
    [
      'record-principle',
      {
        name: 'contagious-materialization',
        description: 'Syncing spreads from root automatically',
        confidence: 0.95,
        locations: ['plexus/README.md:28'],
        evidence: ['tested-in-production', 'documented-extensively'],
        tags: ['plexus', 'sync'],
      },
    ],
    [
      'link-entities',
      {
        from: 'contagious-materialization',
        to: 'world-state-tree',
        type: 'implements',
        description: 'Root materialization triggers child sync',
      },
    ],
    [
      'record-pattern',
      {
        name: 'plexus-model-with-decorators',
        type: 'plexus-model',
        description: 'Class extends PlexusModel with @syncing decorators',
        location: 'plexus/src/PlexusModel.ts:15',
        confidence: 0.95,
        tags: ['plexus', 'pattern'],
      },
    ],
    [
      'record-file-understanding',
      {
        path: 'plexus/src/PlexusModel.ts',
        hash: 'abc123',
        summary: 'Base class for all Plexus entities',
        concepts: ['decorators', 'CRDT', 'reactivity'],
        importantSymbols: ['PlexusModel', '@syncing'],
        relatedFiles: ['plexus/src/Plexus.ts'],
      },
    ],
    [
      'record-decision',
      {
        name: 'use-stage3-decorators',
        description: 'Use Stage 3 TC39 decorators for Plexus tracking',
        rationale: 'Native browser support, type-safe, automatic tracking',
        status: 'active',
        impact: 9,
        locations: ['plexus/README.md:45'],
      },
    ],
  ],
  [
    [
      'record-file-understanding',
      {
        path: 'plexus/src/tracking.ts',
        summary: 'Records which fields a reader has touched',
        relatedFiles: ['plexus/src/PlexusModel.ts'],
      },
    ],
    [
      'record-decision',
      { name: 'use-legacy-decorators', description: 'TypeScript experimental decorators', impact: 4 },
    ],
    ['supersede', { old: 'use-legacy-decorators', new: 'use-stage3-decorators', reason: 'the standard has settled' }],
    ['record-fact', { fact: 'Run the type checker before committing', category: 'workflow' }],
    ['record-question', { question: 'Does emancipation survive a reload?', topics: ['plexus'] }],
  ],
]

/** Records the example, a batch a day from the first of November 2026 on. */
export function recordExample(m: TestMemory): void {
  m.clock.now = Date.UTC(2026, 10, 1, 9)
  for (const batch of EXAMPLE) {
    m.act(batch, { session: 'example' })
    m.clock.days(1)
  }
}

/** One of every kind, recorded from its own example, and what the examples of verbs refer to. */
export function recordOneOfEach(m: TestMemory): void {
  const kinds = m.memory
    .registry()
    .kinds()
    .filter((k) => !k.internal)
  m.act(kinds.map((k) => [`record-${k.name}`, k.example]))
  m.act([
    ['record-decision', { name: 'use-json-files', description: 'One JSON file per entity' }],
    ['record-question', { question: 'Does the hub need Redis?' }],
    ['link-entities', { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports', confidence: 0.9 }],
    ['propose', { action: ['record-fact', { fact: 'Use pnpm for installs', category: 'tool' }], evidence: 'said so' }],
  ])
}
