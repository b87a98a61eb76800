import type { WideStatement } from '../../find/recall/overridden.ts'
import { unverifiedAmong } from '../../find/recall/unverified.ts'
import { stateOf } from '../../find/recall/validity.ts'
import { askLibrary } from './library.ts'

/** What a session is told of, of each kind at most so many, the newest. */
const TOLD = { fact: 40, principle: 3, decision: 3, learning: 3, 'failed-approach': 3 }

/** What the user's library has to say to a session as it begins. */
export async function statementsFor(): Promise<WideStatement[]> {
  const told: WideStatement[] = []
  await askLibrary((library) => {
    const { reader, env } = library
    const all = Object.entries(TOLD).flatMap(([kind, limit]) => reader.list(kind, { limit }))
    const counting = all.filter((e) => stateOf(e, reader, env.now()) === undefined)
    const unverified = unverifiedAmong(library, counting)
    told.push(...counting.map((entity) => ({ entity, isOwnWord: !unverified.has(entity.id) })))
  })
  return told
}
