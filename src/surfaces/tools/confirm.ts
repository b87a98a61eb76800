import { UsageError, UserError, unlessRefused } from '../../base/errors.ts'
import type { ActOptions, ActResult, Memory } from '../../engine/memory.ts'
import { calledAs } from '../../engine/read/called.ts'
import { type Waiting, waitingAt } from '../../engine/replication/waiting.ts'
import { MAX_ACTIONS, parseBatch } from '../../engine/write/batch.ts'
import { sayingOf } from '../../find/recall/told.ts'
import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import { type Entity, filesOf, importedFrom, provenanceOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { contraryRules, saidContrary, settled } from './contradictions.ts'
import { findOne, oneLine, refsTo, undoLine } from './format.ts'
import { needsPerson } from './person.ts'
import { unverifiedRules, waitingIn } from './review-queue.ts'
import { actingAs, type Block, defineTool, type Output, type ToolContext, written } from './tool.ts'

/** No rule is longer, or it would not be told. */
const WHOLE = 1_200

/** What waits, as somebody has to see it before it binds: whole, and who wants it. */
const told = (memory: Memory, e: Entity, isOthers: boolean): { head: string; from: string } => ({
  head: `${typeof e.fields.category === 'string' ? e.fields.category : e.kind}: ${oneLine(calledAs(e, memory), 2 * WHOLE)}${
    Array.isArray(e.fields.paths) ? ` (for ${oneLine(e.fields.paths.join(', '), WHOLE)})` : ''
  }`,
  from: isOthers
    ? `from ${oneLine(String(provenanceOf(e)[0]?.user ?? 'others'), 60)}, unverified`
    : oneLine(wantedBy(e), 80),
})

/** Its files, else the agent that proposed it. */
function wantedBy(e: Entity): string {
  const { source, agent, user } = provenanceOf(e).at(-1) ?? {}
  return importedFrom(source) === undefined ? String(agent ?? user ?? 'proposed here') : `from ${filesOf(e).join(', ')}`
}

/** Changes as soon as something else waits, or something of it says something else. */
const codeOf = (waiting: readonly Entity[]): string =>
  sha256(canonical(waiting.map((e) => [e.id, e.fields] as unknown as Json))).slice(0, 12)

/** What waits, whole, a text for each. */
export function listed(memory: Memory, waiting: readonly Entity[]): string[] {
  const others = new Set(unverifiedRules(memory).map((e) => e.id))
  return waiting.map((e) => {
    const { head, from } = told(memory, e, others.has(e.id))
    const wanted = waitingAt(memory.db, e.id).map(
      (w) => `\n  ${oneLine(w.by, 60)}, unverified, ${oneLine(w.wants, WHOLE)}`,
    )
    const says = sayingOf(e) && `\n  ${oneLine(sayingOf(e), WHOLE)}`
    return `${head}${says}\n  ${e.id}  (${from})${wanted.join('')}`
  })
}

/** The command that agrees to all that waits now. */
export const confirmAll = (memory: Memory): string => `tidemark confirm --all ${codeOf(waitingIn(memory))}`

/** What waits because a source says it: to agree to what was just taken in. */
export const waitingFrom = (memory: Memory, source: string): Entity[] =>
  waitingIn(memory).filter((e) => provenanceOf(e).some((p) => p.source === source))

function list(context: ToolContext, waiting: readonly Entity[]): Output {
  const { memory } = context
  const json = { waiting: waiting.map((e) => ({ id: e.id, ...e.fields })), code: null as string | null }
  if (waiting.length === 0) return { text: 'nothing waits for your yes', json }
  const [waits, binds, more] = waiting.length === 1 ? ['waits', 'binds', ''] : ['wait', 'bind', ' …']
  const notes = contraryRules(context, waiting).map((pair) => `note: ${saidContrary(pair)}`)
  const closing = (ref: string) => [
    ...notes,
    '',
    `${waiting.length} ${waits} for your yes, and ${binds} nobody until then:`,
    `  tidemark confirm ${ref}${more}`,
    `  ${confirmAll(memory)}   (everything above)`,
  ]
  const page = (): Block[] => {
    const others = new Set(unverifiedRules(memory).map((e) => e.id))
    const refs = refsTo(memory.reader, waiting)
    const rules = waiting.map((e): Block => {
      const { head, from } = told(memory, e, others.has(e.id))
      return { line: [['ref', refs.get(e.id)!], '  ', ['name', head], ['aside', `  (${from})`]] }
    })
    return [...rules, ...closing(`'${refs.get(waiting[0]!.id)}'`).map((line) => ({ line: [line] }))]
  }
  return {
    text: [...listed(memory, waiting), ...closing(waiting[0]!.id)].join('\n'),
    json: { ...json, code: codeOf(waiting) },
    page,
  }
}

/** Agrees to entities as they are now. An edit comes last: it may speak of the others. */
export function agreeTo(memory: Memory, entities: readonly Entity[], options: ActOptions) {
  const ordered = [...entities.filter((e) => e.kind !== 'proposal'), ...entities.filter((e) => e.kind === 'proposal')]
  const batches: string[] = []
  const notes: string[] = []
  for (let i = 0; i < ordered.length; i += MAX_ACTIONS) {
    const some = ordered.slice(i, i + MAX_ACTIONS).map((e) => ['confirm', { ref: e.id, expectedVersion: e.version }])
    const done = memory.act(some, options)
    if (done.batch !== null) batches.push(done.batch)
    notes.push(...done.notes)
  }
  return { batches, notes }
}

/** What is meant by the references, each once. @throws UserError with everything that is not found. */
function meant({ memory }: ToolContext, refs: readonly string[]): Entity[] {
  const found = new Map<string, Entity>()
  const problems: string[] = []
  for (const ref of refs) {
    const e = unlessRefused(
      () => findOne(memory.reader, ref),
      ({ message, hint }) => void problems.push(`${message}; ${hint}`),
    )
    if (e) found.set(e.id, e)
  }
  if (problems.length > 0)
    throw new UserError(
      'not-found',
      problems.join('\n'),
      '`tidemark confirm` lists what waits; nothing was confirmed',
      { problems },
    )
  return [...found.values()]
}

/**
 * Has the client ask the person about a batch of confirms that an agent sent. What is shown is what is agreed to, so
 * a batch that does anything else is not asked about. Nothing where the person did not agree.
 */
export async function askToConfirm(context: ToolContext, batch: unknown): Promise<ActResult | undefined> {
  const { memory } = context
  const { actions } = parseBatch(batch).batch
  if (!actions.every(([verb, args]) => verb === 'confirm' && typeof args.ref === 'string')) return undefined
  const named = actions.map(([, args]) => findOne(memory.reader, String(args.ref)))
  const entities = withInstead(context, named)
  const question = [...listed(memory, entities), 'Should every later session follow this?'].join('\n')
  if (!(await context.ask!(question))) return undefined
  const asked = entities.map((e) => ['confirm', { ref: e.id, expectedVersion: e.version }])
  return memory.act(asked, { ...actingAs(context), by: 'person' })
}

/**
 * A person's batch, with the version that they were shown in each of its confirms: on a terminal it is shown now, on a page it
 * was, and the page says which. @throws UserError where neither is so
 */
export async function asShown(context: ToolContext, given: unknown): Promise<unknown> {
  const { batch } = parseBatch(given)
  const isUnseen = ([verb, args]: (typeof batch.actions)[number]) =>
    verb === 'confirm' && args.expectedVersion === undefined
  const unseen = batch.actions.filter(isUnseen)
  if (unseen.length === 0) return given
  const named = unseen.map(([, args]) => findOne(context.memory.reader, args.ref))
  const entities = withInstead(context, named)
  await mustAgree(context, entities)
  const { projects, ...said } = batch
  const actions = batch.actions.map((action) =>
    isUnseen(action) ? ['confirm', { ...action[1], expectedVersion: entities.shift()!.version }] : action,
  )
  actions.push(...entities.map((e) => ['confirm', { ref: e.id, expectedVersion: e.version }]))
  return { ...said, ...(projects[0] === undefined ? {} : { projectId: projects[0] }), actions }
}

/** Shows what is to be confirmed, whole, and asks. @throws UserError unless a person says yes to it */
async function mustAgree({ memory, ask }: ToolContext, entities: readonly Entity[]): Promise<void> {
  const shown = listed(memory, entities)
  if (ask === undefined)
    throw new UserError('not-shown', 'a yes names the version that was shown', 'give its "expectedVersion"')
  if (!(await ask([...shown, `confirm ${entities.length === 1 ? 'it' : 'them'}?`].join('\n'))))
    throw new UserError('not-agreed', 'nothing was confirmed')
}

export const confirm = defineTool({
  name: 'confirm',
  title: 'Say yes',
  about:
    "the person's yes to proposals and to rules from others: to those named, or to all that are listed; without either it lists what waits, each whole",
  example: 'tidemark confirm',
  params: {
    ref: { type: 'text', about: 'ids, or names in quotes', place: 'rest', list: true },
    all: { type: 'text', about: 'all that `tidemark confirm` lists, by the code at its end: run it first' },
  },
  dashboard: true,
  run(context, args): Output | Promise<Output> {
    const { ref = '', all } = args
    const refs = ref.split('\n').filter((r) => r.trim() !== '')
    const waiting = waitingIn(context.memory)
    if (refs.length === 0 && all === undefined) return list(context, waiting)
    if (refs.length > 0 && all !== undefined)
      throw new UsageError('--all and references say two things', 'give one of the two')
    if (all !== undefined && (waiting.length === 0 || all !== codeOf(waiting)))
      throw new UserError(
        'not-what-was-listed',
        waiting.length === 0 ? 'nothing waits for your yes' : 'that is not the code of what waits now',
        '`tidemark confirm` lists it with its code; nothing was confirmed',
      )
    if (all !== undefined && context.by === 'agent')
      throw needsPerson('only a person says yes to what waits', `confirm --all ${all}`)
    const entities = all === undefined ? withInstead(context, meant(context, refs)) : waiting
    if (all !== undefined || context.by !== 'person') return agreed(context, entities)
    return mustAgree(context, entities).then(() => agreed(context, entities))
  },
})

/** With the rules that would take their place: a yes to that is one to them, or nothing would bind. */
export function withInstead({ memory }: Pick<ToolContext, 'memory'>, entities: readonly Entity[]): Entity[] {
  const given = new Set(entities.map((e) => e.id))
  const wanted = entities.flatMap((e) => waitingAt(memory.db, e.id))
  return [...entities, ...insteadOf(memory, wanted).filter((e) => !given.has(e.id))]
}

export const insteadOf = (memory: ToolContext['memory'], wanted: readonly Waiting[]): Entity[] =>
  memory.reader
    .entities([...new Set(wanted.flatMap((w) => w.instead ?? []))])
    .filter((e) => memory.registry().kind(e.kind)?.binding === true)

/** What a yes or a no is about: the thing, or what others want of it. */
export function decidedOn({ memory }: ToolContext, e: Entity): string {
  const wanted = waitingAt(memory.db, e.id).map((w) => `${oneLine(w.by, 60)} ${oneLine(w.wants, WHOLE)}`)
  const named = `${e.kind} "${oneLine(calledAs(e, memory), WHOLE)}"`
  return wanted.length === 0 ? named : `what others want of ${named}: ${wanted.join('; ')}`
}

/** Confirms what was shown, as it was read then. */
function agreed(context: ToolContext, entities: readonly Entity[]): Output | Promise<Output> {
  const lines = entities.map((e) => `confirmed ${decidedOn(context, e)}`)
  // such a yes is not undone: retire ends what it made bind
  const others = new Set(unverifiedRules(context.memory).map((e) => e.id))
  const isOfOthers = entities.every((e) => others.has(e.id) || waitingAt(context.memory.db, e.id).length > 0)
  const { batches, notes } = agreeTo(context.memory, entities, actingAs(context))
  const undo = isOfOthers ? [] : batches.map((batch) => undoLine(batch))
  const print = (settled: readonly string[]): Output => {
    const json = { confirmed: entities.map((e) => e.id), batches, notes: [...notes, ...settled] }
    return written({ notes }, lines, json, [...settled, ...undo])
  }
  const facts = entities.filter((e) => e.kind === 'fact')
  const pairs = contraryRules(context, facts)
  return pairs.length === 0 ? print([]) : settled(context, pairs).then(print)
}
