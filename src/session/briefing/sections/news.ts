import { STATE, type StateValue } from '../../../engine/log/cells.ts'
import { heldOf } from '../../../engine/store/held.ts'
import { isErased } from '../../../engine/store/log.ts'
import { type Touch, touchesAfter } from '../../../engine/store/own-lines.ts'
import { type Entity, isPage, kindOf } from '../../../model/entity.ts'
import { plain } from '../fence.ts'
import { isElsewhere } from '../focus.ts'
import { day, many, refOf } from '../format.ts'
import { lastHere } from '../last-visit.ts'
import type { About, Built, Item, Section } from '../types.ts'
import { isRead } from './rules.ts'

const BATCHES = 80
const MAX_ITEMS = 15
const KINDS_NAMED = 4
/** Told elsewhere, or never: open questions are asked for, not told (G6). */
const NOT_NEWS = new Set('question handoff chunk turn observation action-note measurement context'.split(' '))

/** What others changed since this session, or else this user, was last here. */
export const news: Section = {
  name: 'news',
  title: 'Changed since you were last here',
  share: 7,
  build(about) {
    const since = lastHere(about)
    if (since === undefined) return firstSeen(about)
    const fresh = countBursts(changesSince(about, since), about).filter(
      ({ entity: e }) =>
        !about.delivered.has(e.id) && !isElsewhere(e, about) && !(e.kind === 'fact' && e.live && isRead(e, about)),
    )
    if (fresh.length === 0) return undefined
    const items = fresh.slice(0, MAX_ITEMS).map(({ entity, text }): Item => ({ id: entity.id, text }))
    return { items, beyond: fresh.length - items.length, see: 'tidemark back' }
  },
}

/** Somebody who was never here hears how much is known already; rules are counted where they are told. */
function firstSeen({ reader }: About): Built | undefined {
  const counts = reader.counts().flatMap(({ kind: name, n }) => {
    const kind = reader.registry().kind(name)
    return !kind || kind.internal || kind.binding || NOT_NEWS.has(name) ? [] : [many(n, kind.name, kind.plural)]
  })
  return counts.length === 0 ? undefined : { items: [], says: `known: ${counts.slice(0, KINDS_NAMED).join(', ')}` }
}

type Change = Readonly<{ entity: Entity; text: string; by: string }>

/** Entities that others touched after a cursor, newest first, each with what became of it. */
export function changesSince(about: About, since: number): Change[] {
  const { reader, memory, session } = about
  const touches = touchesAfter(memory.db, since, BATCHES).filter((t) => t.session === null || t.session !== session)
  about.vouched([...new Set(touches.map((t) => t.entity))]) // all at once
  const changed: Change[] = []
  for (const [id, all] of Map.groupBy(touches, (t) => t.entity)) {
    const kind = kindOf(id)
    if (NOT_NEWS.has(kind) || reader.registry().kind(kind)?.internal) continue
    const entity = reader.entity(id)
    if (heldOf(memory.db, id) !== undefined) continue // what waits is told to be reviewed
    if (!entity || isPage(entity) || entity.fields.standing === 'proposed' || entity.fields.standing === 'rejected')
      continue
    const { user, agent, session: of } = all[0]!
    // what was not there before nobody here knew
    const isNew = (batch: string) => all.some((t) => `${t.replica}:${t.seq}` === batch)
    const states = entity.live ? [] : memory.history(id).filter((x) => x.event.field === STATE && !isNew(x.batch))
    const wasThere = states.length > 0 && (states.at(-1)!.event.value as StateValue).s !== 'deleted'
    if (!entity.live && !isErased(memory.db, id) && !wasThere) continue
    // that somebody agreed changes nothing of what it says
    if (entity.live && all.every((t) => t.field === 'standing' || t.field === 'provenance')) continue
    changed.push({ entity, text: lineOf(entity, all, about), by: user ?? agent ?? of ?? 'somebody' })
  }
  return changed
}

/** So much of one author whom nobody here stands by is news; more is a number. */
const BURST = 8

function countBursts(changed: readonly Change[], about: About): Change[] {
  const here = about.vouched(changed.map((c) => c.entity.id))
  const byAuthor = Map.groupBy(changed, (c) => (here.has(c.entity.id) ? '' : c.by))
  return changed.flatMap((one) => {
    const all = here.has(one.entity.id) ? [] : byAuthor.get(one.by)!
    if (all.length <= BURST) return [one]
    const text = `- ${plain(one.by, 40)}, unverified, wrote of ${all.length} things: tidemark back lists them`
    return one === all[0] ? [{ ...one, text }] : []
  })
}

function lineOf(e: Entity, touches: readonly Touch[], about: About): string {
  const { vouched, memory } = about
  const { user, agent, session, at } = touches[0]!
  const verb = !e.live
    ? 'deleted'
    : e.fields.retired !== undefined
      ? 'retired'
      : e.fields.status === 'superseded'
        ? 'superseded'
        : touches.some((t) => t.field === '$')
          ? 'new'
          : 'changed'
  const who = plain(user ?? agent ?? session ?? 'somebody', 40)
  if (!e.live && isErased(memory.db, e.id)) return `- erased: something of kind ${e.kind} (${who}, ${day(at, about)})`
  const unverified = vouched([e.id]).has(e.id) ? '' : ', unverified'
  return `- ${verb}: ${calledOnce(e)} (${who}, ${day(at, about)}${unverified})`
}

/** A long id is made of the name: then that alone. */
const LONG_ID = 48
function calledOnce(e: Entity): string {
  const name = plain(e.name, 120)
  if (name === '' || e.id.endsWith(`:${e.name}`)) return refOf(e)
  return e.id.length > LONG_ID ? `${e.kind} "${name}"` : `${refOf(e)}: ${name}`
}
