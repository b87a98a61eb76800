import { type Entity, nameKey } from '../../../model/entity.ts'
import { shellWord } from '../../../model/shell.ts'
import { foldSimilar } from '../../recall/duplicates.ts'
import { type Detector, fieldOf, joined, said, signalOn } from './signal.ts'

/** So many exceptions to one rule are told. */
const LEAST = 2
const RULES = new Set(['fact', 'principle'])

const ruleOf = (e: Entity) => ({ id: e.id, kind: 'fact', text: fieldOf(e, 'ruleBroken') || e.name })

/** Exceptions to the same rule: by links to it, or because its words are nearly the same. */
export const exceptionClusters: Detector = (look) => {
  const exceptions = look.agreed('exception')
  if (exceptions.length < LEAST) return []
  const byId = new Map(exceptions.map((e) => [e.id, e]))
  const linked = new Map(
    look
      .edgesAt(exceptions, 'contradicts', 'contradicts-general-advice', 'about', 'references')
      .flatMap((e) => (byId.has(e.from) && !byId.has(e.to) ? [[e.from, e.to] as const] : [])),
  )
  const { reader } = look.options
  const named = (e: Entity) =>
    reader.byName(nameKey(fieldOf(e, 'ruleBroken'))).find((r) => RULES.has(r.kind) && r.live)?.id
  const groups = foldSimilar(exceptions.map(ruleOf)).map((f) => [f.item.id, ...f.similar].map((id) => byId.get(id)!))
  const ruleFor = (group: readonly Entity[]) =>
    group.map((e) => linked.get(e.id)).find(Boolean) ??
    (linked.size > 0 || group.length >= LEAST ? group.map(named).find(Boolean) : undefined)
  return [...Map.groupBy(groups, (group) => ruleFor(group) ?? group[0]!.id)].flatMap(([about, same]) => {
    const found = same.flat()
    if (found.length < LEAST) return []
    const rule = byId.has(about) ? undefined : reader.entity(about)
    const text = rule?.name ?? fieldOf(found[0]!, 'ruleBroken')
    return [
      {
        ...signalOn('exceptions', 'medium', about),
        line: `⚠️ "${said(text)}" has ${found.length} exceptions — consider revising rule or documenting exceptions`,
        entities: [...(rule ? [rule.id] : []), ...found.map((e) => e.id)],
        evidence: found.map((e) => joined([fieldOf(e, 'justification'), fieldOf(e, 'scope')], '; in ')),
        next: `tidemark show ${shellWord(rule?.id ?? found[0]!.id)}`,
      },
    ]
  })
}
