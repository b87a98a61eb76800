import { UsageError, UserError } from '../errors.ts'
import { MAX_ACTIONS } from '../memory/batch.ts'
import type { Entity } from '../memory/entity.ts'
import type { Memory } from '../memory/memory.ts'
import { canonical } from '../schema/canonical.ts'
import type { Json } from '../schema/field.ts'
import { sha256 } from '../schema/names.ts'
import { actingAs } from './act.ts'
import { findOne, oneLine } from './present.ts'
import { nameOf, unverifiedRules } from './review.ts'
import type { Output, Tool, ToolContext } from './tool.ts'

/** No rule is longer, or it would not be told. */
const WHOLE = 1_200

/** Rules from others, as somebody has to see them before they bind: whole. */
function told(e: Entity): string {
  const { category, context } = e.fields
  const more = typeof context === 'string' ? ` (${oneLine(context, WHOLE)})` : ''
  return `${typeof category === 'string' ? category : e.kind}: ${oneLine(nameOf(e), WHOLE)}${more}\n  ${e.id}`
}

/** Changes as soon as another rule waits, or one of them says something else. */
const codeOf = (waiting: readonly Entity[]): string =>
  sha256(canonical(waiting.map((e) => [e.id, e.fields] as unknown as Json))).slice(0, 6)

function list(memory: Memory, waiting: readonly Entity[]): Output {
  const proposals = memory.reader.list('fact', { standing: 'proposed' }).length
  const lines = waiting.map(told)
  if (waiting.length > 0)
    lines.push(
      '',
      `${waiting.length} from others; they bind nobody here until you agree:`,
      `  tidemark confirm ${waiting[0]!.id}${waiting.length > 1 ? ' …' : ''}`,
      `  tidemark confirm --all ${codeOf(waiting)}   (everything above)`,
    )
  else lines.push('no rule from others waits')
  if (proposals > 0) lines.push(`${proposals} proposed here: tidemark review`)
  const code = waiting.length > 0 ? codeOf(waiting) : null
  return { text: lines.join('\n'), json: { waiting: waiting.map((e) => ({ id: e.id, ...e.fields })), code, proposals } }
}

/** What is meant by the references, each once. @throws UserError with everything that is not found. */
function meant({ memory }: ToolContext, refs: readonly string[]): Entity[] {
  const found = new Map<string, Entity>()
  const problems: string[] = []
  for (const ref of refs) {
    try {
      const e = findOne(memory.reader, ref)
      found.set(e.id, e)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      problems.push(`${error.message}; ${error.hint}`)
    }
  }
  if (problems.length > 0)
    throw new UserError('not-found', problems.join('\n'), '`tidemark confirm` lists what waits; nothing was confirmed', { problems }) // biome-ignore format: one thought
  return [...found.values()]
}

export const confirm: Tool = {
  name: 'confirm',
  title: 'Confirm rules',
  about:
    'agrees to rules that came from others, and to proposals: to those named, or to all that are listed; without either it lists the rules that wait, each whole',
  example: 'tidemark confirm',
  params: {
    ref: { type: 'text', about: 'ids, or names in quotes', place: 'rest', list: true },
    all: { type: 'text', about: 'every rule of the list, by the code at its end' },
  },
  readOnly: false,
  run(context, args): Output {
    const { memory } = context
    const refs = typeof args.ref === 'string' ? args.ref.split('\n').filter((ref) => ref.trim() !== '') : []
    const all = typeof args.all === 'string' ? args.all : undefined
    const waiting = unverifiedRules(memory)
    if (refs.length === 0 && all === undefined) return list(memory, waiting)
    if (refs.length > 0 && all !== undefined)
      throw new UsageError('--all and references say two things', 'give one of the two')
    if (all !== undefined && (waiting.length === 0 || all !== codeOf(waiting)))
      throw new UserError(
        'not-what-was-listed',
        waiting.length === 0 ? 'no rule from others waits' : 'that is not the code of the rules that wait now',
        '`tidemark confirm` lists them with their code; nothing was confirmed',
      )
    const entities = all === undefined ? meant(context, refs) : waiting
    const batches: Json[] = []
    const notes: string[] = []
    for (let i = 0; i < entities.length; i += MAX_ACTIONS) {
      const some = entities.slice(i, i + MAX_ACTIONS).map((e) => ['confirm', { ref: e.id, expectedVersion: e.version }])
      const done = memory.act(some, actingAs(context))
      if (done.batch !== null) batches.push(done.batch)
      notes.push(...done.notes)
    }
    const lines = [
      ...entities.map((e) => `confirmed ${e.kind} "${oneLine(nameOf(e), 100)}"`),
      ...notes.map((n) => `note: ${n}`),
      ...batches.map((batch) => `tidemark undo ${String(batch)} takes it back`),
    ]
    return { text: lines.join('\n'), json: { confirmed: entities.map((e) => e.id), batches, notes } }
  },
}
