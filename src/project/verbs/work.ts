import { isOpen, pathTo } from '../../engine/read/work-tree.ts'
import type { Planning, Result } from '../../engine/write/plan.ts'
import { record } from '../../engine/write/record.ts'
import { reading } from '../../engine/write/verb.ts'
import { ref, refs } from '../../model/args.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { COMMON } from '../../model/kind.ts'
import { task as TASK } from '../../model/kinds/task.ts'
import { type Report, shown } from '../../model/validate.ts'
import type { WorkKind } from '../../model/work-kinds.ts'
import { link } from './link-entities.ts'

type Made = Omit<Result, 'verb'> & { id: string }

/** Arguments that every start takes along to the record. */
export const LABELS = { topics: COMMON.topics, tags: COMMON.tags }

/** What callers say for the description of a piece of work. */
export const DESCRIBED = { also: ['title', 'name', 'text'] } as const

export const TASK_ARGS = {
  description: { ...TASK.fields.description, ...DESCRIBED },
  activity: ref("the activity it belongs to (the session's current one)", { kind: 'activity' }),
  goal: ref('the goal it belongs to, where it has no activity', { kind: 'goal' }),
  blockedBy: refs('the tasks that it waits for', { kind: 'task' }),
  discoveredFrom: ref('what it came up in'),
  ...LABELS,
} as const

interface NewTask {
  readonly description?: string
  readonly activity?: Entity
  readonly goal?: Entity
  readonly blockedBy?: readonly Entity[]
  readonly discoveredFrom?: Entity
}

/** Records a goal, an activity or a task with what was said of it and where it belongs. */
export const recordWork = (
  p: Planning,
  kind: WorkKind,
  said: { readonly [field: string]: unknown },
  report: Report,
): Made | undefined => record(p, p.registry().kind(kind)!, said, report) as Made | undefined

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
export function goalFor(p: Planning, named: Entity | undefined): { [field: string]: Json } {
  const id = named ? named.id : p.place().goal
  return id === undefined ? {} : { goal: id }
}

/** What a task belongs to: the activity or goal named, else the session's current activity, else its goal. */
function aboveTask(p: Planning, { activity, goal }: NewTask, report: Report): { [field: string]: Json } {
  if (activity && goal)
    report({ field: 'goal', message: 'the activity has its goal', accepted: 'an activity or a goal, not both' })
  const id = activity?.id ?? (goal ? undefined : p.place().activity)
  return id === undefined ? goalFor(p, goal) : { activity: id }
}

/** Adds a new task to the plan, with what it waits for and what it came from. */
export function layTask(
  p: Planning,
  { blockedBy = [], discoveredFrom: from, activity, goal, ...said }: NewTask,
  report: Report,
): Made | undefined {
  const above = aboveTask(p, { activity, goal }, report)
  const made = recordWork(p, 'task', { ...said, ...above }, report)
  if (!made) return undefined
  const task = p.entity(made.id)!
  for (const blocker of blockedBy) link(p, task, 'blocked-by', blocker, {}, report)
  if (from) link(p, task, 'discovered-from', from, {}, report)
  return { ...made, ...above, ...(blockedBy.length > 0 ? { blockedBy: blockedBy.map((b) => b.id) } : {}) }
}

/** The session's current task; that there is none is reported. */
export function currentTask(p: Planning, report: Report): Entity | undefined {
  const { task } = p.place()
  if (task === undefined)
    report({ field: 'ref', message: 'the session has no current task', accepted: 'a goal, an activity or a task' })
  return p.entity(task ?? '')
}

/** What `complete` and `abandon` are about: what stands in the work tree and is still open is meant before others. */
export const workRef = <const O extends { required?: boolean } = Record<never, never>>(o: O = {} as O) =>
  reading(
    ref("a goal, an activity or a task (the session's current task)", { also: ['id'], ...o }),
    (p, given, field, report): Entity | undefined => {
      const kinds: readonly WorkKind[] = ['task', 'activity', 'goal']
      const found = new Map(
        kinds.flatMap((kind) => {
          const e = p.resolve(given, field, undefined, { kind })
          return e ? [[e.id, e] as const] : []
        }),
      )
      const open = [...found.values()].filter(isOpen)
      const [one] = open.length > 0 ? open : [...found.values()]
      if (one && (open.length === 1 || found.size === 1)) return one
      const other = p.resolve(given, field, report, { kinds })
      if (other)
        report({
          field,
          message: found.size > 1 ? `"${shown(given)}" means several things` : `${other.id} is a ${other.kind}`,
          received: shown(given),
          accepted: found.size > 1 ? [...found.keys()].join(' or ') : 'a goal, an activity or a task',
        })
      return undefined
    },
  )

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
