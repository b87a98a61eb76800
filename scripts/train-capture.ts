// Makes assets/capture-weights.bin from the labelled prompts in bench/capture/: `node scripts/train-capture.ts`.
// With --check it prints, for each file, what a model that was trained on the others finds in it. Held-back files
// (`*-held.txt`, `judge*.txt`) are never trained on.
import { readdirSync, writeFileSync } from 'node:fs'
import { covers, type Labelled, labelled, likeness } from '../bench/labelled.ts'
import {
  BITS,
  best,
  logOdds,
  SCALE,
  SORT_BITS,
  SORTS,
  type Sort,
  type Span,
  sortOdds,
  spansOf,
  WEIGHTS,
} from '../src/hooks/capture/classifier.ts'
import { statementsOf } from '../src/hooks/capture/patterns.ts'

const FOLDER = new URL('../bench/capture/', import.meta.url)
const ROUNDS = 8
const RATE = 0.1

interface Case extends Labelled {
  readonly file: string
  readonly sentences: readonly Span[][]
}
interface Example {
  readonly features: readonly number[]
  readonly isRule: boolean
  readonly weight: number
  readonly sort?: Sort
}
interface Model {
  readonly bias: number
  readonly weights: Float32Array
  readonly sorts: Float32Array
}

const files = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.txt') && !/-held|^judge/.test(name))
  .map((name) => name.slice(0, -4))
  .sort()

const cases: Case[] = files.flatMap((file) =>
  labelled(file).map((one) => {
    const said = statementsOf(one.prompt)
    return { ...one, file, sentences: said.map((s, i) => spansOf(s, said[i - 1], said[i + 1])) }
  }),
)

/** A span is a rule if it holds a labelled one and little else; one that nearly is teaches nothing. */
function examplesOf(from: readonly Case[]): Example[] {
  return from.flatMap(({ sentences, rules }) =>
    sentences.flatMap((spans) => {
      const near = spans.map((span) =>
        rules.map(({ text }) => likeness(span.text, text) + (covers(span.text, text) >= 0.8 ? 0.25 : -0.1)),
      )
      const close = near.map((to) => Math.max(0, ...to))
      const holdsRule = close.some((c) => c >= 0.75)
      return spans.flatMap(({ features }, i): Example[] => {
        const isRule = close[i]! >= 0.75
        if (!isRule && close[i]! >= 0.6) return []
        const weight = isRule ? 1 : holdsRule ? 0.6 : 1 / Math.sqrt(spans.length)
        const category = rules[near[i]!.indexOf(Math.max(...near[i]!))]?.category
        const sort = category === 'preference' ? 'convention' : (category as Sort)
        return [{ features, isRule, weight, ...(isRule && SORTS.includes(sort) ? { sort } : {}) }]
      })
    }),
  )
}

/** Logistic regression by AdaGrad (Duchi, Hazan, Singer, 2011), the same at every run. */
function train(examples: Example[]): Model {
  const weights = new Float32Array(1 << BITS)
  const squares = new Float32Array(1 << BITS)
  let bias = 0
  const next = random(1)
  for (let round = 0; round < ROUNDS; round++) {
    shuffle(examples, next)
    for (const { features, isRule, weight } of examples) {
      const odds = logOdds(features, weights, bias)
      const slope = (1 / (1 + Math.exp(-odds)) - (isRule ? 1 : 0)) * weight
      bias -= 0.01 * slope
      const share = (slope * SCALE) / features.length
      for (const at of features) {
        squares[at]! += share * share
        weights[at]! -= (RATE / Math.sqrt(squares[at]! + 1)) * share
      }
    }
  }
  return { bias, weights, sorts: trainSorts(examples) }
}

const random = (seed: number) => () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32

function shuffle<T>(all: T[], next: () => number): void {
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
}

/** The sorts by softmax regression. */
function trainSorts(examples: Example[]): Float32Array {
  const weights = new Float32Array(SORTS.length << SORT_BITS)
  const squares = new Float32Array(weights.length)
  const next = random(2)
  const known = examples.filter(({ sort }) => sort !== undefined)
  for (let round = 0; round < ROUNDS; round++) {
    shuffle(known, next)
    for (const { features, sort } of known) {
      const odds = sortOdds(features, weights).map((o) => Math.exp(o * SCALE))
      const sum = odds.reduce((a, b) => a + b)
      for (const [i, name] of SORTS.entries()) {
        const share = ((odds[i]! / sum - (name === sort ? 1 : 0)) * SCALE) / features.length
        for (const feature of features) {
          const at = (i << SORT_BITS) | (feature & ((1 << SORT_BITS) - 1))
          squares[at]! += share * share
          weights[at]! -= (RATE / Math.sqrt(squares[at]! + 1)) * share
        }
      }
    }
  }
  return weights
}

const bytesOf = (weights: Float32Array, step: number) =>
  Buffer.from(Int8Array.from(weights, (w) => Math.round(w / step)).buffer)
const stepOf = (weights: Float32Array) => weights.reduce((most, w) => Math.max(most, Math.abs(w)), 0) / 127

function save({ bias, weights, sorts }: Model): void {
  const step = stepOf(weights)
  const head = Buffer.from(`${JSON.stringify({ bias, step })}\n`)
  writeFileSync(
    new URL(`../${WEIGHTS}`, import.meta.url),
    Buffer.concat([head, bytesOf(weights, step), bytesOf(sorts, stepOf(sorts))]),
  )
}

/** Precision and recall at some log odds: a rule is found where what is captured holds it. */
function check(): void {
  console.log('trained on the other files; precision / recall by log odds')
  const all: { score: number; right: boolean; rules: number }[] = []
  let total = 0
  const line = (name: string, rows: typeof all, rules: number) =>
    console.log(
      name.padEnd(16),
      [-1, -0.5, 0, 0.5, 1, 1.5, 2]
        .map((least) => {
          const kept = rows.filter(({ score }) => score >= least)
          const sum = (of: (row: (typeof all)[number]) => number) => kept.reduce((n, row) => n + of(row), 0)
          return `${least}: ${(sum((r) => (r.right ? 1 : 0)) / Math.max(1, kept.length)).toFixed(2)} / ${(sum((r) => r.rules) / rules).toFixed(2)}`
        })
        .join('   '),
    )
  for (const file of files) {
    const { bias, weights } = train(examplesOf(cases.filter((c) => c.file !== file)))
    const held = cases.filter((c) => c.file === file)
    const rows = held.flatMap(({ sentences, rules }) => {
      const seen = new Set<string>()
      return sentences.flatMap((spans) =>
        best(spans, ({ features }) => logOdds(features, weights, bias))
          .slice(0, 2)
          .map(({ span, score }) => {
            const hit = rules.filter(({ text }) => likeness(span.text, text) >= 0.75 || covers(span.text, text) >= 0.8)
            const fresh = score < -1 ? [] : hit.filter(({ text }) => !seen.has(text))
            for (const { text } of fresh) seen.add(text)
            return { score, right: hit.length > 0, rules: fresh.length }
          }),
      )
    })
    const rules = held.reduce((n, c) => n + c.rules.length, 0)
    line(file, rows, rules)
    all.push(...rows)
    total += rules
  }
  line('all', all, total)
}

if (process.argv.includes('--check')) check()
else {
  save(train(examplesOf(cases)))
  console.log(`${WEIGHTS}: from ${cases.length} prompts with ${cases.reduce((n, c) => n + c.rules.length, 0)} rules`)
}
