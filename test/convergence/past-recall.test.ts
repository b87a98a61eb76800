import { rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { Recaller } from '../../src/find/recall/recall.ts'
import type { RecallOptions } from '../../src/find/recall/types.ts'
import { runs, SEED } from '../runs.ts'
import { exchange, join1, linesOf, Replica, send, tempDir } from './harness.ts'

const RUNS = runs(25, 400)

type Action = readonly [verb: string, args: { [key: string]: unknown }]
interface Scenario {
  readonly steps: readonly {
    by: 0 | 1
    tell: boolean
    wait: number
    actions: readonly Action[]
    undo: number | undefined
  }[]
  readonly asked: readonly string[]
}

const word = fc.constantFrom(
  'cache',
  'caches',
  'cached',
  'login',
  'queue',
  'retries',
  'useJwt',
  'src/login.ts',
  'active',
  '0.7',
  'the',
)
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
const name = fc.constantFrom('one', 'two', 'login')
const ref = fc.constantFrom('decision:one', 'decision:two', 'decision:login', 'learning:one', 'learning:two')
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) => fc.record(fields, { requiredKeys: [] })

const of = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight, arbitrary })
const action: fc.Arbitrary<Action> = fc.oneof(
  of(
    8,
    fc
      .tuple(
        name,
        fc.boolean(),
        some({
          description: fc.oneof(text, fc.constant(null)),
          rationale: text,
          tags: fc.oneof(fc.array(word, { maxLength: 2 }), fc.record({ remove: fc.array(word, { maxLength: 1 }) })),
          evidence: fc.array(text, { maxLength: 2 }),
          confidence: fc.constantFrom(0.7, 0.9),
          status: fc.constantFrom('active', 'deprecated'),
          validTo: fc.constantFrom('2026-01-16', '2030-01-01'),
        }),
      )
      .map(([name, anew, fields]) => ['record-decision', { name, ...(anew && { anew }), ...fields }]),
  ),
  of(4, fc.tuple(name, text).map(([title, body]) => ['record-learning', { title, body }])),
  of(
    4,
    fc
      .tuple(text, fc.nat({ max: 5 }), fc.constantFrom('monday', 'friday'))
      .map(([content, position, section]) => [
        'record-chunk',
        { content, sourceFile: 'chats', section, position, speaker: position % 2 ? 'Ana' : 'user' },
      ]),
  ),
  of(2, text.map((question) => ['record-question', { question }])),
  of(1, word.map((path) => ['record-file', { path: `src/${path}.ts`, summary: path }])),
  of(2, name.map((description) => ['start-task', { description }])),
  of(1, fc.constant(['complete-task', {}])),
  of(2, ref.map((ref) => [ref.startsWith('decision') ? 'delete-decision' : 'delete-learning', { ref }])),
  of(2, ref.map((ref) => ['restore', { ref }])),
  of(2, ref.map((ref) => ['retire', { ref, reason: 'no more' }])),
  of(1, fc.tuple(ref, word).map(([ref, name]) => ['rename', { ref, name }])),
  of(2, fc.tuple(ref, ref).map(([old, by]) => ['supersede', { old, new: by }])),
  of(2, fc.tuple(ref, ref).map(([from, to]) => ['link-entities', { from, to, type: 'relates-to' }])),
  of(1, fc.tuple(ref, ref).map(([from, to]) => ['unlink-entities', { from, to, type: 'relates-to' }])),
  of(
    1,
    fc
      .tuple(name, text)
      .map(([name, description]) => ['propose', { action: ['record-decision', { name, description }] }]),
  ),
) // biome-ignore format: one action in a line

const scenario: fc.Arbitrary<Scenario> = fc.record({
  steps: fc.array(
    fc.record({
      by: fc.constantFrom(0 as const, 1 as const),
      tell: fc.boolean(),
      wait: fc.constantFrom(1, 60_000, 86_400_000),
      actions: fc.array(action, { minLength: 1, maxLength: 4 }),
      undo: fc.option(fc.nat({ max: 20 }), { nil: undefined, freq: 8 }),
    }),
    { minLength: 2, maxLength: 14 },
  ),
  asked: fc.array(fc.oneof(text, word, name), { minLength: 3, maxLength: 5 }),
})

