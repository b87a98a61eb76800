import type { Env } from '../../base/env.ts'
import { whenRefused } from '../../base/errors.ts'
import { runGit } from '../../base/run-git.ts'
import type { Memory } from '../../engine/memory.ts'
import { type Missing, ownByKey, type Restored, restoreStore, type Shared } from '../../engine/replication/restore.ts'
import { remadeLines } from '../../engine/store/compare.ts'
import type { Db } from '../../engine/store/db.ts'
import { handleOf, isKeyed } from '../../engine/store/keys.ts'
import { type Line, leavesOut } from '../../engine/store/line.ts'
import * as log from '../../engine/store/log.ts'
import { ownIdentities, ownLines } from '../../engine/store/own-lines.ts'
import type { Project } from '../../engine/store/project.ts'
import { treesOf } from '../../engine/store/project-list.ts'
import { hubOf } from '../../engine/store/user-state.ts'
import { segmentsInHistory } from './dropped.ts'
import { receiveAgain } from './receive.ts'
import { readSegment, segmentsIn, textsIn, textsOf } from './segments.ts'

export interface ProjectRestored extends Restored {
  /** Why the hub could not be read. */
  readonly hub?: string
  /** Own batches of which others have a part alone: what they said of things that stay on this machine is lost. */
  readonly parts: readonly string[]
  /** What was done besides, to finish an erasure. */
  readonly told: readonly string[]
}

/** Restores a project's store from its copies, git and its hub. What it does not settle comes with the next `sync`. */
export async function restoreProject(
  project: Project,
  env: Env,
  open: (path: string) => Memory,
): Promise<ProjectRestored> {
  const roots = treesOf(project)
  const hub = await fromHub(project)
  const lines = [...roots.flatMap((root) => segmentsIn(root).flatMap((s) => readSegment(textsOf(root, s)).lines)), ...hub.lines] // biome-ignore format: one list
  const done = restoreStore(project.storePath, env, open, lines)
  using memory = open(project.storePath)
  const { db } = memory
  const isEmpty = ownIdentities(db).every(({ replica }) => log.head(db, replica).seq === 0)
  if (isEmpty) db.write(() => ownByKey(db, project.id, lines))
  let shared = done.shared
  for (const root of roots) shared += receiveAgain(memory, root).applied
  const signed = hub.lines.filter((l) => isKeyed(l.replica))
  if (signed.length > 0) shared += memory.applyLines({ lines: signed, snapshots: [] }).applied
  shared += await receiveCommitted(memory, project.root, done.missing)
  const told = memory.finishErasure()
  const missing = done.missing.filter((m) => !log.areHere(db, m))
  const remade = remadeLines(db).map((l) => `${l.replica}:${l.seq}`)
  return {
    ...{ ...done, shared, missing, told, remade: done.remade.filter((batch) => remade.includes(batch)) },
    parts: shared > 0 ? inPart(db, lines) : [],
    ...(hub.why === undefined ? {} : { hub: hub.why }),
  }
}

function inPart(db: Db, lines: Shared): string[] {
  const isOwn = ownLines(db)
  const own = lines.flatMap(({ replica, seq }) => (isOwn(replica, seq) ? (log.lineOf(db, replica, seq) ?? []) : []))
  return [...new Set(own.filter(leavesOut).map((l) => `${l.replica}:${l.seq}`))]
}

async function fromHub({ id, storePath }: Project): Promise<{ lines: Shared; why?: string }> {
  const joined = hubOf(id, storePath)
  if (!joined) return { lines: [] }
  const { linesOfHub } = await import('./hub-read.ts')
  const refused = whenRefused(({ message }) => ({ lines: [], why: message }))
  return linesOfHub(joined, id).then((lines) => ({ lines }), refused)
}

/**
 * Takes in lines that were here once and stand in commits alone: in those of other branches, or from before somebody removed them.
 * Whether they count, and whether they are sent again, is settled already. Returns how many came.
 */
export async function receiveCommitted(memory: Memory, root: string, missing: readonly Missing[]): Promise<number> {
  const remade = remadeLines(memory.db).map((l): Missing => ({ replica: l.replica, from: l.seq, to: l.seq }))
  const wanted = [...missing, ...remade]
  if (wanted.length === 0) return 0
  const isWanted = (replica: string, first: number, last: number) =>
    wanted.some((w) => handleOf(w.replica) === handleOf(replica) && w.from <= last && first <= w.to)
  const lines: Line[] = []
  const handles = wanted.map((w) => handleOf(w.replica))
  const added = await segmentsInHistory(root, handles, '--all', '--diff-filter=A', '--no-renames')
  for (const { commit, segment } of added) {
    if (!isWanted(segment.replica, segment.first, segment.last)) continue
    const text = await runGit(root, 'show', `${commit}:./${segment.path}`)
    const content = readSegment(textsIn(segment, Buffer.from(text)))
    lines.push(...content.lines.filter((l) => isWanted(l.replica, l.seq, l.seq)))
  }
  return lines.length === 0 ? 0 : memory.applyLines({ lines, snapshots: [] }).applied
}
