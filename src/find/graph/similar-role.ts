import { keptIn } from '../../base/lookup.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { kindOf } from '../../model/entity.ts'

/** How far the surroundings of an entity count. */
const ROUNDS = 3

/** What two sorted lists share, as a part of both together; how often a value stands in each counts. */
function overlap(a: readonly number[], b: readonly number[]): number {
  let shared = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) [shared, i, j] = [shared + 1, i + 1, j + 1]
    else if (a[i]! < b[j]!) i++
    else j++
  }
  return shared / (a.length + b.length - shared)
}

/**
 * Entities of the same kind that play the same role although their words differ: the same relations, in the same
 * direction, to entities in the same roles. Labels are refined as by Weisfeiler and Leman (1968): in round n the label
 * of an entity is its kind with the sorted labels of round n − 1 around it. The score, 0 to 1, is the mean, over the rounds, of
 * the share of labels around both that are the same. Best first; equal ones by id. Reads every link once.
 */
export function similarRole(reader: Reader, id: string, limit = 10): { id: string; score: number }[] {
  const ids = reader.allIds()
  const place = new Map(ids.map((one, i) => [one, i]))
  const start = place.get(id)
  if (start === undefined) return []
  const numbers = new Map<string, number>()
  const number = (text: string): number => keptIn(numbers, text, () => numbers.size)
  /** Around each entity: what the link is from here, and where it leads. */
  const around: { way: number; to: number }[][] = ids.map(() => [])
  for (const { from, to, type } of reader.edges('from', ids)) {
    const [a, b] = [place.get(from), place.get(to)]
    if (a === undefined || b === undefined) continue
    around[a]!.push({ way: number(`${type} >`), to: b })
    around[b]!.push({ way: number(`${type} <`), to: a })
  }
  if (around[start]!.length === 0) return []
  const candidates = ids.flatMap((other, i) => {
    return i !== start && kindOf(other) === kindOf(id) && around[i]!.length > 0 ? [{ i, sum: 0 }] : []
  })
  let labels = ids.map((one) => number(kindOf(one)))
  for (let round = 0; round < ROUNDS; round++) {
    const seen = around.map((links) => links.map(({ way, to }) => number(`${way} ${labels[to]}`)).sort((a, b) => a - b))
    for (const c of candidates) c.sum += overlap(seen[start]!, seen[c.i]!)
    labels = seen.map((all, i) => number(`${labels[i]}: ${all.join(' ')}`))
  }
  return candidates
    .filter((c) => c.sum > 0)
    .map(({ i, sum }) => ({ id: ids[i]!, score: sum / ROUNDS }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
}
