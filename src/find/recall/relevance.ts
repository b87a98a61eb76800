import { hashOf, type Term } from '../../engine/store/terms.ts'
import type { Run, TextRow } from '../../engine/store/text-index.ts'

/** The numbers of ranking; `docs/recall.md` says what each brought. */
export const TUNING = {
  /** BM25 (Robertson & Zaragoza 2009). */
  k1: 0.9,
  b: 0.75,
  /** A passage, in words that count (about twice as many as a person counts); half of it overlaps the next. */
  passage: 60,
  /** A title of at most this many words goes with every passage. */
  title: 24,
  /** How much a word of the question counts for being among the first words of a text, which say what it is about. */
  lead: 0.5,
  /** For the words of a title, by the share of the title that the question holds. */
  held: 0.5,
  leadWords: 25,
  /** What is left of the weight of a word that stands below the first line of a question: an issue, a diff, an output. */
  below: 0.5,
  /** What the texts next to one add to it, by their distance; for texts longer than `short` words less. */
  around: [0.6, 0.3],
  short: 25,
  /** Weights of the legs: words (0 to 5), vector (standard deviations; unless the model says otherwise), source (the same). */
  lexical: 0.5,
  vector: 0.75,
  source: 0.4,
  /** As `source`, for a text that stands in no row: it is all that its source says. */
  alone: 0.4,
  /** For what the best texts refer to by its label, `ADR-7` say: natural logarithm of one more than how many do. */
  referred: 1,
  /** The vector of a question of more words than this says less. */
  telling: 8,
}

/** A text with those next to it in its row, nearest first. */
export type InRow = Readonly<{ text: TextRow; before: readonly TextRow[]; after: readonly TextRow[] }>

/** What the words of a question say of one text. */
export interface Lexical {
  /** BM25 of its best passage, neighbours included. */
  readonly score: number
  /** Which share of the question's weight its own words and its neighbours' hold, from 0 to 1. */
  readonly coverage: number
  /** Which share its own words hold, wherever they stand. */
  readonly share: number
  /** The words of the question that it holds, most telling first. */
  readonly words: readonly string[]
  /** Those that only its neighbours hold. */
  readonly borrowed: readonly string[]
}

/** Which word of the question a hash stands for. */
type Index = ReadonlyMap<number, number>

/** The question's words with how much each tells; `spread`: how many texts a text lends its words to, itself included. */
type Weighted = Readonly<{ terms: readonly Term[]; idf: Float64Array; index: Index; total: number }>

/** Inverse document frequency; a text also counts for its neighbours. `first`: stems of the first line. */
export function weigh(
  terms: readonly Term[],
  counts: readonly number[],
  size: number,
  spread: number,
  first: ReadonlySet<string>,
): Weighted {
  const idf = new Float64Array(terms.length)
  let total = 0
  for (const [i, count] of counts.entries()) {
    const d = Math.min(size, count * spread)
    idf[i] = Math.log(1 + (size - d + 0.5) / (d + 0.5)) * (first.has(terms[i]!.stem) ? 1 : TUNING.below)
    total += idf[i]!
  }
  return { terms, idf, index: new Map(terms.map((t, i) => [hashOf(t.stem), i])), total }
}

/** How strongly the neighbours of a text count: less, the more words it has. */
export const aroundScale = (words: number): number => Math.min(1, TUNING.short / Math.max(1, words))

/** How many texts each text lends its words to, on average. */
export function spreadOf(rows: readonly InRow[]): number {
  if (rows.length === 0) return 1
  let sum = 0
  for (const { text, before, after } of rows) {
    const scale = aroundScale(text.words)
    for (const side of [before, after]) for (const i of side.keys()) sum += (TUNING.around[i] ?? 0) * scale
  }
  return 1 + sum / rows.length
}

type Piece = { readonly tf: Float64Array; length: number }

const piece = (n: number): Piece => ({ tf: new Float64Array(n), length: 0 })

function addRun(to: Piece, run: Run, index: Index, factor: number): void {
  for (const term of run.terms) {
    const i = index.get(term)
    if (i !== undefined) to.tf[i]! += factor
  }
  to.length += run.terms.length * factor
}

function add(to: Piece, from: Piece): void {
  for (const [i, f] of from.tf.entries()) if (f > 0) to.tf[i]! += f
  to.length += from.length
}

