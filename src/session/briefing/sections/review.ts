import { sayMore, waitingChanges } from '../../../engine/replication/waiting.ts'
import { stateOf } from '../../../find/recall/validity.ts'
import { numberOf, waitingIn } from '../../../work/handoff/views/mutations.ts'
import { plain } from '../fence.ts'
import { many, refOf } from '../format.ts'
import type { Item, Section } from '../types.ts'
import { isOutdated } from './rules.ts'

const LOOKED_AT = 100
const MAX_ITEMS = 10

export const review: Section = {
  name: 'review',
  title: 'Needs review',
  share: 5,
  build(about) {
    const { memory, reader, moment } = about
    const conflicts = reader
      .conflicts()
      .filter((e) => e.live && e.kind !== 'question' && !reader.registry().kind(e.kind)?.internal)
    const items: Item[] = conflicts.map((e) => {
      const fields = e.conflicts.map((c) => (c.field === '$' ? 'existence' : plain(c.field, 40)))
      return {
        id: e.id,
        text: `- ${refOf(e)} was written twice at once: ${[...new Set(fields)].join(', ')}; see tidemark conflicts`,
      }
    })
    const { all: waiting, more } = waitingChanges(memory.db)
    for (const { entity: e, by, wants } of waiting)
      items.unshift({
        id: e.id,
        text: `- ${plain(by, 60)} (unverified) ${plain(wants, 300)}: ${refOf(e)}. It stays as it is until the person decides: tidemark review`,
      })
    for (const [by, n] of more) items.unshift({ text: `- ${plain(sayMore(by, n), 120)}: tidemark review` })
    // one at a time: what a person has to decide is not to become noise
    for (const e of about.facts.filter((fact) => isOutdated(fact, about)))
      items.push({
        id: e.id,
        text: `- "${plain(e.name, 200)}" is no longer told: ${plain(about.stale(e.id)!.replace(/^stale: /, ''), 200)}. Read the code again, then re-anchor or supersede ${refOf(e)}`,
      })
    const [change] = waitingIn(reader)
    if (change)
      items.push({
        id: change.id,
        text: `- ${plain(numberOf(change)!, 20)} would change how ${plain(String(change.fields.skill ?? 'work'), 40)} is done: ask the person to look at tidemark mutation show ${plain(numberOf(change)!, 20)}`,
      })
    const over = reader
      .list('decision', { limit: LOOKED_AT })
      .filter((e) => e.fields.validTo !== undefined && stateOf(e, reader, moment) === 'no longer valid')
    for (const e of over)
      items.push({ id: e.id, text: `- ${refOf(e)} was valid until ${plain(String(e.fields.validTo), 30)} only` })
    if (items.length === 0) return undefined
    const others = [...more.values()].reduce((sum, n) => sum + n, waiting.length)
    const wanted = others > 0 ? `others want ${many(others, 'change')} (\`tidemark review\`)` : undefined
    const says = wanted ?? (change && `${numberOf(change)} to review (\`tidemark mutation\`)`)
    return {
      items: items.slice(0, MAX_ITEMS),
      beyond: Math.max(0, items.length - MAX_ITEMS),
      see: 'tidemark conflicts',
      ...(says === undefined ? {} : { says }),
    }
  },
}
