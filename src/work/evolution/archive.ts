import { readInside, removeInside, writeInside } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { eventsOf } from '../../engine/store/log.ts'
import { ignoreViews, PROJECT_DIR, type Project } from '../../engine/store/project.ts'
import { MAX_ACTIONS } from '../../engine/write/batch.ts'
import type { Entity } from '../../model/entity.ts'
import { observationLine, observedAt } from '../handoff/views/observations.ts'

const OLD_MS = 30 * 86_400_000
/** How the reason begins for which it is retired; the page follows. */
const ARCHIVED = 'archived in '

const saysArchived = (reason: unknown): boolean => typeof reason === 'string' && reason.startsWith(ARCHIVED)

/** It is out of lists, and counts all the same where rates are compared. */
export const isArchived = (e: Entity): boolean => saysArchived(e.fields.retired)

export interface Archived {
  readonly observations: readonly Entity[]
  /** What `tidemark undo` takes to bring them back. */
  readonly batches: readonly string[]
  /** The pages that they stand on now, by their paths in the project. */
  readonly pages: readonly string[]
}

/** Nothing came of it: no proposal named it, and nothing is linked to it. */
function leftAlone({ reader }: Memory, old: readonly Entity[]): Entity[] {
  const mutations = reader.list('mutation', { all: true })
  const named = new Set(mutations.flatMap((e) => (Array.isArray(e.fields.evidence) ? e.fields.evidence : [])))
  const ids = old.map((e) => e.id)
  const linked = new Set([...reader.edges('from', ids), ...reader.edges('to', ids)].flatMap((l) => [l.from, l.to]))
  return old.filter((e) => e.fields.synthesized === undefined && !named.has(e.id) && !linked.has(e.id))
}

/** When it was put away, whether or not it was brought back since, and by which batch. */
const putAway = ({ db }: Memory, { id }: Entity) =>
  eventsOf(db, id).findLast(({ event }) => event.field === 'retired' && saysArchived(event.value))

const isOld = (e: Entity, { env }: Memory): boolean => observedAt(e) < env.now() - OLD_MS

/** Observations that are older than 30 days and led to nothing (P7). What somebody brought back stays. */
export function dueForArchive(memory: Memory): Entity[] {
  const old = memory.reader.list('observation').filter((e) => isOld(e, memory))
  return leftAlone(memory, old).filter((e) => putAway(memory, e) === undefined)
}

/** Retires old observations and writes them to monthly pages. Returns those archived since a moment. */
export function archiveOld(memory: Memory, { root }: Project, since: number): Archived {
  memory.db.write(() => {
    const due = dueForArchive(memory)
    for (let i = 0; i < due.length; i += MAX_ACTIONS)
      memory.act(
        due.slice(i, i + MAX_ACTIONS).map((e) => ['retire', { ref: e.id, reason: `${ARCHIVED}${pageOf(e)}` }]),
        { agent: 'tidemark', by: 'agent' },
      )
  })
  const old = memory.reader.list('observation', { all: true }).filter((e) => isOld(e, memory))
  const lately = old.filter((e) => isArchived(e) && e.updated >= since).map((e) => ({ e, by: putAway(memory, e) }))
  const fresh = lately.filter(({ by }) => by !== undefined && by.event.stamp.ms >= since)
  writePages(root, old)
  return {
    observations: fresh.map(({ e }) => e),
    batches: [...new Set(fresh.map(({ by }) => by!.batch))],
    pages: [...new Set(fresh.map(({ e }) => pageOf(e)))].sort(),
  }
}

const pageOf = (e: Entity): string =>
  `${PROJECT_DIR}/archive/observations-${new Date(observedAt(e)).toISOString().slice(0, 7)}.md`

/** One page a month. A line that no observation says any more, or that a person added, stays; what was brought back goes. */
function writePages(root: string, old: readonly Entity[]): void {
  for (const [page, all] of Map.groupBy(old, pageOf)) {
    const was = `${readInside(root, page) ?? ''}`
    const there = was.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
    const archived = all.filter(isArchived).map(observationLine)
    const back = new Set(all.filter((e) => !isArchived(e)).map(observationLine))
    const lines = [...there.filter((line) => !back.has(line) && !archived.includes(line)), ...archived].sort()
    const text = lines.length === 0 ? '' : `# Archived Observations\n\n${lines.join('\n')}\n`
    if (text !== '' && text !== was) {
      ignoreViews(root)
      writeInside(root, page, text)
    } else if (text === '' && was !== '') removeInside(root, page)
  }
}
