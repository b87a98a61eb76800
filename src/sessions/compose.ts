import type { Entity } from '../memory/entity.ts'
import { type HandoffPart, onOneLine } from '../memory/handoff.ts'
import type { Memory } from '../memory/memory.ts'
import { isOpen } from '../memory/work.ts'
import type { Json } from '../schema/field.ts'
import type { Project } from '../store/project.ts'
import { claimsOf } from './claims.ts'
import { idsOf } from './ids.ts'
import { sessionsOf } from './sessions.ts'
import { refreshViews } from './views/index.ts'

const FILES_NAMED = 8
const ITEMS = 10
const NAME_MAX = 120
/** So many of the newest are looked through for what a session recorded. */
const LOOKED_AT = 300

/** What a handoff is put together from. */
export interface Composed extends Record<HandoffPart, string[]> {
  /** 0 to 100. */
  contextUsed?: number
}

const short = (text: unknown, max = NAME_MAX): string => {
  const line = onOneLine(String(text))
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line
}

/** The first of many, with how many more there are. */
const some = (all: readonly string[], max: number): string[] =>
  all.length <= max ? [...all] : [...all.slice(0, max - 1), `${all.length - max + 1} more`]

function failing(kept: Json | undefined): string[] {
  if (typeof kept !== 'object' || kept === null) return []
  return Object.values(kept).flatMap((f) => {
    const { command, n, count, exit, last } = (f ?? {}) as { [key: string]: Json }
    if (typeof command !== 'string') return []
    const times = Number(n ?? count ?? 1)
    const how =
      exit === undefined ? (typeof last === 'string' && last !== '' ? `: ${short(last)}` : '') : ` (exit ${exit})`
    return [`\`${short(command)}\` failed${times > 1 ? ` ${times} times` : ''}${how}`]
  })
}

/**
 * What a session leaves, from what it did: the task it is at, what it holds and touched, what it decided, what fails,
 * what is still to be done or confirmed. Nothing where it did nothing.
 */
export function composeHandoff(memory: Memory, session: string): Composed | undefined {
  const { reader } = memory
  const sessions = sessionsOf(memory)
  const ids = idsOf(memory, session)
  const all = [...ids].flatMap((id) => sessions.get(id) ?? [])
  const since = Math.min(memory.env.now(), ...all.map((s) => s.started))
  const isOurs = (e: Entity): boolean =>
    ((e.fields.provenance ?? []) as { [key: string]: Json }[]).some((p) => ids.has(String(p.session)))
  const recorded = (kind: string, standing?: string): Entity[] =>
    reader
      .list(kind, { since, limit: LOOKED_AT, ...(standing === undefined ? {} : { standing }) })
      .filter(isOurs)
      .reverse()
  const place = memory.place(session)
  const task = place.task === undefined ? undefined : reader.entity(place.task)
  const claims = claimsOf(memory)
    .held()
    .filter((c) => ids.has(c.session) && !c.implicit && c.what === 'path')
  const files = [...new Set(all.flatMap((s) => s.files).reverse())]
  const decided = recorded('decision').filter((e) => (e.fields.standing ?? 'confirmed') === 'confirmed')
  const open = recorded('task').filter((e) => isOpen(e) && e.id !== task?.id)
  const proposed = reader
    .registry()
    .kinds()
    .flatMap((k) => recorded(k.name, 'proposed')).length

  const said: Composed = {
    inProgress: [
      ...(task ? [`Task: ${short(task.name)}`] : []),
      ...some(
        claims.map((c) => `Claimed ${c.on}${c.note ? ` (${short(c.note)})` : ''}`),
        ITEMS,
      ),
      ...(files.length > 0 ? [`Edited ${some(files, FILES_NAMED).join(', ')}`] : []),
    ],
    decisionsMade: some(
      decided.map((e) => {
        const why = e.fields.rationale ?? e.fields.description
        return why === undefined ? short(e.name) : `${short(e.name)}: ${short(why)}`
      }),
      ITEMS,
    ),
    blockers: some(
      all.flatMap((s) => failing(s.data.failing)),
      ITEMS,
    ),
    nextSteps: [
      ...(task ? [`Go on with: ${short(task.name)}`] : []),
      ...some(
        open.map((e) => short(e.name)),
        ITEMS,
      ),
      ...(proposed > 0
        ? [`Confirm or reject ${proposed === 1 ? 'a proposal' : `${proposed} proposals`}: tidemark review`]
        : []),
    ],
  }
  const { contextUsed } = sessions.get(session) ?? {}
  const parts = [said.inProgress, said.decisionsMade, said.blockers, said.nextSteps]
  if (parts.every((p) => p.length === 0)) return undefined
  return { ...said, ...(contextUsed === undefined ? {} : { contextUsed }) }
}

/**
 * Writes the handoff that can be put together without the agent; what the agent wrote itself stays and is only
 * completed. Says which it is, and nothing where the session did nothing.
 */
export function writeAutomatic(
  memory: Memory,
  project: Project,
  session: string,
  { why, contextUsed, agent }: { why: string; contextUsed?: number; agent?: string },
): { id: string; name: string; changed: boolean; notes: string[] } | undefined {
  const composed = composeHandoff(memory, session)
  if (!composed) return undefined
  const used = contextUsed ?? composed.contextUsed
  const done = memory.act(
    {
      intent: `handoff at ${why}`,
      actions: [
        ['write-handoff', { ...composed, ...(used === undefined ? {} : { contextUsed: used }), complete: true }],
      ],
    },
    { session, source: 'handoff', redact: true, ...(agent === undefined ? {} : { agent }) },
  )
  const [r] = done.results
  const notes = refreshViews(memory, project)
  return { id: r!.id, name: String(r!.name), changed: done.batch !== null, notes }
}
