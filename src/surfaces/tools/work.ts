import { UsageError, UserError } from '../../base/errors.ts'
import { type Place, type WorkNode, withBelow, workTree } from '../../engine/read/work-tree.ts'
import type { Result } from '../../engine/write/plan.ts'
import type { Verb, VerbArg } from '../../engine/write/verb.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import type { WorkKind } from '../../model/work-kinds.ts'
import { abandon, complete, startActivity, startGoal } from '../../project/verbs/work.ts'
import { entityJson, findWork, oneLine, oneOf, refsTo, refTo } from './format.ts'
import { actingAs, type Output, type Param, type Tool, type ToolContext, written } from './tool.ts'
import { argsFor, flagOf, paramOf } from './verb-params.ts'

const MARKS: Readonly<Record<string, string>> = { open: '○', complete: '✓', abandoned: '✗' }
const NAME_MAX = 80

const shortName = (e: Entity) => oneLine(e.name, NAME_MAX)

/** What the tool that open work came from says of it besides: `in_progress, ana`. */
export function saidElsewhere({ fields: { attrs, state } }: Entity): string | undefined {
  if (!isObject(attrs) || typeof attrs.status !== 'string' || attrs.status === 'open') return undefined
  if ((state ?? 'open') !== 'open') return undefined
  return oneLine([attrs.status, attrs.assignee].filter((said) => typeof said === 'string').join(', '), NAME_MAX)
}

/** One of the work tree on one line: its mark, its name, what it waits for, why it was given up, where the session is. */
export function workLine(node: WorkNode, place: Place): string {
  const { entity, state, blockedBy } = node
  const { abandonReason } = entity.fields
  const parts = [`${MARKS[state] ?? '○'} ${shortName(entity)}`]
  if (blockedBy.length > 0) parts.push(`(blocked by ${blockedBy.map((b) => `"${shortName(b)}"`).join(', ')})`)
  const said = saidElsewhere(entity)
  if (said !== undefined) parts.push(`(${said})`)
  if (state === 'abandoned' && typeof abandonReason === 'string') parts.push(`(${oneLine(abandonReason, NAME_MAX)})`)
  if (place.task === entity.id) parts.push('← current')
  return parts.join(' ')
}

export const workJson = (node: WorkNode, place: Place): { [key: string]: Json } => ({
  ...entityJson(node.entity),
  state: node.state,
  ...(node.blockedBy.length > 0 ? { blockedBy: node.blockedBy.map((b) => b.id) } : {}),
  ...(place[node.kind] === node.entity.id ? { current: true } : {}),
})

/** What the acting session works on. */
export const placeOf = ({ memory, session }: ToolContext): Place => memory.place(session)

interface WorkTool {
  readonly kind: WorkKind
  readonly about: string
  readonly example: string
  /** The verb behind each step. */
  readonly verbs: Readonly<Record<string, Pick<Verb, 'name' | 'args'>>>
}

/** Arguments of verbs that no flag says. */
const NO_FLAG: ReadonlySet<string> = new Set(['originalAsk', 'description', 'topics', 'tags', 'expectedVersion'])

/** A flag for each argument of the verbs, with the steps that take it. */
function flagsOf({ kind, verbs }: WorkTool): Record<string, Param> {
  const flags: Record<string, { arg: VerbArg; steps: string[] }> = {}
  for (const [step, { args }] of Object.entries(verbs))
    for (const [name, arg] of Object.entries(args)) {
      const isText = name === 'ref' && step !== 'start' // there the text is the reference
      if (isText || NO_FLAG.has(name) || (name === 'force' && kind === 'task')) continue
      ;(flags[flagOf(name)] ??= { arg, steps: [] }).steps.push(step)
    }
  const param = ({ arg, steps }: (typeof flags)[string]) =>
    paramOf({ ...arg, about: `${steps.join(', ')}: ${arg.about}` })
  return Object.fromEntries(Object.entries(flags).map(([flag, said]) => [flag, param(said)]))
}

