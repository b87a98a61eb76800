import { STATE } from '../log/cells.ts'
import type { Json } from '../model/field.ts'
import type { Db } from '../store/db.ts'
import {
  type Arrivals,
  type Arrived,
  arrivalsOf,
  eventsIn,
  eventsOfAll,
  keepArrivals,
  ownLines,
  touchedElsewhere,
} from '../store/trust.ts'

/** What is said beside the thing itself: others may add to it without anybody having to agree again. */
export const BESIDE: ReadonlySet<string> = new Set(['provenance', 'tags', 'topics', 'evidence'])

/**
 * Which entities somebody in this store stands by: after the last that another replica said of them arrived here, they
 * were recorded, edited or confirmed here. What came by sync is unverified until then, whatever it says of its own
 * standing (M6). Who wrote a line is known by where it came from, and when by the order of arrival: the author's name
 * and the stamp in it are the writer's word alone.
 */
export function vouchedFor({ db }: { readonly db: Db }, ids: readonly string[]): Set<string> {
  const vouched = new Set(ids)
  const elsewhere = touchedElsewhere(db, ids)
  if (elsewhere.length === 0) return vouched
  const last = lastWords(db, eventsOfAll(db, elsewhere))
  for (const id of elsewhere) {
    const folded = arrivalsOf(db, id)
    const { own = 0, others = -1 } = last.get(id) ?? {}
    const said = Math.max(others, folded?.others || -1)
    if (said >= 0 && Math.max(own, folded?.own ?? 0) <= said) vouched.delete(id)
  }
  return vouched
}

/** Of each entity the last arrival by which somebody here stood by it, and the last by which others spoke of it. */
function lastWords(db: Db, events: readonly Arrived[]): Map<string, Partial<Arrivals>> {
  const isOwn = ownLines(db)
  const last = new Map<string, Partial<Arrivals>>()
  for (const { event, replica, seq, n } of events) {
    const whose = isOwn(replica, seq) ? 'own' : 'others'
    if (whose === 'own' ? !endorses(event.field, event.value) : BESIDE.has(event.field)) continue
    const so = last.get(event.entity) ?? {}
    last.set(event.entity, { ...so, [whose]: Math.max(n, so[whose] ?? 0) })
  }
  return last
}

/** Keeps who stood by what, and when it arrived, of lines that are to be folded away: a compaction takes back nobody's word. */
export function keepTrust(db: Db, covered: readonly { replica: string; seq: number }[]): void {
  for (const c of covered)
    for (const [entity, words] of lastWords(db, eventsIn(db, c.replica, c.seq)))
      keepArrivals(db, entity, { own: 0, others: 0, ...words })
}

/** Whether writing it says that the entity holds: to record or confirm it does; to reject, retire or delete it does not. */
export const endorses = (field: string, value: Json | undefined): boolean =>
  field !== STATE && field !== 'retired' && !(field === 'standing' && value !== 'confirmed')
