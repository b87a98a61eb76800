import { placeOf } from '../../engine/claims/part.ts'
import type { Memory } from '../../engine/memory.ts'
import { oldestFirst } from '../../engine/read/order.ts'
import { isOpen } from '../../engine/read/work-tree.ts'
import type { Project } from '../../engine/store/project.ts'
import { digest } from '../../model/digest.ts'
import { type Entity, provenanceOf, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { defined } from '../../model/object.ts'
import { oneLine } from '../../model/text.ts'
import { claimsOf } from '../coordination/claims.ts'
import { idsOf } from '../coordination/session-ids.ts'
import { exchangesOf } from '../coordination/session-info.ts'
import { sessionsOf } from '../coordination/sessions.ts'
import { currentEntities } from './current.ts'
import { HANDOFF_PARTS, type HandoffPart } from './page.ts'
import { refreshViews } from './views/refresh.ts'

const FILES_NAMED = 8
const ITEMS = 10
const NAME_MAX = 120
const SAID_MAX = 300
/** How many of the newest entities are searched for what a session recorded. */
const LOOKED_AT = 300

/** What a handoff is put together from. */
interface Composed extends Record<HandoffPart, string[]> {
  /** 0 to 100. */
  contextUsed?: number
}

const short = (text: unknown, max = NAME_MAX): string => oneLine(String(text), max)

/** The first of many, with how many more there are. */
const some = (all: readonly string[], max = ITEMS): string[] =>
  all.length <= max ? [...all] : [...all.slice(0, max - 1), `${all.length - max + 1} more`]

/** Lines that were added and taken out, and when that was. */
type Changed = { readonly added: number; readonly removed: number; readonly at: number }

const withLines = (file: string, changed: Changed | undefined): string =>
  changed === undefined || changed.added + changed.removed === 0
    ? file
    : `${file} +${changed.added} -${changed.removed}`

function failing(kept: Json | undefined): string[] {
  if (typeof kept !== 'object' || kept === null) return []
  const causes = new Set<Json>()
  return Object.values(kept).flatMap((f) => {
    const { command, n, count, exit, last } = (f ?? {}) as { [key: string]: Json }
    // spelled in several ways, one thing fails
    const isTelling = typeof last === 'string' && !/^\W*(?:exit|error|fail|command failed)\b.{0,20}$/i.test(last)
    if (typeof command !== 'string' || (isTelling && causes.has(last))) return []
    if (isTelling) causes.add(last)
    const times = Number(n ?? count ?? 1)
    const how =
      exit === undefined ? (typeof last === 'string' && last !== '' ? `: ${short(last)}` : '') : ` (exit ${exit})`
    return [`\`${short(command)}\` failed${times > 1 ? ` ${times} times` : ''}${how}`]
  })
}

/** The handoff of a session, made from what it did; undefined if it left no work. */
export function composeHandoff(memory: Memory, session: string): Composed | undefined {
  const { reader } = memory
  const sessions = sessionsOf(memory)
  const ids = idsOf(memory, session)
  const all = [...ids].flatMap((id) => sessions.get(id) ?? [])
  const since = Math.min(memory.env.now(), ...all.map((s) => s.started))
  const isOurs = (e: Entity): boolean => provenanceOf(e).some((p) => ids.has(String(p.session)))
  const recorded = (kind: string): Entity[] =>
    oldestFirst(memory.db, reader.list(kind, { since, limit: LOOKED_AT }).filter(isOurs))
  const place = memory.place(session)
  const task = place.task === undefined ? undefined : reader.entity(place.task)
  const claims = claimsOf(memory)
    .held()
    .filter((c) => ids.has(c.session) && !c.implicit && c.what === 'path')
  // what was done before the last task was closed is not in progress any more
  const closed = reader.list('task', { limit: LOOKED_AT }).filter((e) => isOurs(e) && !isOpen(e))
  const doneAt = Math.max(0, ...closed.map((e) => e.updated))
  const edits = Object.assign({}, ...all.map((s) => s.data.changed)) as { [path: string]: Changed }
  const files = [...new Set(all.flatMap((s) => s.files).reverse())].filter((f) => (edits[f]?.at ?? doneAt + 1) > doneAt)
  const changed = files.map((f) => withLines(f, edits[f]))
  const edited = some(changed, FILES_NAMED)
  const decided = recorded('decision').filter((e) => standingOf(e.fields) === 'confirmed' && e.updated > doneAt)
  const open = recorded('task').filter((e) => isOpen(e) && e.id !== task?.id)
  const [last, ...before] = all.filter((s) => typeof s.data.request === 'string')
  // what was edited before a clear was asked for before it
  const asked = before.filter((s) => s.files.some((f) => files.includes(f))).reverse()

  const said: Composed = {
    inProgress: [
      ...(task ? [`Task: ${short(task.name)}`] : []),
      ...some(claims.map((c) => `Had claimed ${placeOf(c)}${c.note ? ` (${short(c.note)})` : ''}`)),
      ...(edited.length > 0 ? [`Edited ${edited.join(', ')}`] : []),
    ],
    decisionsMade: some(
      decided.map((e) => {
        const why = e.fields.rationale ?? e.fields.description
        return why === undefined ? short(e.name) : `${short(e.name)}: ${short(why)}`
      }),
    ),
    blockers: some(all.flatMap((s) => failing(s.data.failing))),
    nextSteps: [
      ...(task ? [`Go on with: ${short(task.name)} (${task.id})`] : []),
      ...some(open.map((e) => `${short(e.name)} (${e.id})`)),
    ],
  }
  // decisions stand for themselves: a session that only decided, or only asked, leaves no work
  const isWritten = currentEntities(reader).some(({ fields }) => ids.has(String(fields.session)))
  const leavesWork = said.inProgress.length + said.blockers.length + said.nextSteps.length > 0
  if (!leavesWork && (!isWritten || said.decisionsMade.length === 0)) return undefined
  if (leavesWork)
    said.inProgress.unshift(
      ...some(asked.map((s) => `Asked: "${short(s.data.request, SAID_MAX)}"`)),
      ...(last ? exchangesOf(last) : []).map(([how, text]) => `${how}: "${short(text, SAID_MAX)}"`),
    )
  return defined({ ...said, contextUsed: sessions.get(session)?.contextUsed })
}

/** What a handoff says without what changes with every turn: what was said last, and how many lines each file changed by. */
const essence = ({ contextUsed: _used, ...parts }: Composed): string =>
  digest(
    JSON.stringify(parts, (_, value) =>
      typeof value === 'string'
        ? /^(?:Asked|Answered): /.test(value)
          ? ''
          : value.replace(/ \+\d+ -\d+/g, '')
        : value,
    ),
  )

/** Nothing is left to do: what was put together of the session before, and nobody has added to, leaves. */
function leaveNone(memory: Memory, project: Project, session: string): undefined {
  const ids = idsOf(memory, session)
  const old = currentEntities(memory.reader).filter(({ fields }) => {
    const composed = new Set((fields.composed as string[] | undefined) ?? [])
    const items = HANDOFF_PARTS.flatMap((p) => (fields[p.field] as string[] | undefined) ?? [])
    return (
      ids.has(String(fields.session)) &&
      fields.task === undefined &&
      fields.body === undefined &&
      items.every((item) => composed.has(item))
    )
  })
  if (old.length === 0) return undefined
  const actions = old.map(({ id }) => ['retire', { ref: id, reason: 'nothing of it is left to do' }])
  memory.act({ intent: 'the work of a handoff is done', actions }, { session, source: 'handoff' })
  refreshViews(memory, project)
  return undefined
}

/** Writes the composed handoff, keeping the agent's own items; unchanged if it says the same as `was`. */
export function writeAutomatic(
  memory: Memory,
  project: Project,
  session: string,
  { why, contextUsed, agent, was }: { why: string; contextUsed?: number; agent?: string; was?: unknown },
): { as: string; changed: boolean } | undefined {
  const composed = composeHandoff(memory, session)
  if (!composed) return leaveNone(memory, project, session)
  const as = essence(composed)
  if (as === was) return { as, changed: false }
  const done = memory.act(
    {
      intent: `handoff at ${why}`,
      actions: [['write-handoff', { ...composed, contextUsed: contextUsed ?? composed.contextUsed, complete: true }]],
    },
    defined({ session, source: 'handoff', redact: true, agent }),
  )
  refreshViews(memory, project)
  return { as, changed: done.batch !== null }
}
