import type { Event } from '../log/events.ts'
import type { Db } from './db.ts'
import { type EventRow, unpack } from './log.ts'

/** Everything known to have happened to an entity before a moment in the order of arrival; what was folded away came first. */
export const arrivedBefore = (db: Db, entity: string, n: number): Event[] =>
  db
    .all<EventRow>(
      `SELECT e.replica, e.seq, e.i, e.ms, e.body FROM events e LEFT JOIN log l ON l.replica=e.replica AND l.seq=e.seq
       WHERE e.entity=? AND coalesce(l.n, 0) < ? ORDER BY coalesce(l.n, 0), e.i`,
      entity,
      n,
    )
    .map((row) => unpack(row).event)

/** Where in the order of arrival the batches stand that touched an entity, newest first; those folded away are gone. */
export const arrivalsOf = (db: Db, entity: string, limit: number): number[] =>
  db
    .all<{ n: number }>(
      `SELECT DISTINCT l.n FROM events e JOIN log l ON l.replica=e.replica AND l.seq=e.seq
       WHERE e.entity=? ORDER BY l.n DESC LIMIT ?`,
      entity,
      limit,
    )
    .map((row) => row.n)
