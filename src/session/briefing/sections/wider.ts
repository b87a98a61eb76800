import { keptIn } from '../../../base/lookup.ts'
import { vocabularyOf } from '../../../find/recall/contradictions.ts'
import { besideNearer, type Statement, type WideStatement } from '../../../find/recall/overridden.ts'
import { plain } from '../fence.ts'
import { many, refOf } from '../format.ts'
import type { About, Item, Section } from '../types.ts'
import { ruleLike } from './rules.ts'

interface Seen extends WideStatement {
  readonly by?: string
}

const seen = new WeakMap<About, readonly Seen[]>()

/** What the project does not say already; what it contradicts is marked. */
const beyond = (about: About): readonly Seen[] =>
  keptIn(seen, about, () => {
    const { wider, facts } = about
    const vouched = about.vouched(facts.map((e) => e.id))
    const nearer: Statement[] = facts.filter((e) => vouched.has(e.id))
    const said = wider.map((w) => w.entity)
    const beside = besideNearer(about.memory, said, nearer, vocabularyOf(about.project))
    return wider.flatMap((w, n): Seen[] => ('same' in beside[n]! ? [] : [{ ...w, ...beside[n] }]))
  })

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
      .map(({ entity }): Item => ({ id: `user/${entity.id}`, text: `- ${ruleLike(entity)}` }))
    if (items.length === 0) return undefined
    return { items, see: 'tidemark tiers', says: `${many(items.length, 'rule')} of your library` }
  },
}

export const wider: Section = {
  name: 'wider',
  title: 'Beyond this project',
  share: 4,
  build(about) {
    const items = beyond(about)
      .filter((s) => !binds(s))
      .map(({ entity, by }): Item => {
        const over = by === undefined ? '' : `; overridden here by ${plain(by, 120)}`
        const text = `- ${refOf(entity)}: ${plain(entity.name, 240)} (user tier: your library${over})`
        return { id: `user/${entity.id}`, text }
      })
    return items.length === 0 ? undefined : { items, see: 'recall in plain words' }
  },
}
