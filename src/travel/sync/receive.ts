import { messageOf, unlessRefused } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import type { SignedSnapshot } from '../../engine/replication/compaction.ts'
import type { Ingested } from '../../engine/replication/ingest.ts'
import { remadeLines } from '../../engine/store/compare.ts'
import type { Covered } from '../../engine/store/coverage.ts'
import { type Db, enlargeCache, stored } from '../../engine/store/db.ts'
import { handleOf, mayBeOf, publicKey } from '../../engine/store/keys.ts'
import type { Line } from '../../engine/store/line.ts'
import * as log from '../../engine/store/log.ts'
import { EXCHANGE, getMeta, setMeta } from '../../engine/store/meta.ts'
import { isOwnReplica, ownIdentities } from '../../engine/store/own-lines.ts'
import { listSessions } from '../../engine/store/presence.ts'
import { addRange, inRanges, type Range } from '../../engine/store/ranges.ts'
import { isOfStore } from '../../engine/store/store-error.ts'
import { isObject, jsonIn } from '../../model/object.ts'
import { type Content, readSegment, type Segment, segmentsIn, signatureOf, type Texts, textsOf } from './segments.ts'
import { checkFirstLines, checkSnapshot } from './signatures.ts'

export interface Received {
  applied: number
  back: number
  /** Batches that later ones name, and that nobody who was asked has. */
  gaps: number
  damaged: { path: string; why: string }[]
  /** Segments that are still to be read: the time was up, or others held the lock. */
  left: number
}

const KNOWN = EXCHANGE.segments
/** So many names of segments are kept; a file that is read again changes nothing. */
const MOST_KNOWN = 5_000
export const LINES_AT_ONCE = 250
/** The same for a store with little in it that no session uses: nobody waits, and each commit writes the same pages again. */
const LINES_AT_FIRST = 6_000
const LITTLE = 1_000
const LINES_IN_HURRY = 25

/** How many lines a store takes in one transaction. The first that it gets are many. */
export function linesAtOnce(db: Db): number {
  if (log.lastArrival(db) > LITTLE || listSessions(db).length > 0) return LINES_AT_ONCE
  enlargeCache(db)
  return LINES_AT_FIRST
}

/** A directory that was changed just now may change again without another time. */
const RACY_MS = 2_000

const treeKey = (root: string) => `${EXCHANGE.tree}${root}`
const nameOf = ({ replica, first, last, hash }: Segment) => `${replica}/${first}-${last}-${hash}`

/** Whether a work tree's segments may have changed since they were read; a few calls of stat. */
export const hasChanged = (memory: Memory, root: string): boolean =>
  signatureOf(root).signature !== (getMeta(memory.db, treeKey(root)) ?? ' nothing')

/** Reads again what was read before, where the store has lost some of it, or the segment is damaged. */
export function receiveAgain(memory: Memory, root: string): Received {
  const lacking = lackingIn(memory.db)
  return receive(memory, root, undefined, (segment) => {
    const texts = textsOf(root, segment)
    return !texts.isWhole || lacking(texts).length > 0
  })
}

/**
 * Takes in what others have written, from the segments of a work tree. What vanished, shrank or is older takes nothing
 * back. `left`: milliseconds that there are for it; `isDue`: which segments are read although they were read before.
 */
