import { STATE } from '../log/cells.ts'
import type { Json } from '../model/field.ts'
import type { Db } from '../store/db.ts'
import {
  type Arrivals,
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
  const isOwn = ownLines(db)
  const own = new Map<string, number>()
  const others = new Map<string, number>()
  for (const { event, replica, seq, n } of eventsOfAll(db, elsewhere)) {
    const here = isOwn(replica, seq)
    if (here ? !endorses(event.field, event.value) : BESIDE.has(event.field)) continue
    const last = here ? own : others
    last.set(event.entity, Math.max(n, last.get(event.entity) ?? 0))
  }
  for (const id of elsewhere) {
    const folded = arrivalsOf(db, id)
    const said = Math.max(others.get(id) ?? -1, folded?.others || -1)
    if (said >= 0 && Math.max(own.get(id) ?? 0, folded?.own ?? 0) <= said) vouched.delete(id)
  }
  return vouched
}

/** Keeps who stood by what, and when it arrived, of lines that are to be folded away: a compaction takes back nobody's word. */
export function keepTrust(db: Db, covered: readonly { replica: string; seq: number }[]): void {
  const isOwn = ownLines(db)
  for (const c of covered) {
    const last = new Map<string, Arrivals>()
    for (const { event, replica, seq, n } of eventsIn(db, c.replica, c.seq)) {
      const here = isOwn(replica, seq)
      if (here ? !endorses(event.field, event.value) : BESIDE.has(event.field)) continue
      const so = last.get(event.entity) ?? { own: 0, others: 0 }
      so[here ? 'own' : 'others'] = Math.max(n, so[here ? 'own' : 'others'])
      last.set(event.entity, so)
    }
    for (const [entity, arrivals] of last) keepArrivals(db, entity, arrivals)
  }
}

/** Whether writing it says that the entity holds: to record or confirm it does; to reject, retire or delete it does not. */
export const endorses = (field: string, value: Json | undefined): boolean =>
  field !== STATE && field !== 'retired' && !(field === 'standing' && value !== 'confirmed')