/** Two write, and tell each other now and then; in the end one has everything, in an order of its own. */
function written(dir: string, { steps }: Scenario): Replica {
  const authors = [new Replica(dir, 'a', 1), new Replica(dir, 'b', 2)]
  const batches: string[] = []
  let now = authors[0]!.now
  for (const { by, tell, wait, actions, undo } of steps) {
    now += wait
    for (const a of authors) a.now = now
    const [author, other] = by === 0 ? authors : [...authors].reverse()
    const act = (batch: readonly unknown[]) => {
      try {
        const done = author!.act(batch)
        if (done.batch) batches.push(done.batch)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
      }
    }
    for (const one of undo === undefined ? actions : [['undo', { batch: batches[undo % batches.length] ?? '' }]])
      act([one])
    if (tell) send(author!, other!)
  }
  exchange(...authors)
  const all = new Replica(dir, 'all', 3)
  all.now = now + 1
  send(authors[1]!, all)
  send(authors[0]!, all)
  for (const a of authors) a.memory.close()
  return all
}

function recalled(r: Replica, question: string, options: RecallOptions) {
  const { results, omitted } = new Recaller(r.memory, undefined, { embedder: { use: 'none' } }).askNow(question, {
    ...{ limit: 100, explain: true },
    ...options,
  })
  return {
    omitted,
    results: results.map(({ id, score, parts, state, similar, text, why }) => ({
      id,
      score,
      parts,
      state,
      similar,
      text,
      why,
    })),
  }
}

const say = (value: unknown) => JSON.stringify(value, undefined, 1)

/** Asks as of each moment of a history, and in a store that has nothing later. */
function askedOfEachMoment(s: Scenario): void {
  const dir = tempDir()
  const all = written(dir, s)
  const then = new Replica(dir, 'then', 4)
  try {
    const { header, lines } = linesOf(all)
    const byMoment = Map.groupBy(lines, (line) => (JSON.parse(line) as { at: number }).at)
    for (const at of [...byMoment.keys()].sort((x, y) => x - y)) {
      then.now = at
      then.memory.applyUpdates(join1(header, byMoment.get(at)!))
      for (const question of s.asked) {
        const same = (got: unknown, wanted: unknown) => {
          if (!isDeepStrictEqual(got, wanted))
            throw new Error(`"${question}" as of ${at}\n${say(got)}\n--- but then ---\n${say(wanted)}`)
        }
        const wanted = recalled(then, question, { all: true })
        same(recalled(all, question, { all: true, asOf: at }), wanted)
        const plain = recalled(all, question, { asOf: at })
        same(plain, recalled(then, question, { asOf: at }))
        // without `all` what was only proposed is left out, and what only its words or its links brought along
        const ids = (answer: typeof plain) => answer.results.flatMap((r) => [r.id, ...r.similar])
        const borrowed = (answer: typeof plain) =>
          answer.results.flatMap((r) => (/linked to |its neighbours hold /.test(r.why) ? [r.id, ...r.similar] : []))
        const isAgreed = (id: string) => then.fields(id).standing !== 'proposed'
        const agreed = ids(wanted).filter(isAgreed)
        // what is only like something that was proposed comes with that
        const alone = ids({ ...wanted, results: wanted.results.filter((r) => isAgreed(r.id)) }).filter(isAgreed)
        const lacks = alone.filter((id) => !ids(plain).includes(id) && !borrowed(wanted).includes(id))
        const more = ids(plain).filter((id) => !agreed.includes(id) && !borrowed(plain).includes(id))
        if (lacks.length + more.length > 0) throw new Error(`"${question}" as of ${at}: lacks ${lacks}, more ${more}`)
      }
    }
  } finally {
    all.memory.close()
    then.memory.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

test(`[D9] [H5] what is recalled as of a moment is what was recalled then (${RUNS} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 2_000,
}, () => {
  process.stderr.write(`[D9] ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
  fc.assert(fc.property(scenario, askedOfEachMoment), { numRuns: RUNS, seed: SEED, endOnFailure: false })
})

test('[D9] [H5] what a proposal beside it brought along is left out with the proposal (TIDEMARK_SEED=1, run 31)', () => {
  const step = (...actions: Action[]) => ({ by: 0 as const, tell: false, wait: 1, actions, undo: undefined })
  askedOfEachMoment({
    steps: [
      step(
        ['start-task', { description: 'one' }],
        ['record-decision', { name: 'login' }],
        ['propose', { action: ['record-decision', { name: 'one', description: 'cache' }] }],
      ),
      step(['record-learning', { title: 'one', body: 'cache' }]),
    ],
    asked: ['cache'],
  })
})
