import { dirname, join, relative } from 'node:path'
import { gitRoot, isTracked } from '../../base/git.ts'
import type { Memory } from '../../engine/memory.ts'
import { travelsFrom } from '../../engine/read/travels.ts'
import { printSnapshot, snapshotOf } from '../../engine/replication/compaction.ts'
import { asKept } from '../../engine/replication/purge.ts'
import { coveredLines } from '../../engine/store/coverage.ts'
import { handleOf, isKeyed, isKeyOf, publicKey, sign } from '../../engine/store/keys.ts'
import { isStandIn, type Line, parseLine, printLine } from '../../engine/store/line.ts'
import { followingFirst } from '../../engine/store/line-v1.ts'
import * as log from '../../engine/store/log.ts'
import { keepLeft, ownIdentities } from '../../engine/store/own-lines.ts'
import { addRange, missingIn, type Range, runsOf } from '../../engine/store/ranges.ts'
import { lastShared } from '../../engine/store/replica.ts'
import { shellWord } from '../../model/shell.ts'
import { isSnapshot, removeSegment, type Segment, segmentsIn, wholeTexts, writeSegment } from './segments.ts'
import { secretIn, sharedPart, sharedSnapshot } from './share.ts'

/** The first batch that is held back, since it looks as if it held a secret. */
export type Held = { batch: string; entity?: string; category: string }

export type Pending = { lines: Line[]; staying: number; held?: Held }

/** What leaves of one identity's lines. */
interface Leaving extends Pending {
  readonly replica: string
  /** A state in the place of lines that were folded away before they left. */
  snapshot?: { text: string; ranges: Range[] }
}

type Read = { readonly segment: Segment; readonly texts: readonly string[] }

/** The same with the segments that a work tree has of it. */
interface Own extends Leaving {
  readonly whole: Read[]
  readonly bad: Segment[]
  /** Those that say what was erased since, with what they may say. */
  readonly erased: Read[]
}

const MOST_BYTES = 1024 * 1024

/** What the segments of a work tree lack of what this store wrote. */
export function pendingIn(memory: Memory, root: string): Pending {
  const all = ownIn(memory, root)
  const held = all.find((o) => o.held)?.held
  const staying = all.reduce((n, o) => n + o.staying, 0)
  return { lines: all.flatMap((o) => o.lines), staying, ...(held ? { held } : {}) }
}

function ownIn(memory: Memory, root: string): Own[] {
  const { db } = memory
  return db.read(() => {
    const travels = travelsFrom(db, memory.registry())
    const segments = Map.groupBy(segmentsIn(root), (s) => s.replica)
    return ownIdentities(db).map((identity) => {
      const own = { whole: [] as Read[], bad: [] as Segment[], erased: [] as Read[] }
      let has: Range[] = []
      for (const segment of segments.get(handleOf(identity.replica)) ?? []) {
        const texts = wholeTexts(root, segment)
        if (texts === undefined) {
          own.bad.push(segment)
          continue
        }
        const kept = keptTexts(memory, texts)
        if (kept === texts) own.whole.push({ segment, texts })
        else if (kept) own.erased.push({ segment, texts: kept })
        // a folded state says what was erased: another one takes its place
        else own.erased.push({ segment, texts: [] })
        if (kept) has = addRange(has, segment.first, segment.last)
      }
      return { ...leaving(memory, identity, travels, has), ...own }
    })
  })
}

/** What leaves of this store's lines, of each identity at most so many that others do not have. */
export function unsent(memory: Memory, has: (replica: string) => Range[], most?: number): Leaving[] {
  const { db } = memory
  return db.read(() => {
    const travels = travelsFrom(db, memory.registry())
    return ownIdentities(db).map((own) => leaving(memory, own, travels, has(own.replica), most))
  })
}

/** The lines of a segment without what was erased since; the same texts if there is none of that, nothing for a folded state. */
function keptTexts(memory: Memory, texts: readonly string[]): readonly string[] | undefined {
  if (!log.anythingPurged(memory.db)) return texts
  if (texts.some(isSnapshot)) return undefined
  const print = memory.printer()
  const kept = texts.map((text) => {
    const line = parseLine(text)
    const now = asKept(memory.db, line)
    return now === line ? text : print(now, text.includes('"key":"'))
  })
  return kept.every((text, i) => text === texts[i]) ? texts : kept
}

