import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { contraryPairs, Vocabulary } from '../src/find/recall/contradictions.ts'
import { type Bench, median, timed } from './table.ts'

const PRECISION = 0.9
const RECALL = 0.8
export const HALVES = ['tuned', 'held-back'] as const
const vocabulary = new Vocabulary()

/** A labelled pair is a line: `+ one | other` contradict each other, `-` not. `held-back.txt` was written before the rules and is never edited. */
export function judged(half: (typeof HALVES)[number]) {
  const text = readFileSync(join(import.meta.dirname, 'contradictions', `${half}.txt`), 'utf8')
  return text.split('\n').flatMap((line) => {
    const [a, b] = line.slice(2).split(' | ')
    if (!/^[+-] /.test(line) || a === undefined || b === undefined) return []
    return [{ line, contrary: line.startsWith('+'), found: contraryPairs([a, b], vocabulary).length > 0 }]
  })
}

export function figures(half: (typeof HALVES)[number]) {
  const all = judged(half)
  const found = all.filter((p) => p.found)
  const right = found.filter((p) => p.contrary).length
  const contrary = all.filter((p) => p.contrary).length
  return { pairs: all.length, contrary, precision: right / Math.max(1, found.length), recall: right / contrary }
}

export const bench: Bench = {
  name: 'contradictions',
  about: 'how many pairs of rules that contradict each other are found, and how much of what is found is one',
  async run() {
    const ms = HALVES.flatMap((half) => judged(half)).map(({ line }) =>
      timed(() => contraryPairs(line.split(' | '), vocabulary)),
    )
    return [
      {
        title: 'labelled pairs; the half held back was written before the rules, though by the same author',
        columns: ['pairs', 'contradict', 'precision', 'recall'],
        rows: HALVES.map((half) => {
          const { pairs, contrary, precision, recall } = figures(half)
          const cells = [pairs, contrary, precision.toFixed(3), recall.toFixed(3)]
          return { what: half, cells, bound: `precision ≥ ${PRECISION}, recall ≥ ${RECALL}`, ok: precision >= PRECISION && recall >= RECALL } // biome-ignore format: one row
        }),
        notes: [`${median(ms).toFixed(3)} ms a pair`],
      },
    ]
  },
}