export interface Seen {
  /** Its passages, each with its title and what its neighbours lend. */
  readonly passages: readonly Piece[]
  /** Which of the question's words it holds itself, by their index. */
  readonly own: ReadonlySet<number>
  /** Which of them are among its first. */
  readonly lead: ReadonlySet<number>
  /** Which of them its title holds, and how many words it has besides. */
  readonly title: { readonly held: readonly number[]; readonly others: number }
}

export function seenOf(row: InRow, { terms, index }: Weighted): Seen {
  const own = new Set<number>()
  const lead = new Set<number>()
  let n = 0
  for (const run of row.text.runs)
    for (const term of run.terms) {
      const i = index.get(term)
      n++
      if (i === undefined) continue
      own.add(i)
      if (n <= TUNING.leadWords) lead.add(i)
    }
  const title = new Set(titleOf(row.text)?.terms)
  const held = [...title].flatMap((term) => index.get(term) ?? [])
  const others = [...title].filter((term) => !index.has(term)).length
  return { passages: passagesOf(row, index, terms.length), own, lead, title: { held, others } }
}

/** The title of a text that has at least as much more to say. */
function titleOf({ runs: [title, ...rest] }: TextRow): Run | undefined {
  const more = rest.reduce((sum, r) => sum + r.terms.length, 0)
  return title && title.terms.length <= Math.min(TUNING.title, more) ? title : undefined
}

function passagesOf({ text, before, after }: InRow, index: Index, n: number): Piece[] {
  const common = piece(n)
  const scale = aroundScale(text.words)
  for (const side of [before, after])
    for (const [i, other] of side.entries())
      for (const run of other.runs) addRun(common, run, index, (TUNING.around[i] ?? 0) * scale)
  const title = titleOf(text)
  const body = title ? text.runs.slice(1) : text.runs
  if (title) addRun(common, title, index, title.weight)

  const total = body.reduce((sum, r) => sum + r.terms.length, 0)
  if (total <= TUNING.passage * 1.5) {
    for (const run of body) addRun(common, run, index, run.weight)
    return [common]
  }
  // half passages, each counted once; a passage is two of them
  const half = TUNING.passage >> 1
  const halves: Piece[] = []
  let at = 0
  for (const run of body)
    for (const term of run.terms) {
      if (at++ % half === 0) halves.push(piece(n))
      const h = halves.at(-1)!
      h.length += run.weight
      const i = index.get(term)
      if (i !== undefined) h.tf[i]! += run.weight
    }
  return halves.slice(1).map((second, i) => {
    const whole = piece(n)
    add(whole, common)
    add(whole, halves[i]!)
    add(whole, second)
    return whole
  })
}

/** BM25 of the best passage, and more for what the text begins with. */
export function lexicalOf({ passages, own, lead, title }: Seen, q: Weighted, averageLength: number): Lexical {
  const { k1, b } = TUNING
  let score = 0
  let best: Piece | undefined
  for (const p of passages) {
    let s = 0
    const norm = k1 * (1 - b + (b * p.length) / averageLength)
    for (let i = 0; i < p.tf.length; i++) {
      const f = p.tf[i]!
      if (f > 0) s += (q.idf[i]! * f * (k1 + 1)) / (f + norm)
    }
    if (s > score) {
      score = s
      best = p
    }
  }
  for (const i of lead) score += TUNING.lead * q.idf[i]!
  const titled = title.held.reduce((sum, i) => sum + q.idf[i]!, 0)
  // what a word that is not asked for weighs nobody has counted: as much as one of the question
  if (titled > 0) score += (TUNING.held * titled ** 2) / (titled + (title.others * q.total) / q.idf.length)
  const telling = (of: Iterable<number>) =>
    [...of].sort((x, y) => q.idf[y]! - q.idf[x]! || x - y).map((i) => q.terms[i]!.word)
  const share = q.total > 0 ? [...own].reduce((sum, i) => sum + q.idf[i]!, 0) / q.total : 0
  if (!best) return { score: 0, coverage: 0, share, words: telling(own), borrowed: [] }
  const { tf } = best
  const held = [...tf.keys()].filter((i) => tf[i]! > 0)
  const weight = held.reduce((sum, i) => sum + q.idf[i]! * Math.min(1, tf[i]!), 0)
  return {
    score,
    coverage: q.total > 0 ? weight / q.total : 0,
    share,
    words: telling(own),
    borrowed: telling(held.filter((i) => !own.has(i))),
  }
}