export function receive(
  memory: Memory,
  root: string,
  left: () => number = () => Number.POSITIVE_INFINITY,
  isDue: (segment: Segment) => boolean = () => false,
): Received {
  const out: Received = { applied: 0, back: 0, gaps: 0, damaged: [], left: 0 }
  if (memory.db.readOnly) return out
  const { db, env } = memory
  const { signature, newest } = signatureOf(root)
  const known = new Set(stored<string[]>(getMeta(db, KNOWN) ?? '[]'))
  const all = segmentsIn(root)
  const own = new Set(ownIdentities(db).map((o) => handleOf(o.replica)))
  const key = publicKey(memory.projectId) // a store that was lost had other identities, of the same key
  const isOwn = ({ replica }: Segment) => own.has(replica) || (key !== undefined && mayBeOf(key, replica))
  // others speak last, so nothing of theirs binds by what was said here before
  const fresh = all.filter((s) => !known.has(nameOf(s)) || isDue(s)).sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
  const read: string[] = []
  const atOnce = Number.isFinite(left()) ? LINES_IN_HURRY : linesAtOnce(db)
  const inTime = () => left() > 0 || ++out.left === 0
  for (const group of groupsOf(root, fresh, inTime, atOnce === LINES_AT_FIRST ? atOnce : 0)) {
    const areIn = takeTogether(memory, group, out)
    for (const { segment, content } of group) {
      const failed = areIn ? undefined : takeIn(memory, content, out, left, atOnce)
      if (failed === 'late') out.left++
      else if (content.damage ?? failed) {
        const why = content.damage ?? failed!
        out.damaged.push({ path: segment.path, why })
        // what is wrong with the file doctor sees for itself
        if (failed && !content.damage)
          db.write(() => log.finding(db, findingOf(segment), env.now(), `${segment.path}: ${why}`))
      } else read.push(nameOf(segment))
    }
  }
  settleSegments(db, new Set(all.filter((s) => !read.includes(nameOf(s)) && !known.has(nameOf(s))).map(findingOf)))
  const mark = out.left === 0 && env.now() - newest > RACY_MS ? signature : undefined
  if (read.length === 0 && (mark === undefined || getMeta(db, treeKey(root)) === mark)) return out
  db.write(() => {
    for (const name of read) known.add(name)
    const kept = known.size > MOST_KNOWN ? all.map(nameOf).filter((n) => known.has(n)) : [...known]
    if (read.length > 0) setMeta(db, KNOWN, JSON.stringify(kept))
    if (mark !== undefined) setMeta(db, treeKey(root), mark)
  })
  return out
}

const FINDING = 'segment:'
const findingOf = (segment: Segment) => `${FINDING}${nameOf(segment)}`

/** Forgets what was wrong with segments that are gone, or could be read since. */
function settleSegments(db: Db, still: ReadonlySet<string>): void {
  const over = log.findings(db).filter(({ key }) => key.startsWith(FINDING) && !still.has(key))
  if (over.length === 0) return
  db.write(() => {
    for (const { key } of over) log.dropFinding(db, key)
  })
}