function leaving(
  memory: Memory,
  { replica, upTo }: ReturnType<typeof ownIdentities>[number],
  travels: (id: string) => boolean,
  has: Range[],
  most = Number.POSITIVE_INFINITY,
): Leaving {
  const { db } = memory
  const own: Leaving = { replica, lines: [], staying: 0 }
  const { lines } = own
  const last = Math.min(upTo, log.head(db, replica).seq)
  const shared = replica === ownIdentities(db).at(-1)?.replica ? lastShared(db).seq : Number.MAX_SAFE_INTEGER
  // nobody takes what only a key of elsewhere can sign
  const key = publicKey(memory.projectId)
  const isOfOther = key !== undefined && isKeyed(replica) && !isKeyOf(key, replica)
  const isThere = (from: number, to: number) => has.some(([a, b]) => a <= from && to <= b)
  const folded = coveredLines(db).filter((c) => c.replica === replica)
  if (folded.some((c) => c.first <= shared && !isThere(c.first, Math.min(c.last, shared)))) {
    const state = sharedSnapshot(snapshotOf(db)!, replica, travels)
    const text = printSnapshot(state, sign(memory.projectId, JSON.stringify(state)))
    own.snapshot = { text, ranges: folded.map((c) => [c.first, c.last]) }
  }
  const known = folded.reduce((ranges, c) => addRange(ranges, c.first, c.last), has)
  for (const [from, to] of missingIn(known, [1, last])) {
    let end = from - 1
    let prev = end === 0 ? '' : (log.hashOf(db, replica, end) ?? '')
    for (const line of log.linesBetween(db, replica, from, to)) {
      if (log.declinedAs(db, line) || (isOfOther && line.raw.v === 2 && !line.signature)) continue
      const part = isStandIn(line) ? undefined : sharedPart(line, travels)
      if (!part) {
        own.staying++
        continue
      }
      const secret = secretIn(part)
      if (secret) {
        own.held ??= { batch: `${replica}:${line.seq}`, ...secret }
        if (line.v === 1) return own // 0.1.0 waits for each
        continue
      }
      lines.push(part.v === 1 ? followingFirst(part, prev, end + 1) : part)
      if (lines.length >= most) return own
      end = line.seq
      prev = line.hash
    }
  }
  return own
}

export interface Published extends Pending {
  written: string[]
  removed: string[]
  /** Of those removed, what git's history keeps although it was erased; below the top of the work tree. */
  committed: string[]
}

/** Writes own segments anew that say what was erased since; nothing else is published. */
export function rewriteErased(memory: Memory, root: string): string[] {
  if (!ownIn(memory, root).some((own) => own.erased.length > 0)) return []
  const { removed, committed } = publish(memory, root)
  const told = `wrote ${removed.length === 1 ? removed[0] : `${removed.length} files below .tidemark/log/`} anew without it: commit and push .tidemark/`
  return [told, ...newHistory(committed)]
}

/**
 * The commands for a history of git without files that were replaced. The same text may stand in other files of their
 * replica, of other branches and from before a compaction: of all that git has of it the files of today stay alone.
 */
export function newHistory(paths: readonly string[]): string[] {
  if (paths.length === 0) return []
  const logs = [...new Set(paths.map(dirname))].map(shellWord).join(' ')
  const drop = `git ls-files -- ${logs} | grep -vxF "$(git ls-tree -r --full-tree --name-only HEAD -- ${logs})" | git update-index --force-remove --stdin`
  return [
    [
      'the history of git keeps it: change the secret. For a new history, commit .tidemark/, have everybody push, then run at the top of the work tree:',
      '  git fetch -q origin',
      `  FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --index-filter ${shellWord(drop)} -- --all`,
      "  git for-each-ref --format='delete %(refname)' refs/original | git update-ref --stdin",
      '  git reflog expire --expire=now --all && git gc -q --prune=now',
      "  git push --force origin 'refs/remotes/origin/*:refs/heads/*' '^refs/remotes/origin/HEAD'",
      '  git push --force --all && git push --force --tags',
      'what other branches lack then comes with `tidemark sync` there; every other clone has to be made anew, and the host of the repository has to remove what it cached',
    ].join('\n'),
  ]
}

/**
 * Writes what a work tree lacks of this store's lines into a new segment of each identity, with those before
 * it that were never committed. Segments of others stay as they are.
 */
