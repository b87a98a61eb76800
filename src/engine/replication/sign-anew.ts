import type { Env } from '../../base/env.ts'
import type { Registry } from '../../model/registry.ts'
import { type Event, renamed } from '../log/events.ts'
import { applyLine, entitiesIn, States } from '../materialize/apply.ts'
import { travelsFrom } from '../read/travels.ts'
import { keepLost, remadeLines } from '../store/compare.ts'
import type { Db } from '../store/db.ts'
import { isKeyed, isKeyOf } from '../store/keys.ts'
import { isStandIn, type Line, saltIn, seal, type Unsealed } from '../store/line.ts'
import * as log from '../store/log.ts'
import { leftOf, ownIdentities } from '../store/own-lines.ts'
import { inRanges, type Range } from '../store/ranges.ts'
import { followingShared, keepShared, mintReplica, newSalt, saveClock } from '../store/replica.ts'
import { rebuildEntities } from './rebuild.ts'

/** Writes own unshared lines again under a new identity, where others would not take them: their key is gone, or a line was remade. */
export function signAnew(db: Db, env: Env, registry: () => Registry, key: string | undefined): number {
  let moved = 0
  const travels = travelsFrom(db, registry())
  const isLocal = (l: Line) => l.local || (isStandIn(l) && !l.events.some((e) => travels(e.entity)))
  const remade = remadeLines(db).filter((l) => !isLocal(l))
  for (const { replica, upTo } of ownIdentities(db)) {
    if (log.forkedFrom(db, replica) !== undefined) continue
    const isOfOther = key !== undefined && isKeyed(replica) && !isKeyOf(key, replica)
    const left = leftOf(db, replica)
    const broken = remade.filter((l) => l.replica === replica && !inRanges(left, l.seq)).map((l) => l.seq)
    const first = isOfOther ? 1 : Math.min(...broken)
    const last = Math.min(upTo, log.head(db, replica).seq)
    // what has left names the lines before it as they were
    if (first > last || (!isOfOther && left.some(([, to]) => to > first))) continue
    const lines = [...log.linesBetween(db, replica, first, last)].filter(
      // one that bears a signature came back from others
      (l) => !(isOfOther && (l.local || isStandIn(l))) && !l.signature && !inRanges(left, l.seq),
    )
    if (lines.length === 0) continue
    for (const line of lines) log.takeLine(db, line)
    const lost = lines.map((l) => ({ replica, from: l.seq, to: l.seq }))
    keepLost(db, lost)
    rebuildEntities(db, registry(), new Set(lines.flatMap((l) => [...entitiesIn(l)])))
    const tag = mintReplica(db, env)
    const counters = lines.map((l): Range => [l.ctr, l.events.at(-1)?.stamp.ctr ?? l.ctr])
    const now = new Map<string, Line>()
    for (const line of lines) {
      const salt = (entity: string) => saltIn(line, entity) ?? (travels(entity) ? undefined : newSalt(env))
      const place = { replica: tag, seq: log.head(db, tag).seq + 1, ...followingShared(db), local: isLocal(line) }
      const again = underTag(line, place, counters, now, salt)
      now.set(`${replica}:${line.seq}`, again)
      applyLine(db, new States(db), registry(), again, env.now())
      if (!again.local) keepShared(db, again)
    }
    saveClock(db, { ms: lines.at(-1)!.at, ctr: counters.at(-1)![1] })
    if (isOfOther) {
      const text = `the key of replica ${replica} is not on this machine: what it had not shared is shared as ${tag}`
      log.finding(db, `key:${replica}`, env.now(), text)
    }
    moved += lines.length
  }
  return moved
}

/** A line as it would be, had it been written in another place. `now`: those of the lines before it that were. */
function underTag(
  line: Line,
  place: Pick<Unsealed, 'replica' | 'seq' | 'from' | 'prev' | 'local'>,
  counters: readonly Range[],
  now: ReadonlyMap<string, Line>,
  salt: (entity: string) => string | undefined,
): Line {
  const { replica, at, author, ctr, purges, forks } = line
  const tag = place.replica
  const batchNow = (batch: string) => {
    const there = now.get(batch)
    return there ? `${there.replica}:${there.seq}` : batch
  }
  const events = line.events.map((e) => renamed(e, replica, tag, counters)).map(asRemoved)
  return seal({
    ...{ ...place, at, ctr, events, forks },
    author: author.undoes ? { ...author, undoes: author.undoes.map(batchNow) } : author,
    // a copy of this store may have the line as it was
    purges: purges.flatMap((p) => {
      const there = now.get(`${p.replica}:${p.seq}`)
      return there ? [p, { ...p, replica: tag, seq: there.seq, hash: there.hash }] : [p]
    }),
    salt,
  })
}

/** What was erased says nothing any more, and still takes the place of what it overwrote. */
function asRemoved(e: Event): Event {
  if (!e.purged) return e
  const { value: _value, path: _path, list: _list, pos: _pos, ...rest } = e
  return { ...rest, op: 'remove' }
}