/** Tells the lines of a segment that are not in the store, or that something stands in for. Nothing is parsed. */
function lackingIn(db: Db): (of: Texts) => string[] {
  const here = new Map<string, Range[]>()
  for (const [replica, ranges] of log.known(db)) {
    const forked = log.forkedFrom(db, replica)
    const all = forked === undefined ? ranges : addRange(ranges, forked, Number.MAX_SAFE_INTEGER)
    here.set(handleOf(replica), [...(here.get(handleOf(replica)) ?? []), ...all])
  }
  /** A line of a branch stands here as its replica wrote it, or under the name that its branch has here. */
  const isBranched = (text: string) => {
    const said = text.includes(',"o":{') ? jsonIn(text) : undefined
    const o = isObject(said) && isObject(said.o) ? said.o : undefined
    const hash = String(o?.h)
    return !!o && (log.hashOf(db, String(o.r), Number(o.n)) === hash || log.branchedTo(db, hash) !== undefined)
  }
  const named = (lines: readonly Line[]) => new Set(lines.map((l) => `${handleOf(l.replica)}:${l.seq}`))
  const [waiting, remade] = [named(log.allParked(db)), named(remadeLines(db))]
  return ({ segment: { replica }, texts = [] }) =>
    texts.flatMap((text) => {
      const seq = Number(/^\{"v":\d,"r":"\w+","n":(\d+)/.exec(text)?.[1] ?? 0)
      const batch = `${replica}:${seq}`
      const isHere = seq === 0 || inRanges(here.get(replica) ?? [], seq) || waiting.has(batch) || isBranched(text)
      return isHere && !remade.has(batch) ? [] : [batch]
    })
}

/** Batches of a work tree that were read once, and that the store has lost since. */
export function lostBatches({ db }: Memory, root: string): string[] {
  const known = new Set(stored<string[]>(getMeta(db, KNOWN) ?? '[]'))
  const lacking = lackingIn(db)
  return segmentsIn(root).flatMap((s) => (known.has(nameOf(s)) ? lacking(textsOf(root, s)) : []))
}

/** Takes in what changed in a work tree since it was read last; for those who open the knowledge to use it. */
export function receiveChanges(memory: Memory, root: string, left?: () => number): void {
  // where somebody else writes, or a link is in the way, doctor says so
  unlessRefused(() => hasChanged(memory, root) && receive(memory, root, left))
}

type Group = { readonly segment: Segment; readonly content: Content }[]

/** Segments as they are read; those that together have so many lines in one group. */
function* groupsOf(root: string, segments: readonly Segment[], inTime: () => boolean, lines: number): Generator<Group> {
  let group: Group = []
  for (const segment of segments) {
    if (!inTime()) continue
    group.push({ segment, content: readSegment(textsOf(root, segment)) })
    if (group.reduce((n, { content }) => n + content.lines.length, 0) < lines) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

export function count(out: Pick<Received, 'applied' | 'back' | 'gaps'>, { applied, back = 0, gaps }: Ingested): void {
  out.applied += applied
  out.back += back
  out.gaps = gaps
}

/** Takes several sound segments in one transaction; false: they are to be taken one by one. */
function takeTogether(memory: Memory, group: Group, out: Received): boolean {
  if (group.length < 2 || group.some(({ content }) => content.damage || content.snapshots.length > 0)) return false
  try {
    for (const { content } of group) checkFirstLines(memory, content.lines)
    const taken = memory.applyLines({ lines: group.flatMap(({ content }) => content.lines), snapshots: [] })
    count(out, taken)
    return taken.refused.length === 0
  } catch (error) {
    if (isOfStore(error)) throw error
    return false
  }
}

/** Takes in the lines of a segment, some at a time. Returns why it could not take all. */
function takeIn(
  memory: Memory,
  { lines: read, snapshots }: Content,
  out: Received,
  left: () => number,
  atOnce: number,
): string | undefined {
  let failed: string | undefined
  const succeeds = (body: () => void): boolean => {
    try {
      body()
      return true
    } catch (error) {
      if (isOfStore(error)) throw error
      failed ??= messageOf(error)
      return false
    }
  }
  const take = (part: { lines: Line[]; snapshots: SignedSnapshot[] }): boolean =>
    succeeds(() => {
      const taken = memory.applyLines(part)
      count(out, taken)
      failed ??= taken.refused[0]?.why
    })
  const theirs = snapshots.filter((s) => isWanted(memory.db, s) && succeeds(() => checkSnapshot(memory, s)))
  // one that its replica did not sign is not to keep the others out
  const lines = succeeds(() => checkFirstLines(memory, read))
    ? read
    : read.filter((_, i) => succeeds(() => checkFirstLines(memory, signedRun(read, i))))
  if (theirs.length > 0) take({ lines: [], snapshots: theirs })
  for (let at = 0; at < lines.length; at += atOnce) {
    if (left() <= 0) return 'late'
    byHalves(lines.slice(at, at + atOnce), (some) => take({ lines: some, snapshots: [] }))
  }
  return failed
}

/** Takes parts together, else half by half: one that cannot be taken is not to keep the others out. */
export function byHalves<T>(parts: T[], take: (some: T[]) => boolean): void {
  if (take(parts) || parts.length < 2) return
  const half = parts.length >> 1
  byHalves(parts.slice(0, half), take)
  byHalves(parts.slice(half), take)
}

/** Whether a folded state tells more: what this store wrote itself it knows better, unless it has lost it. */
export function isWanted(db: Db, { covered }: Pick<SignedSnapshot, 'covered'>): boolean {
  const here = log.known(db)
  const isHere = (c: Covered) => here.get(c.replica)?.some(([a, b]) => a <= c.first && c.last <= b) === true
  return !covered.some((c) => isOwnReplica(db, c.replica) && isHere(c))
}

/** A line with those after it up to the next that is signed: by that one it may be signed too. */
function signedRun(lines: readonly Line[], at: number): readonly Line[] {
  const end = lines.findIndex((l, i) => i >= at && l.signature !== undefined)
  return lines.slice(at, (end < 0 ? at : end) + 1)
}
