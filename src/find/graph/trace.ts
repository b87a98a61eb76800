import type { Reader } from '../../engine/read/reader.ts'
import { type Entity, madeAt } from '../../model/entity.ts'
import { type Reached, readReached, type Ways, walk } from './walk.ts'

/** What something rests on. */
const BEFORE: Ways = {
  out: ['supersedes', 'cites', 'depends-on', 'references', 'conflicts-with'],
  in: ['constrains', 'caused', 'led-to', 'conflicts-with'],
}
/** What came of it. A trace never turns round: others that cite the same thing are no part of it. */
const AFTER: Ways = { out: BEFORE.in, in: BEFORE.out }

export const TRACE_DEPTH = 3
/** So many entities in each direction of time. */
const TRACE_LIMIT = 400

/** What an entity rests on and what came of it, each once, by time; `ways`: these alone, not both directions. */
export function trace(
  reader: Reader,
  start: string,
  { ways, depth = TRACE_DEPTH }: { readonly ways?: Ways | undefined; readonly depth?: number | undefined } = {},
) {
  const options = { depth, limit: TRACE_LIMIT }
  const walks = (ways ? [ways] : [BEFORE, AFTER]).map((w) => walk(reader, start, { ways: w, ...options }))
  const reached = new Map<string, Reached>()
  for (const r of walks.flatMap((w) => w.reached))
    if (r.id !== start && r.depth < (reached.get(r.id)?.depth ?? Infinity)) reached.set(r.id, r)
  return {
    reached: readReached(reader, [...reached.values()]).sort(
      (a, b) => madeAt(a.entity) - madeAt(b.entity) || (a.id < b.id ? -1 : 1),
    ),
    cut: walks.some((w) => w.cut),
  }
}

/** The chain of supersessions that an entity stands in, oldest first; itself alone if there is none. */
export function evolution(reader: Reader, id: string): Entity[] {
  const older = walk(reader, id, { ways: { out: ['supersedes'], in: [] } }).reached
  const newer = walk(reader, id, { ways: { out: [], in: ['supersedes'] } }).reached
  return [...older.toReversed(), ...newer.slice(1)].flatMap((r) => reader.entity(r.id) ?? [])
}
