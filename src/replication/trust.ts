import { STATE } from '../log/cells.ts'
import { cellsOf } from '../log/events.ts'
import { canonical } from '../model/canonical.ts'
import { sha256 } from '../model/digest.ts'
import type { Entity } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { isObject } from '../model/object.ts'
import { entityOf } from '../read/reader.ts'
import type { Db } from '../store/db.ts'
import { isKeyed, isKeyOf } from '../store/keys.ts'
import { eventsOf } from '../store/log.ts'
import { getRow } from '../store/rows.ts'
import {
  type Arrivals,
  type Arrived,
  arrivalsOf,
  eventsIn,
  eventsOfAll,
  isOfPeers,
  keepArrivals,
  ownLines,
  pinned,
  touchedByPeers,
  touchedElsewhere,
} from '../store/trust.ts'
import { acceptedReviewers } from './reviewers.ts'

/** What is said beside the thing itself: others may add to it without anybody having to agree again. */
export const BESIDE: ReadonlySet<string> = new Set(['provenance', 'tags', 'topics', 'evidence'])

/**
 * Which entities somebody in this store stands by: after the last that another replica said of them arrived here, they
 * were recorded, edited or confirmed here, or a reviewer whom the person here accepted has confirmed them. What came by sync, or from a
 * peer of a live Yjs document, is unverified until then, whatever it says of its own standing (M6). Who wrote a line is known by where it came from, and when by the order of arrival: the author's name
 * and the stamp in it are the writer's word alone.
 */
export function vouchedFor({ db }: { readonly db: Db }, ids: readonly string[]): Set<string> {
  const vouched = new Set(ids)
  const elsewhere = [...new Set([...touchedElsewhere(db, ids), ...touchedByPeers(db, ids)])]
  if (elsewhere.length === 0) return vouched
  const events = eventsOfAll(db, elsewhere)
  const last = lastWords(db, events)
  for (const id of elsewhere) {
    const folded = arrivalsOf(db, id)
    const { own = 0, others = -1 } = last.get(id) ?? {}
    const said = Math.max(others, folded?.others || -1)
    if (said >= 0 && Math.max(own, folded?.own ?? 0) <= said) vouched.delete(id)
  }
  const others = elsewhere.filter((id) => !vouched.has(id))
  for (const id of reviewedAmong(db, others, events)) vouched.add(id)
  return vouched
}

/** Of each entity the last arrival by which somebody here stood by it, and the last by which others spoke of it. */
function lastWords(db: Db, events: readonly Arrived[]): Map<string, Partial<Arrivals>> {
  const isOwn = ownLines(db)
  const last = new Map<string, Partial<Arrivals>>()
  const peers = new Set(touchedByPeers(db, [...new Set(events.map((e) => e.event.entity))]))
  for (const { event, replica, seq, n } of events) {
    const isPeers = peers.has(event.entity) && isOfPeers(db, replica, seq)
    const whose = isOwn(replica, seq) && !isPeers ? 'own' : 'others'
    if (whose === 'own' ? !endorses(event.field, event.value) : BESIDE.has(event.field)) continue
    const so = last.get(event.entity) ?? {}
    last.set(event.entity, { ...so, [whose]: Math.max(n, so[whose] ?? 0) })
  }
  return last
}

/** Keeps who stood by what, and when it arrived, of lines that are to be folded away: a compaction takes back nobody's word. */
export function keepTrust(db: Db, covered: readonly { replica: string; first: number; last: number }[]): void {
  for (const c of covered)
    for (const [entity, words] of lastWords(db, eventsIn(db, c.replica, c.first, c.last)))
      keepArrivals(db, entity, { own: 0, others: 0, ...words })
}

/** What is said of the thing itself, as its cells say it: by it a folded state, which has no lines, shows whether it changes that. */
export function saysOf(db: Db, id: string): string {
  const cells = [...cellsOf(eventsOf(db, id).map((e) => e.event))]
  return canonical(
    cells
      .filter(([, cell]) => !BESIDE.has(cell.field))
      .map(([key, { value }]) => [key, value ?? null])
      .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)) as Json,
  )
}

/** Whether writing it says that the entity holds: to record or confirm it does; to reject, retire or delete it does not. */
export const endorses = (field: string, value: Json | undefined): boolean =>
  field !== STATE && field !== 'retired' && !(field === 'standing' && value !== 'confirmed')

/** What a confirmation is of: it does not hold for another content, whatever came first. */
export function contentDigest({ id, fields }: Entity): string {
  const said = Object.entries(fields).filter(([field]) => field !== 'standing' && !BESIDE.has(field))
  return sha256(canonical([id, Object.fromEntries(said)] as Json)).slice(0, 32)
}

/**
 * Which entities an accepted reviewer has confirmed as they stand, in a batch that bears the reviewer's key. What a
 * reviewer, or somebody here, has turned down since is not among them.
 */
function reviewedAmong(db: Db, ids: readonly string[], events: readonly Arrived[]): string[] {
  const keys = new Set(Object.values(acceptedReviewers(db)).flat())
  if (keys.size === 0) return []
  const pins = pinned(db)
  const isOwn = ownLines(db)
  const isReviewers = ({ replica, seq }: Arrived) => {
    if (isKeyed(replica)) return keys.values().some((key) => isKeyOf(key, replica))
    const pin = Object.hasOwn(pins, replica) ? pins[replica] : undefined
    return pin !== undefined && keys.has(pin.key) && seq >= pin.from
  }
  return ids.filter((id) => {
    const row = getRow(db, id)
    const digest = row && contentDigest(entityOf(row))
    let isReviewed = false
    for (const e of events.filter((e) => e.event.entity === id).sort((a, b) => a.n - b.n)) {
      const { field, value } = e.event
      if (field === 'provenance') isReviewed ||= isReviewers(e) && isObject(value) && value.confirms === digest
      else if (isReviewed && !endorses(field, value) && (isOwn(e.replica, e.seq) || isReviewers(e))) isReviewed = false
    }
    return isReviewed
  })
}
