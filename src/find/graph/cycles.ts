import type { Reader } from '../../engine/read/reader.ts'

/** Cycles of relations that must have none: two links can close one when they meet, each right where it was made (K8). */
export function cyclesIn(reader: Reader): { relation: string; ids: string[] }[] {
  const isLive = (id: string) => reader.entity(id)?.live === true
  const relations = reader.registry().relations()
  return relations.flatMap(({ name: relation, acyclic }) => {
    const links = acyclic ? reader.linksOf([relation]) : []
    if (cyclesOf(links).length === 0) return []
    const live = links.filter((l) => isLive(l.id) && isLive(l.from) && isLive(l.to))
    return cyclesOf(live).map((ids) => ({ relation, ids }))
  })
}

/** At least one cycle of every tangle; nothing where there is none. */
function cyclesOf(links: ReturnType<Reader['linksOf']>): string[][] {
  const next = Map.groupBy(links, (l) => l.from)
  const toOf = (id: string) => (next.get(id) ?? []).map((l) => l.to).sort()
  const done = new Set<string>()
  const found: string[][] = []
  for (const start of [...next.keys()].sort()) {
    if (done.has(start)) continue
    const path = [{ id: start, left: toOf(start) }]
    const onPath = new Set([start])
    for (let at = path.at(-1); at; at = path.at(-1)) {
      const to = at.left.pop()
      if (to === undefined) {
        path.pop()
        onPath.delete(at.id)
        done.add(at.id)
      } else if (onPath.has(to)) found.push(path.slice(path.findIndex((p) => p.id === to)).map((p) => p.id))
      else if (!done.has(to)) {
        path.push({ id: to, left: toOf(to) })
        onPath.add(to)
      }
    }
  }
  return found
}
