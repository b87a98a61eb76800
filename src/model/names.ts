import { sha256 } from './digest.ts'

/** Kinds, relations, fields and verbs that a project may add. */
export const WORD = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** What introspection prints, and in which plural: a project's kinds may not take these names. */
export const INTROSPECTION = {
  verb: 'verbs',
  kind: 'kinds',
  field: 'fields',
  relation: 'relations',
  help: 'helps',
  conflict: 'conflict-list',
  change: 'changes',
  candidate: 'candidates',
} as const

/** Names that no kind, and no function that reads a kind, may have: they mean something else already. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...Object.entries(INTROSPECTION).flat(),
  ...Object.getOwnPropertyNames(Object.prototype),
  ...['error', 'errors', 'nil', 'conflicts', 'proposals'],
  ...['relationships-from', 'relationships-to', 'related-files', 'file-understanding'],
  ...['patterns-by-type', 'decisions-by-status'],
])

const SLUG_MAX = 64
/** Names without ASCII letters share the empty slug: of 10,000 of them 48 bits collide with 2 in ten million. */
const HASH_DIGITS = 12

/** An id of a project, as its configuration and a hub know it. */
export const isProjectId = (id: unknown): id is string => typeof id === 'string' && /^[a-z0-9-]{6,64}$/.test(id)

/** The form in which names are compared: NFC, one space, trimmed, lower case. */
export const foldName = (name: string): string => name.normalize('NFC').replace(/\s+/g, ' ').trim().toLowerCase()

/** The form in which texts are compared (identity `content`): as names, without a closing full stop. */
export const foldText = (textValue: string): string => foldName(textValue).replace(/(?<![.!…])[.!…]+$/, '')

/** A file-name-safe slug, equal only for names that differ by case or space; with `exact`, for none. Else a hash follows (K9). */
export function slug(name: string, exact = false): string {
  const plain = exact ? name.normalize('NFC') : foldName(name).replaceAll(' ', '-') // one spelling for both
  const safe = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  const hashLike = safe.length > HASH_DIGITS && /-[0-9a-f]{12}$/.test(safe) // would pass for the slug of another name
  if (safe !== '' && safe === plain && safe.length <= SLUG_MAX && !hashLike) return safe
  return `${safe.slice(0, SLUG_MAX - HASH_DIGITS - 1).replace(/-$/, '')}-${sha256(plain).slice(0, HASH_DIGITS)}`
}

/** Edit distance, two neighbours that changed places being one edit, given up beyond `limit`. */
export function distance(a: string, b: string, limit = 4): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  let last = previous
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? last[j - 2]! + 1 : Infinity
      const changed = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, changed, swapped)
    }
    last = previous
    previous = row
  }
  return previous[b.length]!
}

/** The nearest names, by containment, then by edit distance; none that is much farther than the first. */
export function nearest(wanted: string, names: Iterable<string>, count = 3): string[] {
  const w = foldName(wanted)
  const scored: [number, string][] = []
  for (const name of names) {
    const n = foldName(name)
    const contained = w.length > 2 && n.length > 2 && (n.includes(w) || w.includes(n))
    const limit = Math.max(2, Math.floor(w.length / 3))
    const d = contained ? 0.5 : distance(w, n, limit)
    if (d <= limit) scored.push([d, name])
  }
  const best = Math.min(...scored.map(([d]) => d))
  return scored
    .filter(([d]) => d < best + 1)
    .sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1))
    .slice(0, count)
    .map(([, name]) => name)
}

/** Asks whether one of these near names was meant; `otherwise` where none is near. */
export const orNear = (near: readonly string[], otherwise: string, told = (name: string): string => name): string =>
  near.length > 0 ? `did you mean ${near.map(told).join(' or ')}?` : otherwise

/** The same of the names that there are. */
export const didYouMean = (
  wanted: string,
  names: Iterable<string>,
  otherwise: string,
  told?: (name: string) => string,
) => orNear(nearest(wanted, names), otherwise, told)
