import { gitRoot } from '../../base/git.ts'
import type { Memory } from '../../engine/memory.ts'
import { handleOf } from '../../engine/store/keys.ts'
import type { Line } from '../../engine/store/line.ts'
import * as log from '../../engine/store/log.ts'
import { leftOf } from '../../engine/store/own-lines.ts'
import { runGit } from '../../find/code/run-git.ts'
import { pendingIn } from './publish.ts'
import { logOf, segmentNamed, segmentsIn } from './segments.ts'

/** What the history of a branch says of own lines that its work tree lacks, although they have left before. */
export interface Dropped {
  /** It had them, and somebody removed them: they are not written again (K16'). */
  readonly lines: readonly Line[]
  /** The clone is shallow, so nobody can tell of so many. */
  readonly unknown: number
}

/** Asks the history of git; only if lines are missing that have left before. */
export async function droppedLines(memory: Memory, root: string): Promise<Dropped> {
  const { db } = memory
  const missing = pendingIn(memory, root).lines.filter(
    ({ replica, seq, v }) => v === 1 || leftOf(db, replica).some(([a, b]) => a <= seq && seq <= b),
  )
  if (missing.length === 0 || !gitRoot(root)) return { lines: [], unknown: 0 }
  const lines: Line[] = []
  for (const [replica, own] of Map.groupBy(missing, (l) => l.replica)) {
    // a merge that lacks what one of its sides had has removed it
    const removed = await historyOf(
      root,
      '-m',
      '--diff-filter=D',
      '--format=',
      '--name-only',
      'HEAD',
      '--',
      `${logOf(handleOf(replica))}/`,
    )
    if (removed === undefined) return { lines: [], unknown: 0 } // nothing is committed yet
    // git names files from the top of the work tree
    const names = removed.split('\n').map((path) => path.slice(Math.max(0, path.indexOf(`${logOf('')}`))))
    const gone = names.map(segmentNamed).filter((s) => s !== undefined)
    lines.push(...own.filter((l) => gone.some((s) => s.first <= l.seq && l.seq <= s.last)))
  }
  const isShallow = (await runGit(root, 'rev-parse', '--is-shallow-repository')).trim() === 'true'
  return { lines, unknown: isShallow ? missing.length - lines.length : 0 }
}

async function historyOf(root: string, ...args: string[]): Promise<string | undefined> {
  try {
    return await runGit(root, 'log', ...args)
  } catch {
    return undefined
  }
}

/** Keeps dropped lines from being written again, and lets go of those that the work tree has again. Returns how many it dropped. */
export async function settleDropped(memory: Memory, root: string): Promise<Dropped> {
  const { db, env } = memory
  const dropped = await droppedLines(memory, root)
  const there = Map.groupBy(segmentsIn(root), (s) => s.replica)
  const back = log
    .allDeclined(db)
    .filter(
      ({ replica, seq, why }) =>
        why === 'history' && there.get(handleOf(replica))?.some((s) => s.first <= seq && seq <= s.last),
    )
  if (dropped.lines.length > 0 || back.length > 0)
    db.write(() => {
      for (const line of dropped.lines) log.decline(db, line, 'history', env.now())
      for (const line of back) log.undecline(db, line)
    })
  return dropped
}
