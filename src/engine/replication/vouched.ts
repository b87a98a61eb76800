import { keptIn } from '../../base/lookup.ts'
import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import { type Entity, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { compareStamps, STATE } from '../log/cells.ts'
import { foldOf } from '../log/context-value.ts'
import { cellsOf } from '../log/events.ts'
import { entityOf } from '../read/reader.ts'
import type { Db } from '../store/db.ts'
import { heldAmong } from '../store/held.ts'
import { isKeyed, isKeyOf, isSameKey } from '../store/keys.ts'
import { originalIn } from '../store/line.ts'
import { beside, eventsOf } from '../store/log.ts'
import type { Arrived } from '../store/own-lines.ts'
import * as ownLines from '../store/own-lines.ts'
import { getRow } from '../store/rows.ts'
import { acceptedReviewers } from './reviewers.ts'

/** What is said beside the thing itself: others may add to it without anybody having to agree again. */
export const BESIDE: ReadonlySet<string> = new Set(['provenance', 'tags', 'topics', 'evidence'])

/** Which entities somebody here stands by: the last word on them is of this store, its key, or an accepted reviewer (M6). */
export function vouchedFor({ db }: { readonly db: Db }, ids: readonly string[]): Set<string> {
  if (ids.length === 0) return new Set()
  const held = db.here === db ? undefined : heldAmong(db, ids)
  const vouched = new Set(held ? ids.filter((id) => held.get(id) !== false) : ids)
  const rows = held && held.size > 0 ? ids.filter((id) => !held.has(id)) : ids
  const elsewhere = [...new Set([...ownLines.touchedElsewhere(db, rows), ...ownLines.touchedByPeers(db, rows)])]
  if (elsewhere.length === 0) return vouched
  const said = vouchedBy(db, elsewhere, ownLines.eventsOfAll(db, elsewhere), (id) => {
    const row = getRow(db, id)
    return row && entityOf(row)
  })
  for (const id of elsewhere) if (!said.has(id)) vouched.delete(id)
  return vouched
}

/** Which entities that others have touched somebody here stands by, by what was said of them. `entity`: as they stand by it. */
export function vouchedBy(
  db: Db,
  ids: readonly string[],
  events: readonly Arrived[],
  entity: (id: string) => Entity | undefined,
): Set<string> {
  const vouched = new Set<string>()
  const last = lastWords(db, events)
  const isOwn = keyLines(db)
  const of = Map.groupBy(events, (e) => e.event.entity)
  for (const id of ids) {
    const folded = ownLines.arrivalsOf(db, id)
    const { own = 0, others = -1 } = last.get(id) ?? {}
    const said = Math.max(others, folded?.others || -1)
    const stood = Math.max(own, folded?.own ?? 0)
    const isAgreed = () => agreedUpTo(id, of.get(id) ?? [], (e) => isOwn(e.replica, e.seq)) >= said
    const isFoldedSince = (folded?.others ?? 0) > stood
    if (said < 0 || stood > said || (stood > 0 && !isFoldedSince && isAsOf(id, stood, events)) || isAgreed())
      vouched.add(id)
  }
  const others = ids.filter((id) => !vouched.has(id))
  for (const id of reviewedAmong(db, others, events, entity)) vouched.add(id)
  return vouched
}

/** Whether an entity says what it said when a line had arrived, and stands as it did: what came since has changed nothing. */
function isAsOf(id: string, n: number, events: readonly Arrived[]): boolean {
  const own = events.filter((e) => e.event.entity === id)
  const said = (some: readonly Arrived[]) => {
    const { live, fields } = foldOf(id, cellsOf(some.map((e) => e.event)))
    // a yes of others to their words is none to what was only proposed here
    return live && `${isStanding(fields)} ${contentDigest({ id, fields })}`
  }
  const now = said(own)
  return now !== false && now === said(own.filter((e) => e.n <= n))
}

export const isAgreement = ({ event: { field, value } }: Arrived): boolean =>
  field === 'provenance' && isObject(value) && value.confirms !== undefined

/** A digest of the content says nothing of this. */
export const isStanding = (fields: Entity['fields']): boolean => standingOf(fields) === 'confirmed'

/** The last arrival after which the entity said what the last confirmation is of; 0 if there is none. */
export function agreedUpTo(id: string, events: readonly Arrived[], decides: (e: Arrived) => boolean): number {
  let last: Arrived | undefined
  for (const e of events)
    if (decides(e) && (isAgreement(e) || !BESIDE.has(e.event.field)))
      if (!last || compareStamps(e.event.stamp, last.event.stamp) > 0) last = e
  if (!last || !isAgreement(last)) return 0
  const { confirms } = last.event.value as { confirms?: Json }
  const later = events.flatMap(({ n }) => (n > last.n ? [n] : [])).sort((a, b) => b - a)
  return (
    [...new Set(later)].find((n) => {
      const { live, fields } = foldOf(id, cellsOf(events.filter((e) => e.n <= n).map((e) => e.event)))
      return live && isStanding(fields) && contentDigest({ id, fields }) === confirms
    }) ?? 0
  )
}

/** Of each entity the last arrival by which somebody here stood by it, and the last by which others spoke of it. */
function lastWords(db: Db, events: readonly Arrived[]): Map<string, Partial<ownLines.Arrivals>> {
  const isOwn = keyLines(db)
  const last = new Map<string, Partial<ownLines.Arrivals>>()
  const peers = new Set(ownLines.touchedByPeers(db, [...new Set(events.map((e) => e.event.entity))]))
  for (const { event, replica, seq, n } of events) {
    const isPeers = peers.has(event.entity) && ownLines.isOfPeers(db, replica, seq)
    const whose = isOwn(replica, seq) && !isPeers ? 'own' : 'others'
    if (whose === 'own' ? !endorses(event.field, event.value) : BESIDE.has(event.field)) continue
    const so = last.get(event.entity) ?? {}
    last.set(event.entity, { ...so, [whose]: Math.max(n, so[whose] ?? 0) })
  }
  return last
}

/** Keeps who stood by what, of lines that are to be folded: a compaction takes back nobody's word. */
export function keepTrust(db: Db, covered: readonly { replica: string; first: number; last: number }[]): void {
  for (const c of covered) {
    const last = lastWords(db, ownLines.eventsIn(db, c.replica, c.first, c.last))
    const ids = [...last.keys()]
    const held = heldAmong(db, ids)
    const vouched = vouchedFor({ db }, ids)
    for (const [entity, words] of last) {
      const isUpheld = held.get(entity) ?? vouched.has(entity)
      ownLines.keepArrivals(db, entity, { own: 0, others: 0, ...words, ...(isUpheld ? { others: 0 } : {}) })
    }
  }
}

/** What is said of the thing itself, as its cells say it: by it a folded state, which has no lines, shows whether it changes that. */
export const saysOf = (db: Db, id: string): string =>
  canonical(
    [...cellsOf(eventsOf(db, id).map((e) => e.event))]
      .filter(([, cell]) => !BESIDE.has(cell.field))
      .map(([key, { value }]) => [key, value ?? null])
      .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)) as Json,
  )

