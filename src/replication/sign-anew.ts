import type { Env } from '../env.ts'
import { type Event, renamed } from '../log/events.ts'
import { applyLine, entitiesIn, States } from '../materialize/apply.ts'
import type { Registry } from '../model/registry.ts'
import type { Db } from '../store/db.ts'
import { isKeyed, isKeyOf } from '../store/keys.ts'
import { isStandIn, type Line, saltIn, seal } from '../store/line.ts'
import * as log from '../store/log.ts'
import { inRanges, type Range } from '../store/ranges.ts'
import { keepShared, lastShared, mintReplica, type Place, saveClock } from '../store/replica.ts'
import { leftOf, ownIdentities } from '../store/trust.ts'
import { rebuildEntities } from './rebuild.ts'

/**
 * Own lines that never left, under an identity whose key is not here: the project was copied to another machine, or its user's
 * state is gone. Nobody would take them, so they are written again under an identity that signs with the key of here. Returns how
 * many. The caller holds the write lock.
 */
export function signAnew(db: Db, env: Env, registry: () => Registry, key: string): number {
  let moved = 0
  for (const { replica, upTo } of ownIdentities(db)) {
    if (!isKeyed(replica) || isKeyOf(key, replica) || log.forkedFrom(db, replica) !== undefined) continue
    const left = leftOf(db, replica)
    const lines = [...log.linesBetween(db, replica, 1, Math.min(upTo, log.head(db, replica).seq))].filter(
      // one that bears a signature came back from others
      (l) => !l.local && !l.signature && !isStandIn(l) && !inRanges(left, l.seq),
    )
    if (lines.length === 0) continue
    for (const line of lines) log.takeLine(db, line)
    rebuildEntities(db, registry(), new Set(lines.flatMap((l) => [...entitiesIn(l)])))
    const tag = mintReplica(db, env)
    const counters = lines.map((l): Range => [l.ctr, l.events.at(-1)?.stamp.ctr ?? l.ctr])
    const now = new Map<string, Line>()
    for (const line of lines) {
      const again = underTag(line, tag, counters, now, lastShared(db))
      now.set(`${replica}:${line.seq}`, again)
      applyLine(db, new States(db), registry(), again, env.now())
      keepShared(db, again)
    }
    saveClock(db, { ms: lines.at(-1)!.at, ctr: counters.at(-1)![1] })
    log.finding(
      db,
      `key:${replica}`,
      env.now(),
      `the key of replica ${replica} is not on this machine: what it had not shared is shared as ${tag}`,
    )
    moved += lines.length
  }
  return moved
}

/** A line as it would be, had it been written under another tag. `now`: those of the lines before it that were. */
function underTag(
  line: Line,
  tag: string,
  counters: readonly Range[],
  now: ReadonlyMap<string, Line>,
  before: Place,
): Line {
  const { replica, at, author, ctr, purges, forks } = line
  const batchNow = (batch: string) => {
    const there = now.get(batch)
    return there ? `${there.replica}:${there.seq}` : batch
  }
  const events = line.events.map((e) => renamed(e, replica, tag, counters)).map(asRemoved)
  return seal({
    ...{ replica: tag, seq: before.seq + 1, prev: before.hash, at, ctr, events, forks },
    author: author.undoes ? { ...author, undoes: author.undoes.map(batchNow) } : author,
    // a copy of this store may have the line as it was
    purges: purges.flatMap((p) => {
      const there = now.get(`${p.replica}:${p.seq}`)
      return there ? [p, { ...p, replica: tag, seq: there.seq, hash: there.hash }] : [p]
    }),
    salt: (entity) => saltIn(line, entity),
  })
}

/** What was erased says nothing any more, and still takes the place of what it overwrote. */
function asRemoved(e: Event): Event {
  if (!e.purged) return e
  const { value: _value, path: _path, list: _list, pos: _pos, ...rest } = e
  return { ...rest, op: 'remove' }
}
