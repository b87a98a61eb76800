import { exampleBatches } from '../../scripts/docs.ts'
import type { TestMemory } from '../helpers.ts'

/** Records the example memory of docs/queries.md, a batch on each of its days. */
export function recordExample(m: TestMemory): void {
  for (const { day, batch } of exampleBatches()) {
    m.clock.now = Date.parse(`${day}T09:00:00Z`)
    m.act(batch, { session: 'example' })
  }
  m.clock.days(1)
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
