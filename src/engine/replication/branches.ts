import { sha256 } from '../../model/digest.ts'
import type { Db } from '../store/db.ts'
import { isKeyed, leaving } from '../store/keys.ts'
import { branchLine, isStandIn, type Line, type Place, parseLine, pathOf, shortHash } from '../store/line.ts'
import * as log from '../store/log.ts'
import { getMeta } from '../store/meta.ts'
import { LOCAL_FROM } from '../store/own-lines.ts'

/** The identity of a branch: of the hash of its first line, so that everybody gives it the same. */
const branchTag = (line: Line): string =>
  (Number.parseInt(sha256(`${line.replica}:${line.hash}`).slice(0, 8), 16) >>> 0 || 1).toString(36)

/** A branch follows so many others at most. */
const MOST_ABOVE = 32

/**
 * Lines of an identity that forked at a number, each as its branch says it: a function of these lines and that number, the same for
 * everybody. A branch ends where two lines follow one. Without those that wait for the line before them.
 */
export function inBranches(
  db: Db,
  lines: readonly Line[],
  from: number,
  isOwn: (line: Line, named?: Line) => boolean,
): Map<Line, Line> {
  const made = new Map<Line, Line>()
  const names = new Set<string>()
  const put = (line: Line, place: Place | undefined) => {
    if (!place || names.has(`${place.replica}:${place.seq}`)) return
    names.add(`${place.replica}:${place.seq}`)
    made.set(line, branchLine(asSigned(db, line), place, log.keyOf(db, line.replica)))
  }
  const shared = lines.filter((l) => !l.local).sort((a, b) => a.seq - b.seq || (a.hash < b.hash ? -1 : 1))
  const byHash = new Map(shared.map((l) => [shortHash(l.hash), l]))
  const before = new Map(
    shared.map((l) => {
      // what stands in for a line of this store names none
      const own = isStandIn(l) ? shared.findLast((b) => b.seq < l.seq && isOwn(b)) : undefined
      return [l, own ?? byHash.get(shortHash(l.prev))]
    }),
  )
  const following = Map.groupBy(shared, (l) => before.get(l))
  for (const line of shared) {
    const first = { replica: branchTag(line), seq: 1, prev: '', local: false }
    const last = before.get(line)
    const stands = last && made.get(last)
    // what was folded away before the fork was known has no branch
    if (line.from <= from || log.isCovered(db, line.replica, line.from - 1))
      put(line, { ...first, path: [[line.ctr, first.replica]] })
    else if (stands && following.get(last)!.length === 1)
      put(line, { ...first, replica: stands.replica, seq: stands.seq + 1, prev: stands.hash, path: pathOf(stands) })
    else if (stands && pathOf(stands).length <= MOST_ABOVE)
      put(line, { ...first, path: [[line.ctr, first.replica], ...pathOf(stands)] })
  }
  const own = [...made].findLast(([line, named]) => isOwn(line, named))
  const local = lines.filter((l) => l.local).sort((a, b) => a.seq - b.seq)
  for (const line of local) {
    // one that came from elsewhere goes with no branch of here
    const path = own && isOwn(line) ? pathOf(own[1]) : ([[local[0]!.ctr, branchTag(local[0]!)]] as const)
    const after = path.findIndex(([first]) => first <= line.ctr)
    const [first, tag] = path.at(after)!
    const rest = after < 0 ? [[Math.min(first, local[0]!.ctr), tag] as const] : path.slice(after)
    put(line, { replica: tag, seq: LOCAL_FROM + line.seq, prev: '', local: true, path: rest })
  }
  return made
}

/** The line with the signature of its replica: of another name it has none, and what it stands for is to be checked. */
function asSigned(db: Db, line: Line): Line {
  if (line.raw.v === 1 || line.signature || line.local || isStandIn(line) || !isKeyed(line.replica)) return line
  return parseLine(leaving(getMeta(db, 'project') ?? '', () => undefined)(line))
}
