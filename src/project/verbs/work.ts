import { isOpen, pathTo } from '../../engine/read/work-tree.ts'
import type { Planning, Result } from '../../engine/write/plan.ts'
import { record } from '../../engine/write/record.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { type ReadArgs, ref, refs } from '../../model/args.ts'
import type { Entity } from '../../model/entity.ts'
import { flag, type Json, text } from '../../model/field.ts'
import { COMMON } from '../../model/kind.ts'
import { activity } from '../../model/kinds/activity.ts'
import { goal } from '../../model/kinds/goal.ts'
import { task as TASK } from '../../model/kinds/task.ts'
import { defined } from '../../model/object.ts'
import { type Report, shown } from '../../model/validate.ts'
import type { WorkKind } from '../../model/work-kinds.ts'
import { brief } from './common.ts'
import { link } from './links.ts'

type Made = Omit<Result, 'verb'> & { id: string }

/** Arguments that every start takes along to the record. */
const LABELS = { topics: COMMON.topics, tags: COMMON.tags }

/** What callers say for the description of a piece of work. */
const DESCRIBED = { also: ['title', 'name', 'text'] } as const

const TASK_ARGS = {
  description: { ...TASK.fields.description, ...DESCRIBED },
  activity: ref("the activity it belongs to (the session's current one)", { kind: 'activity' }),
  goal: ref('the goal it belongs to, where it has no activity', { kind: 'goal' }),
  blockedBy: refs('the tasks that it waits for', { kind: 'task' }),
  discoveredFrom: ref('what it came up in'),
  ...LABELS,
} as const

type NewTask = ReadArgs<typeof TASK_ARGS>

/** The path down to something, as the plan has it. */
export const pathOf = (p: Planning, id: string): string[] =>
  pathTo(p.entity(id)!, (ref, kind) => p.resolve(ref, kind, undefined, { kind }))

export function reopen(p: Planning, id: string): void {
  const e = p.entity(id)!
  if (isOpen(e)) return
  p.note(`"${e.name}" was ${String(e.fields.state)}; it is open again`)
  p.set(id, 'state', 'open')
  p.set(id, 'abandonReason', undefined)
  p.sign(id)
}

