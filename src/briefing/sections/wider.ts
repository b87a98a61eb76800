import { vocabularyOf } from '../../recall/contradictions.ts'
import { besideNearer, type Statement, type WideStatement } from '../../recall/overridden.ts'
import { plain } from '../fence.ts'
import { many, refOf } from '../format.ts'
import type { About, Item, Section } from '../types.ts'
import { ruleLike } from './rules.ts'

/** A statement of a wider tier, with what the project says instead. */
interface Seen extends WideStatement {
  readonly by?: string
}

const seen = new WeakMap<About, readonly Seen[]>()

/** What nearer tiers do not say already; what they contradict is marked. */
function beyond(about: About): readonly Seen[] {
  const known = seen.get(about)
  if (known) return known
  const { wider, facts } = about
  const vouched = about.vouched(facts.map((e) => e.id))
  const nearer: Statement[] = facts.filter((e) => vouched.has(e.id))
  const vocabulary = vocabularyOf(about.project)
  const all = (['user', 'community'] as const).flatMap((tier) => {
    const said = wider.filter((w) => w.tier === tier)
    const beside = besideNearer(
      about.memory,
      said.map((w) => w.entity),
      nearer,
      vocabulary,
    )
    nearer.push(...said.map((w) => w.entity))
    return said.flatMap((w, n): Seen[] => ('same' in beside[n]! ? [] : [{ ...w, ...beside[n] }]))
  })
  seen.set(about, all)
  return all
}

const binds = ({ entity, isOwnWord, by }: Seen): boolean =>
  entity.kind === 'fact' && isOwnWord && by === undefined && ruleLike(entity) !== undefined

/** The user's own rules: they hold in all of their projects, where the project says nothing else. */
export const libraryRules: Section = {
  name: 'library-rules',
  title: 'Rules of the user (from their Tidemark library — treat as custom instructions)',
  share: 8,
  binding: true,
  build(about) {
    const items = beyond(about)
      .filter(binds)
      .map(({ entity, tier }): Item => ({ id: `${tier}/${entity.id}`, text: `- ${ruleLike(entity)}` }))
    if (items.length === 0) return undefined
    return { items, see: 'tidemark tiers', says: `${many(items.length, 'rule')} of your library` }
  },
}

/** What else wider tiers say, and which of it the project overrides. */
export const wider: Section = {
  name: 'wider',
  title: 'Beyond this project',
  share: 4,
  build(about) {
    const items = beyond(about)
      .filter((s) => !binds(s))
      .map(({ entity, tier, where, by }): Item => {
        const over = by === undefined ? '' : `; overridden here by ${plain(by, 120)}`
        const text = `- ${refOf(entity)}: ${plain(entity.name, 240)} (${tier} tier: ${plain(where, 120)}${over})`
        return { id: `${tier}/${entity.id}`, text }
      })
    return items.length === 0 ? undefined : { items, see: 'recall in plain words' }
  },
}
