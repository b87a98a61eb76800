import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reader } from '../src/engine/read/reader.ts'
import { ownTopics } from '../src/find/graph/topics.ts'
import type { Entity } from '../src/model/entity.ts'
import { KINDS } from '../src/model/kinds/index.ts'
import { createRegistry } from '../src/model/registry.ts'
import { RELATIONS } from '../src/model/relations.ts'
import { type Bench, median, timed } from './table.ts'

export const HALVES = ['tuned', 'held-back'] as const
const registry = createRegistry(KINDS, RELATIONS)
const reader = { registry: () => registry } as Reader

const decision = (description: string): Entity => ({
  ...{ id: 'decision:x', kind: 'decision', name: '', live: true, created: 0, updated: 0, version: 1, conflicts: [] },
  fields: { description },
})

/** A line is `topic, topic | statement | source`, with `-` for no topic; `# name` begins a domain. `held-back.txt` is never edited. */
export function judged(half: (typeof HALVES)[number]) {
  const text = readFileSync(join(import.meta.dirname, 'topics', `${half}.txt`), 'utf8')
  return text.split('\n').flatMap((line) => {
    const [labels, statement] = line.split(' | ')
    if (line.startsWith('#') || labels === undefined || statement === undefined) return []
    const wanted = labels === '-' ? [] : labels.split(', ')
    return [{ statement, wanted, found: ownTopics(reader, decision(statement)).map((t) => t.topic) }]
  })
}

export function figures(half: (typeof HALVES)[number]) {
  const all = judged(half)
  const sum = (of: (one: (typeof all)[number]) => number) => all.reduce((n, one) => n + of(one), 0)
  const right = sum(({ wanted, found }) => found.filter((t) => wanted.includes(t)).length)
  return {
    statements: all.length,
    precision: right / sum((one) => one.found.length),
    recall: right / sum((one) => one.wanted.length),
    silent: all.filter((one) => one.wanted.length > 0 && one.found.length === 0).length,
  }
}

export const bench: Bench = {
  name: 'topics',
  about: 'how many of the topics of a statement are found, and how many of those found are right',
  async run() {
    const ms = HALVES.flatMap((half) => judged(half)).map(({ statement }) =>
      timed(() => ownTopics(reader, decision(statement))),
    )
    return [
      {
        title:
          'labelled statements on software, career, health and relationships; the half held back was written before the vocabulary was worked on',
        columns: ['statements', 'precision', 'recall', 'without any'],
        rows: HALVES.map((half) => {
          const { statements, precision, recall, silent } = figures(half)
          const cells = [statements, precision.toFixed(3), recall.toFixed(3), silent]
          return { what: half, cells }
        }),
        notes: [`${median(ms).toFixed(3)} ms a statement`],
      },
    ]
  },
}