export function publish(memory: Memory, root: string): Published {
  const out: Published = { lines: [], staying: 0, written: [], removed: [], committed: [] }
  memory.signAnew(
    (replica) =>
      ownIn(memory, root)
        .find((own) => own.replica === replica)
        ?.whole.map((w) => rangeOf(w.segment)) ?? [],
  )
  const print = memory.printer()
  for (const own of ownIn(memory, root)) {
    const gone = [...own.bad, ...own.erased.map((e) => e.segment)]
    const write = (first: number, last: number, texts: readonly string[]) =>
      void out.written.push(writeSegment(root, own.replica, first, last, texts).path)
    for (const { segment, texts } of own.erased) if (texts.length > 0) write(segment.first, segment.last, texts)
    if (own.snapshot) {
      const { text, ranges } = own.snapshot
      write(ranges[0]![0], ranges.at(-1)![1], [text])
      const isIn = (s: Segment) => ranges.some(([from, to]) => from <= s.first && s.last <= to)
      gone.push(...own.whole.map((w) => w.segment).filter(isIn))
    }
    for (const run of runsOf(own.lines, (line, last) => last.seq === line.from - 1).flatMap(cut)) {
      const texts = run.map((line, i) => print(line, i === 0))
      const merged = mergedInto(root, run, texts, own)
      write(merged[0]?.segment.first ?? run[0]!.from, run.at(-1)!.seq, [...merged.flatMap((m) => m.texts), ...texts])
      gone.push(...merged.map((m) => m.segment))
    }
    // a held batch may be in a damaged segment alone
    const before = own.held ? Number(own.held.batch.split(':')[1]) : Number.POSITIVE_INFINITY
    for (const segment of gone.filter((s) => s.last < before || own.erased.some((e) => e.segment === s)))
      if (!out.written.includes(segment.path) && removeSegment(root, segment)) {
        out.removed.push(segment.path)
        if (own.erased.some((e) => e.segment === segment) && isTracked(root, segment.path))
          out.committed.push(join(relative(gitRoot(root) ?? root, root), segment.path))
      }
    if (own.lines.length > 0) memory.db.write(() => keepLeft(memory.db, own.replica, own.lines.map(rangeOf)))
    out.lines.push(...own.lines)
    out.staying += own.staying
    out.held ??= own.held
  }
  return out
}

const rangeOf = (of: Segment | Line): Range => ('from' in of ? [of.from, of.seq] : [of.first, of.last])

const SEGMENT_BYTES = 4 * 1024 * 1024

function cut(run: readonly Line[]): Line[][] {
  let size = 0
  return runsOf(run, (_, last) => {
    const isFull = (size += printLine(last).length) > SEGMENT_BYTES
    if (isFull) size = 0
    return !isFull
  })
}

const sizeOf = (texts: readonly string[]): number => texts.reduce((n, t) => n + t.length + 1, 0)
/**
 * The segments before a run that become one with it: those that git does not know yet. A committed one stays: if two
 * branches replaced it, or a commit that did was picked alone, git would see a file renamed twice, and a conflict.
 */
function mergedInto(root: string, run: readonly Line[], texts: readonly string[], own: Own): Read[] {
  const merged: Read[] = []
  let first = run[0]!.from
  let size = sizeOf(texts)
  for (;;) {
    const before = own.whole.find((w) => w.segment.last === first - 1)
    if (!before || isSnapshot(before.texts[0]!) || isTracked(root, before.segment.path)) return merged
    size += sizeOf(before.texts)
    if (size > MOST_BYTES) return merged
    merged.unshift(before)
    first = before.segment.first
  }
}

/** Makes one segment of the small ones that follow each other, of each identity of this store; several of what is long. */
export function compactSegments(memory: Memory, root: string): { written: string[]; removed: string[] } {
  const out = { written: [] as string[], removed: [] as string[] }
  for (const own of ownIn(memory, root)) {
    const small = own.whole.filter((w) => !isSnapshot(w.texts[0]!) && sizeOf(w.texts) < MOST_BYTES)
    for (const run of touching(small)) {
      const texts = new Map(run.flatMap((w) => w.texts).map((text) => [parseLine(text).seq, text]))
      const ordered = [...texts].sort(([a], [b]) => a - b).map(([, text]) => text)
      const last = Math.max(...run.map((w) => w.segment.last))
      const { path } = writeSegment(root, own.replica, run[0]!.segment.first, last, ordered)
      out.written.push(path)
      for (const { segment } of run)
        if (segment.path !== path && removeSegment(root, segment)) out.removed.push(segment.path)
    }
  }
  return out
}

/** Segments that overlap or follow each other, where there are several; together they are about as long as one may be. */
const touching = (whole: readonly Read[]): Read[][] =>
  runsOf(whole, (w, _, run) => {
    const last = Math.max(...run.map((r) => r.segment.last))
    return w.segment.first <= last + 1 && sizeOf([...run, w].flatMap((r) => r.texts)) <= SEGMENT_BYTES
  }).filter((members) => members.length > 1)
