import { canonical } from '../../model/canonical.ts'
import { EventStream, hashOf, type SharedState, type StreamEvent, sharedStates } from '../feed/feed.ts'
import { newsSince, presenceNews } from '../feed/news.ts'
import { archive, dropPresence, duePresence, eraseFromArchive } from '../store/archive.ts'
import type { Covered } from '../store/coverage.ts'
import type { Db } from '../store/db.ts'
import { isErasedOf } from '../store/held.ts'
import { tombstoneOf } from '../store/line.ts'
import { countArrival, inJson, lastArrivalOf, purgesIn, purgesOf } from '../store/log.ts'
import { authorsOf } from './vouched.ts'

const KEPT_MS = 30 * 86_400_000
const KEPT = 10_000
/** Rotation waits until this many more are due, or a day has passed. */
const SLACK = 1_000
const DAY_MS = 86_400_000

/** Archives events of sessions and claims that are 30 days old, or beyond the newest 10,000. Never waits for the lock. */
export function rotatePresence(db: Db, now: number): void {
  if (duePresence(db, now - KEPT_MS - DAY_MS, KEPT + SLACK).length === 0) return
  db.tryWrite(() => {
    const due = duePresence(db, now - KEPT_MS, KEPT)
    if (due.length === 0) return
    const stream = new EventStream(db)
    const past = due.flatMap((e) => stream.eventsOf(presenceNews(e)))
    archive(db, past)
    dropPresence(db, due.at(-1)!.seq)
  })
}

const PAGE = 500

/** Puts away what is about to be folded, here or by a snapshot: the caller holds the lock, and folds after it. */
export function archiveCovered(db: Db, lines: readonly Pick<Covered, 'replica' | 'first' | 'last'>[]): void {
  if (lines.length === 0) return
  const covered = Map.groupBy(lines, (c) => c.replica)
  const isCovered = (batch: string) => {
    const [replica = '', seq] = batch.split(':')
    return covered.get(replica)?.some((c) => c.first <= Number(seq) && Number(seq) <= c.last) === true
  }
  const stream = new EventStream(db, { entities: true })
  const last = lastArrivalOf(db, lines)
  for (let cursor = 0; cursor < last; ) {
    const page = newsSince(db, cursor, PAGE)
    const folded = page.flatMap((news) => {
      const events = news.presence ? [] : stream.eventsOf(news)
      if (isCovered(news.batch)) return events
      stream.tellWhole() // what stays is told upon what is folded
      return []
    })
    archive(db, folded)
    if (page.length < PAGE) return
    cursor = page.at(-1)!.seq
  }
}

/** Archives what came with a snapshot, since no line says it, and the last event of a key is its state (X4). */
export function archiveCame(db: Db, now: number, before: ReadonlyMap<string, SharedState>): void {
  const changed = [...sharedStates(db)].filter(([id, { live, value }]) => {
    const was = before.get(id)
    return (was?.live ?? false) !== live || (live && canonical(was?.value ?? null) !== canonical(value))
  })
  if (changed.length === 0) return
  const seq = countArrival(db)
  const came = changed.map(([id, { key, live, value }]): StreamEvent & { entity: string } => {
    const was = before.get(id)
    return {
      event_id: `snapshot:${seq}:${id}`,
      seq,
      session_id: null,
      timestamp: new Date(now).toISOString(),
      event_type: live ? 'update' : 'delete',
      key: key ?? was?.key ?? id,
      value: live ? value : null,
      previous_value: was?.live ? was.value : null,
      context_hash: hashOf(live ? value : null),
      entity: id,
    }
  })
  archive(db, came)
}

/** Drops events of what was erased from the archive. `texts`: what had to go, where this process knows it. */
export function scrubArchive(db: Db, texts: readonly string[] = []): void {
  const needles = texts.filter((t) => t !== '').flatMap((t) => [inJson(t), inJson(inJson(t))])
  const authorOf = authorsOf(db)
  eraseFromArchive(db, (e, line) => {
    const entity = e.entity ?? e.key
    const [replica = '', seq = '0'] = e.event_id.split(':')
    if (isErasedOf(db, tombstoneOf(entity), authorOf(replica)) || purgesIn(db, entity).length > 0) return true
    if (replica !== 'presence' && purgesOf(db, replica, Number.parseInt(seq, 10)).length > 0) return true
    return needles.some((needle) => line.includes(needle))
  })
}