/** The goal that an activity belongs to: the one named, else the session's current one. */
function goalFor(p: Planning, named: Entity | undefined): { [field: string]: Json } {
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
function layTask(
  p: Planning,
  { blockedBy = [], discoveredFrom: from, activity, goal, ...said }: NewTask,
  report: Report,
): Made | undefined {
  const above = aboveTask(p, { activity, goal }, report)
  const made = record(p, p.registry().kind('task')!, { ...said, ...above }, report) as Made | undefined
  if (!made) return undefined
  const task = p.entity(made.id)!
  for (const blocker of blockedBy) link(p, task, 'blocked-by', blocker, {}, report)
  if (from) link(p, task, 'discovered-from', from, {}, report)
  return { ...made, ...above, ...(blockedBy.length > 0 ? { blockedBy: blockedBy.map((b) => b.id) } : {}) }
}

function currentTask(p: Planning, report: Report): Entity | undefined {
  const { task } = p.place()
  if (task === undefined)
    report({ field: 'ref', message: 'the session has no current task', accepted: 'a goal, an activity or a task' })
  return p.entity(task ?? '')
}

/** What `complete` and `abandon` are about: what stands in the work tree and is still open is meant before others. */
const workRef = <const O extends { required?: boolean } = Record<never, never>>(o: O = {} as O) =>
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

const openTasksBelow = (p: Planning, e: Entity): Entity[] =>
  e.kind === 'task' ? [] : p.ofKind('task').filter((t) => isOpen(t) && pathOf(p, t.id).includes(e.id))

/** Says how it ended. The session's claim of a task is free with it; that of a role waits for what `release` says of the role. */
function end(p: Planning, e: Entity, said: { readonly state: string; readonly [field: string]: Json | undefined }) {
  const changed = Object.entries(said).map(([field, value]) => p.set(e.id, field, value))
  if (changed.includes(true)) p.sign(e.id)
  if (e.kind === 'task' && typeof p.ctx.provenance.session === 'string')
    for (const c of p.claims.of(p.ctx.provenance.session))
      if (c.what === 'task' && c.on === e.id && c.role === undefined) p.claims.end(c, 'released', {})
  return { ...brief(e), state: said.state }
}

const { originalAsk, plan } = goal.fields

export const startGoal = defineVerb({
  name: 'start-goal',
  about: "records what was asked for and makes it the session's current goal; a closed one is opened again",
  args: {
    originalAsk: { ...originalAsk, required: true, also: ['goal', 'description', 'title', 'text'] },
    plan,
    ...LABELS,
  },
  example: { originalAsk: 'Add OAuth login', plan: 'provider, callback, session' },
  plan(p, said, report) {
    const made = record(p, p.registry().kind('goal')!, said, report) as Made | undefined
    if (!made) return undefined
    reopen(p, made.id)
    p.workOn([made.id])
    return made
  },
})

const { description, mode, component } = activity.fields

export const startActivity = defineVerb({
  name: 'start-activity',
  about: "opens an area of work within a goal and makes it the session's current one",
  args: {
    description: { ...description, ...DESCRIBED, required: true },
    goal: ref("the goal it belongs to (the session's current one)", { kind: 'goal' }),
    mode,
    component,
    ...LABELS,
  },
  example: { description: 'token handling', component: 'auth' },
  plan(p, { goal, ...said }, report) {
    const above = goalFor(p, goal)
    const made = record(p, p.registry().kind('activity')!, { ...said, ...above }, report) as Made | undefined
    if (!made) return undefined
    p.workOn(pathOf(p, made.id))
    return { ...made, ...above }
  },
})

export const startTask = defineVerb({
  name: 'start-task',
  about:
    "makes a task the session's current one: what it records from then on is of that task. A new one, or with ref one that is there",
  args: { ...TASK_ARGS, ref: ref('a task that is there, instead of a new one', { kind: 'task', also: ['id'] }) },
  example: { description: 'refresh tokens before they expire', activity: 'token handling' },
  plan(p, { ref: task, ...said }, report) {
    if (!task) {
      const made = layTask(p, said, report)
      if (made) p.workOn(pathOf(p, made.id))
      return made
    }
    for (const field of Object.keys(said))
      report({ field, message: 'is for a new task', accepted: 'ref alone, to start a task that is there' })
    reopen(p, task.id)
    p.workOn(pathOf(p, task.id))
    return { ...brief(task), created: false }
  },
})

export const addTask = defineVerb({
  name: 'add-task',
  about: 'puts a task into the work tree for later; the current one stays',
  args: { ...TASK_ARGS, description: { ...TASK_ARGS.description, required: true } },
  example: { description: 'rotate the signing keys', blockedBy: ['refresh tokens before they expire'] },
  plan: layTask,
})

const NAMED_AT_MOST = 10

export const complete = defineVerb({
  name: 'complete',
  about: 'says that a goal, an activity or a task is done, and what came of it',
  args: { ref: workRef(), result: text('what came of it'), force: flag('although tasks below it are open') },
  example: { ref: 'refresh tokens before they expire', result: 'refreshed a minute ahead' },
  plan(p, { ref, result, force }, report) {
    const target = ref ?? currentTask(p, report)
    if (!target) return undefined
    const open = force ? [] : openTasksBelow(p, target)
    if (open.length > 0) {
      const names = open.slice(0, NAMED_AT_MOST).map((t) => `"${t.name}" (${t.id})`)
      if (open.length > names.length) names.push(`${open.length - names.length} more`)
      return report({
        field: 'ref',
        message: `${open.length === 1 ? 'a task is' : `${open.length} tasks are`} open: ${names.join(', ')}`,
        received: target.id,
        hint: 'complete or abandon them first, or give "force": true to leave them open',
      })
    }
    if (target.fields.state === 'abandoned') p.note(`"${target.name}" was abandoned; it is complete now`)
    return end(p, target, { state: 'complete', ...defined({ result }), abandonReason: undefined })
  },
})

export const abandon = defineVerb({
  name: 'abandon',
  about: 'gives up a goal, an activity or a task, and says why; starting it again opens it',
  args: { ref: workRef({ required: true }), reason: text('why', { required: true, also: ['why'] }) },
  example: { ref: 'refresh tokens before they expire', reason: 'the provider does it' },
  plan: (p, { ref, reason }) => end(p, ref, { state: 'abandoned', abandonReason: reason }),
})