/** Whether writing it says that the entity holds: to record or confirm it does; to reject, retire or delete it does not. */
export const endorses = (field: string, value: Json | undefined): boolean =>
  field !== STATE && field !== 'retired' && !(field === 'standing' && value !== 'confirmed')

/** What a confirmation is of: it does not hold for another content, whatever came first. */
export function contentDigest({ id, fields }: Pick<Entity, 'id' | 'fields'>): string {
  const said = Object.entries(fields).filter(([field]) => field !== 'standing' && !BESIDE.has(field))
  return sha256(canonical([id, Object.fromEntries(said)] as Json)).slice(0, 32)
}

/** Entities that an accepted reviewer confirmed as they stand, and that nobody who decides has turned down since. */
function reviewedAmong(...[db, ids, events, entity]: Parameters<typeof vouchedBy>): string[] {
  const isReviewers = reviewersLines(db)
  if (!isReviewers) return []
  const isOwn = ownLines.ownLines(db)
  return ids.filter((id) => {
    const now = entity(id)
    const digest = now && contentDigest(now)
    let isReviewed = false
    for (const e of events.filter((e) => e.event.entity === id).sort((a, b) => a.n - b.n)) {
      const { field, value } = e.event
      const isTheirs = isReviewers(e.replica, e.seq)
      if (field === 'provenance') isReviewed ||= isTheirs && isObject(value) && value.confirms === digest
      else if (isReviewed && !endorses(field, value) && (isOwn(e.replica, e.seq) || isTheirs)) isReviewed = false
    }
    return isReviewed
  })
}

function reviewersLines(db: Db): ((replica: string, seq: number) => boolean) | undefined {
  const keys = new Set(Object.values(acceptedReviewers(db)).flat())
  if (keys.size === 0) return undefined
  const pins = ownLines.pinned(db)
  return (replica, seq) => {
    if (isKeyed(replica)) return keys.values().some((key) => isKeyOf(key, replica))
    const pin = Object.hasOwn(pins, replica) ? pins[replica] : undefined
    return pin !== undefined && keys.has(pin.key) && seq >= pin.from
  }
}

/** Who wrote a line: the replica under whose key it stands, also where it stands under the name of a branch. */
export function authorsOf(db: Db): (replica: string) => string {
  const known = new Map<string, string>()
  return (replica) =>
    keptIn(known, replica, () => {
      const line = isKeyed(replica) ? undefined : beside(db, replica, 0, 'after')
      return (line && originalIn(line)?.replica) ?? replica
    })
}

/** Tells the lines that decide here: of this store, of another one with the same key, and of accepted reviewers. */
export function decidingLines(db: Db): (replica: string, seq: number) => boolean {
  const isOwn = keyLines(db)
  const isReviewers = reviewersLines(db)
  const authorOf = authorsOf(db)
  return (replica, seq) => isOwn(replica, seq) || !!isReviewers?.(authorOf(replica), seq)
}

/** Tells the lines that this store wrote, or another one with its key, such as one that was lost. */
function keyLines(db: Db): (replica: string, seq: number) => boolean {
  const isOwn = ownLines.ownLines(db)
  const own = ownLines.ownIdentities(db).flatMap(({ replica }) => (isKeyed(replica) ? [replica] : []))
  const authorOf = authorsOf(db)
  return (replica, seq) => isOwn(replica, seq) || own.some((o) => isSameKey(o, authorOf(replica)))
}