export type Legs = Readonly<{ lexical: Lexical; cosine?: number; source: string | null }>

/** What cosines of this question are like over the whole store, and how much they count. */
export type Spread = Readonly<{ mean: number; deviation: number; weight: number }>

/** The best of a source counts fully, the next two half: a text is no better for being cut into pieces. */
const TOP_OF_SOURCE = [1, 0.5, 0.5]
/** A source with more candidates than this says less of each: a long conversation is about many things. */
const OF_ONE_SUBJECT = 8

/** How far sources usually lie apart, as a share of the best one's score: so many count with those that are there. */
const FEW = { weight: 10, deviation: 0.25 }

/** What its source says of each text: how well the best ones of it match, in standard deviations of the sources. */
function sourceScores(legs: readonly Legs[]): number[] {
  const bySource = Map.groupBy(legs.keys(), (i) => legs[i]!.source ?? i)
  const sums = [...bySource].map(([source, own]) => {
    const scores = own.map((i) => legs[i]!.lexical.score).sort((a, b) => b - a)
    return [source, TOP_OF_SOURCE.reduce((sum, share, i) => sum + share * (scores[i] ?? 0), 0)] as const
  })
  const mean = sums.reduce((s, [, x]) => s + x, 0) / sums.length
  const best = Math.max(...sums.map(([, x]) => x), 0)
  if (best === 0) return legs.map(() => 0)
  const variance = sums.reduce((s, [, x]) => s + (x - mean) ** 2, 0) + FEW.weight * (FEW.deviation * best) ** 2
  const deviation = Math.sqrt(variance / (sums.length + FEW.weight))
  const standing = new Map(
    sums.map(([source, x]) => {
      const telling = Math.min(1, OF_ONE_SUBJECT / bySource.get(source)!.length)
      return [source, (mean + telling * (x - mean)) / deviation]
    }),
  )
  return legs.map(({ source }, i) => (source === null ? TUNING.alone : TUNING.source) * standing.get(source ?? i)!)
}

/** What the legs say together, not yet a relevance: about 0 for what has nothing to do with the question, about 5 at best. */
export function fuse(legs: readonly Legs[], cosines: Spread | undefined): number[] {
  const best = Math.max(...legs.map((l) => l.lexical.score), 0)
  const sources = sourceScores(legs)
  return legs.map((l, i) => {
    let f = best > 0 ? (TUNING.lexical * 5 * l.lexical.score) / best : 0
    if (cosines && l.cosine !== undefined) f += (cosines.weight * (l.cosine - cosines.mean)) / cosines.deviation
    return f + sources[i]!
  })
}

/** Positive for whatever number, and nearly that number above 1. */
const softened = (x: number): number => Math.log1p(Math.exp(2 * x)) / 2

/** How sharply relevance falls below the best: proximity and recency must not bury an answer. */
const SHARPNESS = 3

/** Where the question is what something is called, or one word, everything else is at most so relevant. */
const UNNAMED = 0.02

/** Relevance in (0, 1], scaled by how well the best answers. `meant`: the question is its name (2) or one word of it (1). */
export function relevances(
  fused: readonly number[],
  legs: readonly Legs[],
  meant: readonly (0 | 1 | 2)[],
  model: { readonly floor: number; readonly ceiling: number } | undefined,
): number[] {
  if (fused.length === 0) return []
  let top = 0
  for (const i of fused.keys()) if (fused[i]! > fused[top]!) top = i
  const { lexical, cosine } = legs[top]!
  const near = model && cosine !== undefined ? Math.max(0, (cosine - model.floor) / (model.ceiling - model.floor)) : 0
  const quality = Math.min(1, Math.max(lexical.coverage, near, 0.01))
  const best = softened(fused[top]!)
  const most = Math.max(...meant)
  return fused.map((f, i) => {
    const relevance = meant[i] === 2 ? 1 : quality * (softened(f) / best) ** SHARPNESS
    return Math.max(Number.MIN_VALUE, meant[i]! < most ? UNNAMED * relevance : relevance)
  })
}
