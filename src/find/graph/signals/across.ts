import type { Entity } from '../../../model/entity.ts'
import { shellWord } from '../../../model/shell.ts'
import { wordSet } from '../../recall/word-overlap.ts'
import { ownTopics } from '../topics.ts'
import { type Detector, fieldOf, said, signalOn, spoken } from './signal.ts'
import { areSimilar, type Saying } from './similar.ts'

/** The newest decisions of each project are compared. */
export const MOST_ACROSS = 300
const SHOWN = 4

/** Decisions that another project of the user has made in a similar way; none where there is only one project. */
export const similarAcross: Detector = (look) => {
  const others = look.options.others?.() ?? []
  if (others.length === 0) return []
  const { reader, topics } = look.options
  const sayingOf = (entity: Entity): Saying => ({
    entity,
    words: wordSet(fieldOf(entity, 'description') || spoken(entity)),
    topics: ownTopics(reader, entity, topics).map((t) => t.topic),
  })
  const own = look.decisions.slice(-MOST_ACROSS).map(sayingOf)
  return others.flatMap(({ id, name, decisions }) => {
    const pairs = decisions.map(sayingOf).flatMap((theirs) => {
      const here = own.find((o) => areSimilar(o, theirs))
      return here ? [{ here: here.entity, there: theirs.entity }] : []
    })
    if (pairs.length === 0) return []
    const names = [...new Set(pairs.map((p) => spoken(p.there)))]
    return [
      {
        ...signalOn('across', 'low', id),
        line: `🔗 Similar decisions in \`${said(name)}\`: ${[...names.slice(0, SHOWN), ...(names.length > SHOWN ? ['…'] : [])].join(', ')}`,
        entities: [...new Set(pairs.map((p) => p.here.id))],
        evidence: pairs.slice(0, SHOWN).map((p) => `${spoken(p.here)} ~ ${spoken(p.there)}`),
        next: `tidemark recall ${shellWord(spoken(pairs[0]!.there))} --in ${shellWord(name)}`,
      },
    ]
  })
}
