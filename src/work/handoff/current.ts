import type { Reader } from '../../engine/read/reader.ts'
import type { Project } from '../../engine/store/project.ts'
import { type Entity, provenanceOf } from '../../model/entity.ts'
import { commitsOf } from './commits.ts'
import { type Handoff, handoffOf, isCurrentHandoff, printHandoff, withoutDone } from './page.ts'

/** After this many commits a handoff is called stale. */
const STALE_COMMITS = 3
/** The next steps of a handoff are carried over the work of later sessions for so long. */
export const CARRIED_DAYS = 14
/** An older handoff is named at a session's start and not told; sooner where it leaves nothing to do. */
export const OLD_DAYS = 30
export const DONE_DAYS = 3

export interface CurrentHandoff {
  readonly entity: Entity
  /** What it says, without the steps that are done. */
  readonly said: Handoff
  /** Its page; a stale one says so. */
  readonly markdown: string
  /** ms since the epoch. */
  readonly written: number
  readonly stale: boolean
  /** Commits in the work tree since it was written; nothing where git does not tell. */
  readonly commitsSince?: number
  readonly session?: string
  readonly task?: string
}

/** Handoffs that still speak, the newest first. */
export const currentEntities = (reader: Reader): Entity[] =>
  reader
    .list('handoff')
    .filter((e) => isCurrentHandoff(e, (id) => reader.entity(id)))
    .sort((a, b) => handoffOf(b).written! - handoffOf(a).written! || (a.id < b.id ? -1 : 1))

/** Handoffs that still speak, the newest first, each with its page and how much came after it. */
export function currentHandoffs({ reader }: { reader: Reader }, project: Project): CurrentHandoff[] {
  const all = currentEntities(reader)
  if (all.length === 0) return []
  const commits = commitsOf(project.root)
  return all.map((entity) => {
    const said = withoutDone(handoffOf(entity), (id) => reader.entity(id))
    const by = provenanceOf(entity).at(-1)
    const since = commits(said.written!, typeof by?.commit === 'string' ? by.commit : undefined)
    const stale = since !== undefined && since >= STALE_COMMITS
    const { session, task } = entity.fields
    return {
      entity,
      said,
      markdown: printHandoff(said, stale ? since : 0),
      written: said.written!,
      stale,
      commitsSince: since,
      session: typeof session === 'string' ? session : undefined,
      task: typeof task === 'string' ? task : undefined,
    }
  })
}
