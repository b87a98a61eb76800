import { UsageError, UserError } from '../errors.ts'
import type { Entity } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import type { WorkKind } from '../model/work-kinds.ts'
import type { Reader } from '../read/reader.ts'
import { shortRefs } from '../read/short-references.ts'
import { isOpen, type Place, type WorkNode, withBelow, workTree } from '../read/work-tree.ts'
import type { Result } from '../write/plan.ts'
import { entityJson, findOne, oneLine, refTo } from './format.ts'
import { actingAs, type Output, type Param, type Tool, type ToolContext } from './tool.ts'

const MARKS: Readonly<Record<string, string>> = { open: '○', complete: '✓', abandoned: '✗' }
const NAME_MAX = 80

const shortName = (e: Entity) => oneLine(e.name, NAME_MAX)

/** One of the work tree on one line: its mark, its name, what it waits for, why it was given up, where the session is. */
export function workLine(node: WorkNode, place: Place): string {
  const { entity, state, blockedBy } = node
  const { abandonReason } = entity.fields
  const parts = [`${MARKS[state] ?? '○'} ${shortName(entity)}`]
  if (blockedBy.length > 0) parts.push(`(blocked by ${blockedBy.map((b) => `"${shortName(b)}"`).join(', ')})`)
  if (state === 'abandoned' && typeof abandonReason === 'string') parts.push(`(${oneLine(abandonReason, NAME_MAX)})`)
  if (place.task === entity.id) parts.push('← current')
  return parts.join(' ')
}

export const workJson = (node: WorkNode, place: Place): { [key: string]: Json } => ({
  ...(entityJson(node.entity) as { [key: string]: Json }),
  state: node.state,
  ...(node.blockedBy.length > 0 ? { blockedBy: node.blockedBy.map((b) => b.id) } : {}),
  ...(place[node.kind] === node.entity.id ? { current: true } : {}),
})

/** What the acting session works on. */
export const placeOf = ({ memory, session }: ToolContext): Place => memory.place(session)

/** What a flag says, if it says something. */
export const oneOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** The references in a flag: one, or several with commas between them. */
export function references(reader: Reader, given: unknown): string[] {
  const text = oneOf(given)
  if (text === undefined) return []
  if (reader.find(text).length > 0) return [text]
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
}

/** One of a kind of the work tree; what is open comes before what was called so once. */
export function findWork(reader: Reader, kind: WorkKind, ref: string): Entity {
  const found = [...reader.find(ref), ...reader.find(`${kind}:${ref}`)].filter((e) => e.kind === kind)
  const all = [...new Map(found.map((e) => [e.id, e])).values()]
  const open = all.filter(isOpen)
  if (open.length === 1) return open[0]!
  if (all.length === 1) return all[0]!
  if (all.length > 1) {
    const ids = (open.length > 1 ? open : all).map((e) => e.id)
    throw new UserError(
      'ambiguous',
      `"${oneLine(ref, NAME_MAX)}" means several ${kind}s`,
      `say which: ${ids.join(' or ')}`,
      {
        candidates: ids,
      },
    )
  }
  const other = findOne(reader, ref)
  throw new UserError(
    'not-found',
    `${other.id} is a ${other.kind}, not a ${kind}`,
    `\`tidemark ${kind} list\` shows them`,
  )
}

/** The id of the one that a flag names. */
export const idOf = (reader: Reader, kind: WorkKind, given: unknown): string | undefined => {
  const ref = oneOf(given)
  return ref === undefined ? undefined : findWork(reader, kind, ref).id
}

const DID: Readonly<Record<string, string>> = {
  start: 'started',
  add: 'added',
  complete: 'completed',
  abandon: 'abandoned',
}

interface WorkTool {
  readonly kind: WorkKind
  readonly about: string
  readonly example: string
  /** Flags of its own. */
  readonly params?: Readonly<Record<string, Param>>
  /** Arguments of the start that its flags say. */
  startArgs?(args: Readonly<Record<string, unknown>>, reader: Reader): { [name: string]: Json | undefined }
  /** What it does besides start, complete, abandon and list. */
  readonly adds?: boolean
}

