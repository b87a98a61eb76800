import type { Json } from '../../model/field.ts'
import type { RecallConfig } from './config.ts'

const IMPORTANCE_MIN = 0.5
const IMPORTANCE_MAX = 2

const LEVELS: { readonly [word: string]: number } = {
  low: 0.8,
  medium: 1,
  normal: 1,
  high: 1.3,
  critical: 1.6,
  urgent: 1.6,
}
const P_LEVELS = [1.6, 1.3, 1, 0.8, 0.7]

type Part = keyof RecallConfig['importance']

/** What each statement makes of an item that says it; nothing where it says nothing that is understood. */
const PARTS: { readonly [P in Part]: (value: Json | undefined) => number | undefined } = {
  // 0 → 0.71, 5 → 1, 10 → 1.41
  impact: (v) => (typeof v === 'number' ? 2 ** ((between(v, 0, 10) - 5) / 10) : undefined),
  // 0 → 0.6, 0.8 → 1, 1 → 1.1: what is doubted stands back; being sure is the ordinary case
  confidence: (v) => (typeof v === 'number' ? 0.6 + 0.5 * between(v, 0, 1) : undefined),
  severity: level,
  priority: level,
}

const between = (v: number, min: number, max: number) => Math.min(max, Math.max(min, v))

/** A word, or `p0` to `p4`. */
function level(v: Json | undefined): number | undefined {
  if (typeof v !== 'string') return undefined
  const word = v.trim().toLowerCase()
  const p = /^p([0-4])$/.exec(word)
  return p ? P_LEVELS[Number(p[1])] : Object.hasOwn(LEVELS, word) ? LEVELS[word] : undefined
}

/** What an item says of its own weight, within [0.5, 2]; 1 when it says nothing. */
export function importanceOf(fields: Readonly<{ [field: string]: Json }>, strengths: RecallConfig['importance']) {
  let product = 1
  for (const part of Object.keys(PARTS) as Part[]) {
    const factor = PARTS[part](fields[part])
    if (factor !== undefined) product *= factor ** strengths[part]
  }
  return between(product, IMPORTANCE_MIN, IMPORTANCE_MAX)
}
