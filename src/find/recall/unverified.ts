import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { vouchedFor } from '../../engine/replication/vouched.ts'
import { type Edge, type Entity, isAgreed, provenanceOf } from '../../model/entity.ts'
import { similarity, stemsOf } from './word-overlap.ts'

/** What others wrote and nobody here stands by counts so much of what one's own words count. */
export const UNVERIFIED = 0.5

/** This share of the words of the shorter of two texts stands in both: they speak of one matter. */
const SHARED = 0.7
/** So many words are compared, and so many results looked at. */
const MOST_WORDS = 200
const MOST_LOOKED = 400

/** Of results, those that nobody here stands by. */
export function unverifiedAmong(memory: Memory, entities: readonly Entity[]): ReadonlySet<string> {
  const ids = entities.map((e) => e.id)
  const vouched = vouchedFor(memory, ids)
  return new Set(ids.filter((id) => !vouched.has(id)))
}

/** Links of others say nothing of what somebody here stands by; of what nobody here stands by anybody may say something. */
export const upheldLinks = (memory: Memory, reader: Reader): Pick<Reader, 'edges'> => ({
  edges(end, ids, relations) {
    const edges = reader.edges(end, ids, relations)
    const vouched = vouchedFor(memory, [...new Set(edges.flatMap((l) => [l.id, l[end]]))])
    return edges.filter((l) => vouched.has(l.id) || !vouched.has(l[end]))
  },
})

/** What links say came of some entities, or is right instead: nothing that is only proposed, or, of one's own, said by others. */
export function linkedWith(memory: Memory, reader: Reader, end: 'from' | 'to', ids: string[], types: string[]) {
  const edges = upheldLinks(memory, reader).edges(end, ids, types)
  const other = (l: Edge) => l[end === 'from' ? 'to' : 'from']
  const vouched = vouchedFor(memory, [...new Set(edges.flatMap((l) => [l.from, l.to]))])
  const agreed = new Map(reader.entities(edges.map(other)).map((e) => [e.id, isAgreed(e) ? e : undefined]))
  return edges.flatMap((l) => {
    const entity = agreed.get(other(l))
    return entity && (vouched.has(entity.id) || !vouched.has(l[end])) ? [{ of: l[end], entity }] : []
  })
}

/** The best results. What others say on the same matter is folded into one's own, each with who says it, however many copies there are. */
export function upheld<T extends { readonly entity: Entity }>(
  ranked: readonly T[],
  unverified: ReadonlySet<string>,
  saying: (item: T) => string,
  most: number,
) {
  if (unverified.size === 0) return ranked.slice(0, most).map((item) => ({ item, otherwise: [] }))
  const ours: { words: ReadonlySet<string>; otherwise: string[] }[] = []
  const places = new Map<T, number>()
  for (const item of ranked.slice(0, MOST_LOOKED)) {
    if (unverified.has(item.entity.id)) continue
    places.set(item, ours.length)
    ours.push({ words: wordsOf(saying(item)), otherwise: [] })
    if (ours.length === most) break
  }
  const kept: { item: T; otherwise: readonly string[] }[] = []
  for (const item of ranked.slice(0, MOST_LOOKED)) {
    if (kept.length === most) break
    const place = places.get(item)
    if (place !== undefined) kept.push({ item, otherwise: ours[place]!.otherwise })
    else if (unverified.has(item.entity.id)) {
      const words = wordsOf(saying(item))
      const of = ours.find((o) => similarity(o.words, words).share >= SHARED)
      if (of) of.otherwise.push(`${authorOf(item.entity)}, unverified, on the same: ${item.entity.id}`)
      else kept.push({ item, otherwise: [] })
    }
  }
  return kept
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(stemsOf(text.slice(0, 4_000)).slice(0, MOST_WORDS))

/** A name that others chose, as part of a remark. */
function authorOf(e: Entity): string {
  const { user, agent } = provenanceOf(e).at(-1) ?? {}
  return String(user ?? agent ?? 'somebody')
    .replace(/[^\p{L}\p{N} ._@-]/gu, '')
    .slice(0, 40)
}
