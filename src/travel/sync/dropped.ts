import { gitRoot } from '../../base/git.ts'
import { runGit } from '../../base/run-git.ts'
import type { Memory } from '../../engine/memory.ts'
import { handleOf } from '../../engine/store/keys.ts'
import type { Line } from '../../engine/store/line.ts'
import * as log from '../../engine/store/log.ts'
import { leftOf } from '../../engine/store/own-lines.ts'
import { pendingIn } from './publish.ts'
import { logOf, type Segment, segmentNamed, segmentsIn } from './segments.ts'

/** Own lines that have left before, and that the work tree lacks. */
export interface Dropped {
  /** It had them, and somebody removed them: they are not written again (K16'). */
  readonly lines: readonly Line[]
  /** The clone is shallow, so nobody can tell of so many. */
  readonly unknown: number
}

const holds = (s: Segment, { replica, seq }: Pick<Line, 'replica' | 'seq'>): boolean =>
  s.replica === handleOf(replica) && s.first <= seq && seq <= s.last

/** Asks the history of git; only if lines are missing that have left before. */
export async function droppedLines(memory: Memory, root: string): Promise<Dropped> {
  const missing = pendingIn(memory, root).lines.filter(
    ({ replica, seq, v }) => v === 1 || leftOf(memory.db, replica).some(([a, b]) => a <= seq && seq <= b),
  )
  if (missing.length === 0 || !gitRoot(root)) return { lines: [], unknown: 0 }
  const handles = missing.map((l) => handleOf(l.replica))
  // a merge that lacks what one of its sides had has removed it
  const removed = await segmentsInHistory(root, handles, '-m', '--diff-filter=D', 'HEAD')
  const lines = missing.filter((line) => removed.some(({ segment }) => holds(segment, line)))
  const isShallow = (await runGit(root, 'rev-parse', '--is-shallow-repository')).trim() === 'true'
  return { lines, unknown: isShallow ? missing.length - lines.length : 0 }
}

/** The segments of some replicas that commits add or remove; none where nothing is committed, or git is not there. */
export async function segmentsInHistory(
  root: string,
  handles: readonly string[],
  ...which: string[]
): Promise<{ commit: string; segment: Segment }[]> {
  const paths = [...new Set(handles)].map((handle) => `${logOf(handle)}/`)
  const log = ['log', ...which, '--format=%x00%H', '--name-only', '--relative', '--', ...paths]
  return (await runGit(root, ...log).catch(() => '')).split('\0').flatMap((part) => {
    const [commit = '', ...names] = part.split('\n').filter(Boolean)
    return names.flatMap((name) => segmentNamed(name) ?? []).map((segment) => ({ commit, segment }))
  })
}

/** Keeps dropped lines from being written again, and lets go of those that the work tree has again. */
export async function settleDropped(memory: Memory, root: string): Promise<Dropped> {
  const { db, env } = memory
  const dropped = await droppedLines(memory, root)
  const declined = log.allDeclined(db).filter(({ why }) => why === 'history')
  const there = declined.length > 0 ? segmentsIn(root) : []
  const back = declined.filter((line) => there.some((segment) => holds(segment, line)))
  if (dropped.lines.length > 0 || back.length > 0)
    db.write(() => {
      for (const line of dropped.lines) log.decline(db, line, 'history', env.now())
      for (const line of back) log.undecline(db, line)
    })
  return dropped
}
