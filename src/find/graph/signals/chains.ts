import { keptIn } from '../../../base/lookup.ts'
import { madeAt } from '../../../model/entity.ts'
import { shellWord } from '../../../model/shell.ts'
import { capital, type Detector, inCommon, signalOn, spoken } from './signal.ts'

/** A chain of so many supersessions is told. */
const LEAST = 2
const SHOWN = 6

/** Decisions that were replaced again and again; the longest way back from each newest one. */
export const supersessionChains: Detector = (look) => {
  const known = new Map(look.decisions.map((e) => [e.id, e]))
  const older = new Map<string, string[]>()
  const replaced = new Set<string>()
  const links = look.options.reader.linksOf(['supersedes']).filter((l) => known.has(l.from) && known.has(l.to))
  for (const { from, to } of look.standing(links)) {
    older.set(from, [...(older.get(from) ?? []), to].sort())
    replaced.add(to)
  }
  const longest = new Map<string, string[]>()
  /** Concurrent writers can close a circle: what is being walked is not walked again. */
  const walked = new Set<string>()
  const chainTo = (id: string): string[] =>
    keptIn(longest, id, () => {
      walked.add(id)
      const before = (older.get(id) ?? []).filter((o) => !walked.has(o)).map(chainTo)
      walked.delete(id)
      return [...before.reduce((a, b) => (b.length > a.length ? b : a), []), id]
    })
  const chains = [...older.keys()].filter((id) => !replaced.has(id)).map(chainTo)
  const found = chains.filter((c) => c.length > LEAST).map((ids) => ids.map((id) => known.get(id)!))
  const topics = look.topicsOf(found.flat())
  return found.map((chain) => {
    const [topic] = inCommon(chain.map((e) => topics.get(e.id) ?? []))
    const names = chain.map((e) => spoken(e))
    const shown = names.length > SHOWN ? [...names.slice(0, 2), '…', ...names.slice(3 - SHOWN)] : names
    return {
      ...signalOn('evolution', 'low', chain[0]!.id),
      line: `📈 ${topic === undefined ? 'Decisions' : `${capital(topic)} decisions`}: ${shown.join(' → ')} (${chain.length}-step evolution)`,
      entities: chain.map((e) => e.id),
      evidence: chain.map((e) => `${new Date(madeAt(e)).toISOString().slice(0, 10)} ${spoken(e)}`),
      next: `tidemark trace ${shellWord(chain.at(-1)!.id)}`,
    }
  })
}