/** The tool of one kind of the work tree: start, complete, abandon and list. */
export function workTool(spec: WorkTool): Tool {
  const { kind } = spec
  const steps = ['start', ...(spec.adds ? ['add'] : []), 'complete', 'abandon', 'list']
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
        ref: true,
        about: `what is ${spec.adds ? 'started or added' : 'started'}; else a reference (the session's current ${kind} unless given)`,
        place: 'rest',
      },
      ...spec.params,
      topic: { type: 'text', about: 'what area of the work it belongs to' },
      result: { type: 'text', about: 'complete: what came of it' },
      reason: { type: 'text', about: 'abandon: why' },
      ...(kind === 'task'
        ? {}
        : { force: { type: 'flag', about: 'complete: although tasks below it are open' } satisfies Param }),
      all: { type: 'flag', about: 'list: also what is complete or abandoned' },
    },
    readOnly: false,
    needsSession: (args) => args.do === 'start',
    ofSession: (args) => (args.do === 'complete' || args.do === 'abandon') && oneOf(args.text) === undefined,
    run(context, args) {
      const { memory } = context
      const step = String(args.do)
      if (!steps.includes(step))
        throw new UsageError(`${kind} does not "${oneLine(step, 40)}"`, `one of ${steps.join(', ')}`)
      if (step === 'list') return listed(context, kind, args.all === true)
      const text = oneOf(args.text)
      if (step === 'start' || step === 'add') {
        const ref = oneOf(args.ref)
        if (text === undefined && ref === undefined) throw new UsageError('the text is missing', `\`${spec.example}\``)
        const topic = oneOf(args.topic)
        const said = {
          [key]: text,
          ref: idOf(memory.reader, kind, ref),
          ...spec.startArgs?.(args, memory.reader),
          topics: topic === undefined ? undefined : [topic],
        }
        return done(context, step, [`${step}-${kind}`, said])
      }
      const current = placeOf(context)[kind]
      if (text === undefined && current === undefined)
        throw new UserError(
          'no-current',
          `the session has no current ${kind}`,
          `say which: tidemark ${kind} ${step} REF`,
        )
      const ref = text === undefined ? current! : findWork(memory.reader, kind, text).id
      const said =
        step === 'complete'
          ? { ref, result: oneOf(args.result), force: args.force as boolean | undefined }
          : { ref, reason: oneOf(args.reason) }
      return done(context, step, [step, said])
    },
  }
}

function done(
  context: ToolContext,
  step: string,
  action: readonly [string, { [name: string]: Json | undefined }],
): Output {
  const acted = context.memory.act([action], actingAs(context))
  const r = acted.results[0] as Result
  const { reader } = context.memory
  const lines = [`${DID[step]} ${r.kind} ${oneLine(String(r.name), NAME_MAX)}  ${refTo(reader, r.id)}`]
  const above = r.activity ?? r.goal
  if (typeof above === 'string') lines.push(`  in ${reader.entity(above)!.kind} ${shortName(reader.entity(above)!)}`)
  for (const note of acted.notes) lines.push(`note: ${note}`)
  return { text: lines.join('\n'), json: { ...acted, id: r.id } as unknown as Json }
}

function listed(context: ToolContext, kind: WorkKind, all: boolean): Output {
  const place = placeOf(context)
  const { reader } = context.memory
  const nodes = workTree(reader)
    .flatMap(withBelow)
    .filter((n) => n.kind === kind)
  const shown = all ? nodes : nodes.filter((n) => n.state === 'open')
  const refs = shortRefs(
    shown.map((n) => n.entity.id),
    reader.allIds(),
  )
  const lines = shown.map((n) => `${workLine(n, place)}  ${refs.get(n.entity.id)}`)
  if (shown.length === 0) lines.push(`no ${kind} is open`)
  if (shown.length < nodes.length) lines.push(`… ${nodes.length - shown.length} closed: --all shows them`)
  return { text: lines.join('\n'), json: shown.map((n) => workJson(n, place)) }
}