/** The tool of one kind of the work tree: start, complete, abandon and list. */
export function workTool(spec: WorkTool): Tool {
  const { kind, verbs } = spec
  const steps = [...Object.keys(verbs), 'list']
  const key = kind === 'goal' ? 'originalAsk' : 'description'
  return {
    name: kind,
    title: `Work: ${kind}`,
    about: spec.about,
    example: spec.example,
    params: {
      do: { type: 'text', about: steps.join(', '), required: true, place: 0, choices: steps },
      text: {
        type: 'text',
        about: `what is ${verbs.add ? 'started or added' : 'started'}; else a reference (the session's current ${kind} unless given)`,
        place: 'rest',
      },
      ...flagsOf(spec),
      topic: { type: 'text', about: verbs.start!.args.topics!.about },
      all: { type: 'flag', about: 'list: also what is complete or abandoned' },
    },
    readOnly: false,
    needsSession: (args) => args.do === 'start',
    ofSession: (args) => (args.do === 'complete' || args.do === 'abandon') && oneOf(args.text) === undefined,
    run(context, args) {
      const { reader } = context.memory
      const step = String(args.do)
      if (!steps.includes(step))
        throw new UsageError(`${kind} does not "${oneLine(step, 40)}"`, `one of ${steps.join(', ')}`)
      if (step === 'list') return listed(context, kind, args.all === true)
      const text = oneOf(args.text)
      const verb = verbs[step]!
      const said = argsFor(verb.args, reader, args)
      if (step === 'start' || step === 'add') {
        const ref = oneOf(args.ref)
        if (text === undefined && ref === undefined) throw new UsageError('the text is missing', `\`${spec.example}\``)
        const topic = oneOf(args.topic)
        const more = { ref: ref && findWork(reader, kind, ref).id, topics: topic && [topic] }
        return done(context, step, [verb.name, { ...said, [key]: text, ...more }])
      }
      const current = placeOf(context)[kind]
      if (text === undefined && current === undefined)
        throw new UserError(
          'no-current',
          `the session has no current ${kind}`,
          `say which: tidemark ${kind} ${step} REF`,
        )
      const ref = text === undefined ? current! : findWork(reader, kind, text).id
      return done(context, step, [verb.name, { ...said, ref }])
    },
  }
}

function done(context: ToolContext, step: string, action: readonly unknown[]): Output {
  const acted = context.memory.act([action], actingAs(context))
  const r = acted.results[0] as Result
  const { reader } = context.memory
  const lines = [`${step.replace(/e?$/, 'ed')} ${r.kind} ${oneLine(String(r.name), NAME_MAX)}  ${refTo(reader, r.id)}`]
  const above = r.activity ?? r.goal
  if (typeof above === 'string') lines.push(`  in ${reader.entity(above)!.kind} ${shortName(reader.entity(above)!)}`)
  return written(acted, lines, { ...acted, id: r.id })
}

function listed(context: ToolContext, kind: WorkKind, all: boolean): Output {
  const place = placeOf(context)
  const { reader } = context.memory
  const nodes = workTree(reader)
    .flatMap(withBelow)
    .filter((n) => n.kind === kind)
  const shown = all ? nodes : nodes.filter((n) => n.state === 'open')
  const entities = shown.map((n) => n.entity)
  const refs = refsTo(reader, entities)
  const lines = shown.map((n) => `${workLine(n, place)}  ${refs.get(n.entity.id)}`)
  if (shown.length === 0) lines.push(`no ${kind} is open`)
  if (shown.length < nodes.length) lines.push(`… ${nodes.length - shown.length} closed: --all shows them`)
  return { text: lines.join('\n'), json: shown.map((n) => workJson(n, place)) }
}

export const goal = workTool({
  kind: 'goal',
  about:
    "starts, completes, abandons or lists goals: what was asked for. Starting one makes it the session's current goal",
  example: 'tidemark goal start Add OAuth login --plan "provider, callback, session"',
  verbs: { start: startGoal, complete, abandon },
})

export const activity = workTool({
  kind: 'activity',
  about: 'starts, completes, abandons or lists activities: areas of work within a goal',
  example: 'tidemark activity start token handling --goal "Add OAuth login" --component auth',
  verbs: { start: startActivity, complete, abandon },
})
