/** How good one ranking is, or the mean of many: fractions from 0 to 1. */
export interface Quality {
  /** The share of what answers the question that stands among the first k. */
  'R@1': number
  'R@5': number
  'R@10': number
  /** Whether anything that answers it stands among the first five. */
  'any@5': number
  /** One over the place of the first that answers it. */
  MRR: number
  /** What answers it counts less the later it stands; 1 is the best order there is. */
  'nDCG@10': number
}

const gain = (place: number): number => 1 / Math.log2(place + 1)

/** Judges one ranking, each id once, best first, against the ids that answer the question; there is at least one. */
export function judge(ranking: readonly string[], gold: ReadonlySet<string>): Quality {
  const places = ranking.flatMap((id, i) => (gold.has(id) ? [i + 1] : []))
  const within = (k: number) => places.filter((p) => p <= k)
  const recall = (k: number) => within(k).length / gold.size
  let ideal = 0
  for (let place = 1; place <= Math.min(10, gold.size); place++) ideal += gain(place)
  return {
    'R@1': recall(1),
    'R@5': recall(5),
    'R@10': recall(10),
    'any@5': within(5).length > 0 ? 1 : 0,
    MRR: places.length > 0 ? 1 / places[0]! : 0,
    'nDCG@10': within(10).reduce((sum, place) => sum + gain(place), 0) / ideal,
  }
}

/** What was measured of one question. */
export interface Asked extends Quality {
  ms: number
}

export interface Summary extends Quality {
  p50_ms: number
  p95_ms: number
}

const rounded = (n: number, digits: number): number => Math.round(n * 10 ** digits) / 10 ** digits

/** The smallest sample that at least this share of the samples does not exceed. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** Means over questions, each of the same weight; zeros where nothing was asked. */
export function summarize(asked: readonly Asked[]): Summary {
  const mean = (key: keyof Quality) =>
    asked.length === 0 ? 0 : rounded(asked.reduce((sum, a) => sum + a[key], 0) / asked.length, 6)
  const ms = asked.map((a) => a.ms)
  return {
    'R@1': mean('R@1'),
    'R@5': mean('R@5'),
    'R@10': mean('R@10'),
    'any@5': mean('any@5'),
    MRR: mean('MRR'),
    'nDCG@10': mean('nDCG@10'),
    p50_ms: rounded(percentile(ms, 0.5), 3),
    p95_ms: rounded(percentile(ms, 0.95), 3),
  }
}
