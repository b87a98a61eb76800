import type { Entity } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { type Report, shown } from '../model/validate.ts'
import type { WorkKind } from '../model/work-kinds.ts'
import { isOpen, pathTo } from '../read/work-tree.ts'
import type { Planning, Result } from '../write/plan-types.ts'
import { record } from '../write/record.ts'
import type { RunAction } from '../write/verb.ts'
import { linkEntities } from './link-entities.ts'

type Args = Readonly<Record<string, unknown>>
type Made = Omit<Result, 'verb'> & { id: string }

/** Arguments that every start takes along to the record. */
const LABELS = ['topics', 'tags'] as const
export const LABEL_ARGS = { topics: '[text, …]?', tags: '[text, …]?' }

export const TASK_ARGS = {
  activity: "reference? (the session's current one)",
  goal: 'reference? (for a task without an activity)',
  blockedBy: '[reference, …]?',
  discoveredFrom: 'reference?',
  ...LABEL_ARGS,
}

/** Records a goal, activity or task with what was said of it and where it belongs. */
export function recordWork(
  p: Planning,
  kind: WorkKind,
  args: Args,
  fields: readonly string[],
  above: { [field: string]: Json },
  report: Report,
): Made | undefined {
  const given = Object.fromEntries([...fields, ...LABELS].flatMap((f) => (args[f] === undefined ? [] : [[f, args[f]]])))
  return record(p, p.registry().kind(kind)!, { ...given, ...above }, report) as Made | undefined
}

/** The one of the work tree that an argument names. */
function named(p: Planning, args: Args, field: WorkKind, report: Report): Entity | undefined {
  return args[field] === undefined || args[field] === null
    ? undefined
    : p.resolve(args[field], field, report, { kind: field })
}

/** The path down to something, as the plan has it. */
export const pathOf = (p: Planning, id: string): string[] =>
  pathTo(p.entity(id)!, (ref, kind) => p.resolve(ref, kind, undefined, { kind }))

/** Opens again what was complete or abandoned, and says so. */
export function reopen(p: Planning, id: string): void {
  const e = p.entity(id)!
  if (isOpen(e)) return
  p.note(`"${e.name}" was ${String(e.fields.state)}; it is open again`)
  p.set(id, 'state', 'open')
  p.set(id, 'abandonReason', undefined)
  p.sign(id)
}

/** The goal that an activity belongs to: the one named, else the session's current one. */
export function goalFor(p: Planning, args: Args, report: Report): { [field: string]: Json } {
  const id = args.goal === undefined ? p.place().goal : named(p, args, 'goal', report)?.id
  return id === undefined ? {} : { goal: id }
}

/** What a task belongs to: the activity or goal named, else the session's current activity, else its goal. */
function aboveTask(p: Planning, args: Args, report: Report): { [field: string]: Json } {
  if (args.activity !== undefined) {
    const activity = named(p, args, 'activity', report)
    if (args.goal !== undefined)
      report({ field: 'goal', message: 'the activity has its goal', accepted: 'an activity or a goal, not both' })
    return activity ? { activity: activity.id } : {}
  }
  const { activity } = p.place()
  return args.goal === undefined && activity !== undefined ? { activity } : goalFor(p, args, report)
}

/** The tasks that an argument names; `field` is told in reports. */
function tasks(p: Planning, given: unknown, field: string, report: Report): Entity[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) {
    const one = p.resolve(given, field, report, { kind: 'task' })
    return one ? [one] : []
  }
  return given.flatMap((ref, i) => p.resolve(ref, `${field}.${i}`, report, { kind: 'task' }) ?? [])
}

/** Lays a new task into the plan, with what it waits for and what it came from. */
export function layTask(p: Planning, args: Args, report: Report, run: RunAction): Made | undefined {
  const above = aboveTask(p, args, report)
  const blockers = tasks(p, args.blockedBy, 'blockedBy', report)
  const from = args.discoveredFrom === undefined ? undefined : p.resolve(args.discoveredFrom, 'discoveredFrom', report)
  const made = recordWork(p, 'task', args, ['description'], above, report)
  if (!made) return undefined
  const link = (to: Entity, type: string) => linkEntities.plan(p, { from: made.id, to: to.id, type }, report, run)
  for (const blocker of blockers) link(blocker, 'blocked-by')
  if (from) link(from, 'discovered-from')
  return { ...made, ...above, ...(blockers.length > 0 ? { blockedBy: blockers.map((b) => b.id) } : {}) }
}

/** What `complete` and `abandon` are about: what is named, else the session's current task. */
export function workNamed(p: Planning, args: Args, report: Report): Entity | undefined {
  const { task } = p.place()
  if (args.ref === undefined && task === undefined) {
    report({ field: 'ref', message: 'the session has no current task', accepted: 'a goal, an activity or a task' })
    return undefined
  }
  const ref = args.ref ?? task
  const kinds: readonly WorkKind[] = ['task', 'activity', 'goal']
  // several may be called so, or one in another kind: what stands in the work tree and is still open is meant
  const found = new Map(
    kinds.flatMap((kind) => {
      const e = p.resolve(ref, 'ref', undefined, { kind })
      return e ? [[e.id, e] as const] : []
    }),
  )
  const open = [...found.values()].filter(isOpen)
  const [one] = open.length > 0 ? open : [...found.values()]
  if (one && (open.length === 1 || found.size === 1)) return one
  const other = p.resolve(ref, 'ref', report)
  if (other) {
    report({
      field: 'ref',
      message: found.size > 1 ? `"${shown(ref)}" means several things` : `${other.id} is a ${other.kind}`,
      received: shown(ref),
      accepted: found.size > 1 ? [...found.keys()].join(' or ') : 'a goal, an activity or a task',
    })
  }
  return undefined
}

/** Open tasks below a goal or an activity. */
export function openTasksBelow(p: Planning, e: Entity): Entity[] {
  if (e.kind === 'task') return []
  return p.ofKind('task').filter((t) => isOpen(t) && pathOf(p, t.id).includes(e.id))
}

/** The session's claim of a task that is over is free with it; that of a role waits for what `release` says of the role. */
export function releaseTask(p: Planning, task: Entity): void {
  const { session } = p.ctx.provenance
  if (task.kind !== 'task' || typeof session !== 'string') return
  for (const c of p.claims.of(session))
    if (c.what === 'task' && c.on === task.id && c.role === undefined) p.claims.end(c, 'released', {})
}

export const flagArg = (args: Args, name: string, report: Report): boolean => {
  if (args[name] === undefined || typeof args[name] === 'boolean') return args[name] === true
  report({ field: name, message: 'not true or false', accepted: 'true or false' })
  return false
}
