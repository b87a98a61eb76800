import { UserError } from '../../base/errors.ts'
import { redact } from '../../base/secrets/find.ts'
import { screen } from '../../base/secrets/screen.ts'
import { type Entity, KIND_KIND, kindOf, nameKey, RELATION_KIND } from '../../model/entity.ts'
import { exactOr } from '../../model/exact-json.ts'
import type { Json } from '../../model/field.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import { didYouMean } from '../../model/names.ts'
import { defined, isObject } from '../../model/object.ts'
import { named, type Problem, type Report, shown } from '../../model/validate.ts'
import { SHARED_KIND } from '../log/context-value.ts'
import type { Author } from '../store/line-parts.ts'
import type { ClaimChanges } from '../store/presence.ts'
import * as approval from './authority-watch.ts'
import { sharedNow } from './context-key.ts'
import { type Args, type Draft, type MakeRegistry, type PlanContext, Planning, type Result } from './plan.ts'
import type { View } from './planning-view.ts'
import { linkIdNow, record, recordedAs, remove } from './record.ts'
import { refuseSettled } from './settled-mutations.ts'
import { planVerb, type RunAction, type Verb } from './verb.ts'

/** A longer list is an import, and goes in several batches (design §4). */
export const MAX_ACTIONS = 50

export type Action = readonly [verb: string, args: Args]

/** A batch as callers may give it; see `parseBatch`. */
export interface Batch extends Pick<Author, 'intent' | 'session' | 'agent'> {
  projects: string[]
  redact?: boolean
  actions: Action[]
}

const USAGE = 'a batch is [["verb", {…}], …] or {"actions": [["verb", {…}], …]}; (verbs) lists the verbs'

/** Reads a batch: a list of `[verb, args]`, or an object with `actions`. JSON strings and a flat tuple are repaired (A5). */
export function parseBatch(input: unknown): { batch: Batch; notes: string[] } {
  const notes: string[] = []
  const refuse = (message: string, received: unknown): never => {
    const told = JSON.stringify(screen(shown(received), true).value)
    throw new UserError('bad-batch', message, USAGE, { received: told.slice(0, 200).toWellFormed() })
  }
  const unquote = (v: unknown, what: string): unknown => {
    if (typeof v !== 'string') return v
    const parsed = exactOr(v, () => refuse(`${what} is a string that is not JSON`, v))
    notes.push(`${what} was a JSON string; read as JSON`)
    return parsed
  }
  let body = unquote(input, 'the batch')
  const said: Omit<Batch, 'actions'> = { projects: [] }
  if (isObject(body)) {
    for (const key of Object.keys(body)) {
      if (!['projectId', 'project', 'intent', 'actions', 'session', 'agent', 'redact'].includes(key))
        refuse(`a batch has no "${redact(key)}"`, key)
    }
    const { redact: redacting } = body
    for (const key of ['projectId', 'project', 'intent', 'session', 'agent'] as const) {
      const value = body[key]
      if (typeof value === 'string') {
        if (key === 'projectId' || key === 'project') said.projects.push(value)
        else said[key] = value
      } else if (value !== undefined && value !== null) refuse(`${key} is not text`, value)
    }
    if (typeof redacting === 'boolean') said.redact = redacting
    else if (redacting !== undefined && redacting !== null) refuse('redact is not true or false', redacting)
    if (body.actions === undefined) refuse('actions are missing', body)
    body = unquote(body.actions, 'actions')
  }
  if (!Array.isArray(body)) return refuse('actions are not a list', body)
  let list: unknown[] = body
  if (
    typeof list[0] === 'string' &&
    !list[0].trimStart().startsWith('[') && // an action as a JSON string
    (list.length === 1 || (list.length === 2 && (isObject(list[1]) || typeof list[1] === 'string')))
  ) {
    list = [list]
    notes.push('a single action was given without the list around it; read as a list of one')
  }
  if (list.length === 0) refuse('the batch is empty', list)
  if (list.length > MAX_ACTIONS)
    throw new UserError(
      'batch-too-large',
      `${list.length} actions in one batch; the limit is ${MAX_ACTIONS}`,
      'send them in several batches',
      { limit: MAX_ACTIONS, received: list.length },
    )
  const actions = list.map((item, i): Action => {
    const entry = unquote(item, `action ${i}`)
    if (Array.isArray(entry) && typeof entry[0] === 'string' && entry.length <= 2) {
      const args = entry[1] === undefined ? {} : unquote(entry[1], `the arguments of action ${i}`)
      if (isObject(args)) return [entry[0], args]
    }
    return refuse(`action ${i} is not ["verb", {…}]`, entry)
  })
  return { batch: { ...said, actions }, notes }
}

type PlanOptions = { verbs: ReadonlyMap<string, Verb>; redact: boolean; makeRegistry: MakeRegistry }

/** A batch that nothing speaks against: what is to be written. */
export interface Planned extends Readonly<Draft> {
  readonly results: Result[]
  readonly claims: ClaimChanges
}

const LONG_LIST = 300

/** One problem as people read it. */
export function problemLine(x: Problem): string {
  const at = `action ${x.index} ${x.verb.slice(0, 80).toWellFormed()}${x.field ? ` · ${x.field}` : ''}: ${x.message}`
  const received = x.received == null || x.received === '(not shown)' ? undefined : JSON.stringify(x.received)
  const isTold = received === undefined || x.message.includes(received.replace(/^"|"$/g, ''))
  const accepted = x.accepted ? ` (${x.accepted})` : ''
  const hint = x.hint ? ` → ${x.hint}` : ''
  const list = hint !== '' && accepted.length > LONG_LIST ? '' : accepted // a long one stands in the details
  return `${at}${isTold ? '' : `, received ${received}`}${list}${hint}`
}

/** Thrown when any action was refused: nothing happened, and every problem of every action is told (A1). */
export function refusal(problems: readonly Problem[], actions: number): UserError {
  const bad = new Set(problems.map((x) => x.index)).size
  return new UserError(
    problems[0]!.code === 'secret' ? 'secret' : 'refused',
    `${bad} of ${actions} action${actions === 1 ? '' : 's'} refused; nothing was written\n${problems.map((p) => `  ${problemLine(p)}`).join('\n')}`,
    actions === 1 ? 'mend what is named and send it again' : 'mend what is named and send the whole batch again',
    { success: false, executed: 0, problems: problems as unknown as Json },
  )
}

export const problemsOf = (error: unknown): readonly Problem[] =>
  error instanceof UserError && (error.code === 'refused' || error.code === 'secret')
    ? ((error.details.problems ?? []) as readonly Problem[])
    : []

/** Whether this is all that is wrong with a batch. */
export const isRefusedFor = (error: unknown, code: Problem['code']): boolean => {
  const problems = problemsOf(error)
  return problems.length > 0 && problems.every((p) => p.code === code)
}

/** Plans a batch without writing: judges each action after the earlier ones. Throws all problems at once. */
export function planBatch(view: View, ctx: PlanContext, actions: readonly Action[], options: PlanOptions): Planned {
  const proposed: Proposals = new Map()
  for (;;) {
    const { planned, unasked } = planOnce(view, ctx, actions, options, proposed)
    if (planned) return planned
    for (const [index, instead] of unasked) proposed.set(index, instead)
  }
}

/** What to put up instead of an action, by its place in the batch. */
type Proposals = Map<number, [verb: string, args: Args][]>

/** As `planBatch`, with some actions put up as proposals; instead of a plan it gives those that have to be as well. */
function planOnce(
  view: View,
  ctx: PlanContext,
  actions: readonly Action[],
  options: PlanOptions,
  proposed: Proposals,
): { planned?: Planned; unasked: Proposals } {
  const p = new Planning(view, ctx, options.makeRegistry, new Set(options.verbs.keys()))
  const watch = ctx.by === 'agent' ? new approval.AuthorityWatch(p) : undefined
  const unasked: Proposals = new Map()
  const waiting = new Set<string>()
  const problems: Problem[] = []
  const results: Result[] = []

  const run = runner(p, options.verbs)

  actions.forEach(([name, raw], index) => {
    const verb = redact(name)
    const report: Report = (problem) => void problems.push({ index, verb, ...problem })
    const before = problems.length
    const first = p.draft.events.length
    const { said: quote, ...given } = p.registry().recordedBy(verb)
      ? defined(raw)
      : { ...defined(raw), said: undefined }
    p.said = typeof quote === 'string' ? ctx.evidence?.(quote) : undefined
    if (quote !== undefined && p.said === undefined)
      p.note(
        `${verb}: "said" is nothing that the user stated or asked for in the prompts that are kept here, so it is no evidence`,
      )
    const said = named(aliasesOf(p, verb, options.verbs), given, (alias, field) =>
      p.note(`${verb}: ${alias} was taken as ${field}`),
    )
    const args = options.verbs.get(verb)?.unscreened ? said : screenArgs(p, said, options.redact, report)
    if (!args) {
      // it may be the one that records what others refer to
      const kind = p.registry().recordedBy(verb)
      const id = kind && recordedAs(p, kind, said)
      if (id !== undefined) p.promise(id)
      return
    }
    checkVersion(p, verb, options.verbs.get(verb), args, report)
    const instead = proposed.get(index)
    const [result] = instead
      ? instead.map(([verb, args]) => run('propose', { action: [verb, args as never] }, report))
      : [run(verb, watch ? args : approval.saidAgain(p, verb, args), report)]
    refuseSettled(p, first, report)
    const [changed] = watch?.unasked() ?? []
    if (problems.length > before || (!result && problems.length > 0)) return
    if (!result) throw new Error(`verb ${verb} returned nothing and reported nothing`)
    results.push({ verb, ...result } as Result)
    const id = String(result.id)
    if (instead || (watch && isWaiting(p, id))) waiting.add(id)
    if (watch && !ctx.settles && approval.DECIDES.has(verb) && p.draft.events.length > first) {
      approval.needsPerson(verb, id, args, report)
      return
    }
    if (changed === undefined || approval.isSecretAlone(verb, args)) return
    const waits =
      approval.NEVER_PROPOSED.has(verb) || instead ? [] : approval.proposalsOf(p, verb, args, result as Result)
    if (waits.length === 0) approval.needsPerson(verb, changed, args, report)
    else unasked.set(index, waits)
  })
  if (problems.length > 0) throw refusal(problems, actions.length)
  if (unasked.size > 0) return { unasked }
  for (const r of results) {
    const e = p.entity(r.id)
    if (e) r.version = e.version
  }
  if (waiting.size > 0)
    p.note(`proposed; it binds once a person says yes: \`tidemark confirm ${[...waiting].join(' ')}\``)
  return { planned: { ...p.draft, results, claims: p.claims.changes() }, unasked }
}

/** What the arguments of a verb may also be called. */
function aliasesOf(p: Planning, verb: string, verbs: PlanOptions['verbs']): Parameters<typeof named>[0] {
  const kind = p.registry().recordedBy(verb)
  return kind ? fieldsOf(kind) : (verbs.get(verb)?.args ?? {})
}

/** Those of its kind that an entity names as related are linked as well: what is there, and what this batch still brings. */
function linkRelated(p: Planning, kind: Kind, args: Args, id: string, isNew: boolean, run: RunAction) {
  const fields = Object.keys(kind.fields).filter((field) => field.startsWith('related') && kind.fields[field]!.refs)
  const keyOf = (said: unknown) => nameKey(String(said))
  const link = (from: string, to: string) =>
    from === to || run('link-entities', { from, to, type: 'relates-to' }, () => undefined)
  for (const said of fields.flatMap((field) => args[field] ?? [])) {
    const [to, ...more] = p.byName(keyOf(said)).filter((e) => e.live && e.kind === kind.name)
    if (to && more.length === 0) link(id, to.id)
  }
  if (!isNew || fields.length === 0) return
  for (const other of [...p.draft.touched].filter((e) => kindOf(e) === kind.name)) {
    const names = fields.flatMap((field) => p.entity(other)?.fields[field] ?? [])
    if (names.some((said) => keyOf(said) === keyOf(p.entity(id)!.name))) link(other, id)
  }
}

function runner(p: Planning, verbs: PlanOptions['verbs']): RunAction {
  const run: RunAction = (verb, given, report) => {
    const registry = p.registry()
    const args = named(aliasesOf(p, verb, verbs), given)
    const recorded = registry.recordedBy(verb)
    if (recorded) {
      const done = record(p, recorded, recorded.read?.(args) ?? args, report)
      if (done) linkRelated(p, recorded, args, String(done.id), done.created === true, run)
      return done
    }
    const deleted = registry.deletedBy(verb)
    if (deleted) return remove(p, deleted, args, report)
    const own = verbs.get(verb)
    if (own) return planVerb(p, own, args, report, run)
    const all = [...registry.derivedVerbs(), ...verbs.keys()]
    return report({
      field: '',
      message: `no verb "${verb.slice(0, 80)}"`,
      received: verb.slice(0, 200),
      accepted: all.join(', '),
      hint: didYouMean(verb, all, '(verbs) in discover lists them'),
    })
  }
  return run
}

function screenArgs(p: Planning, given: Args, redacting: boolean, report: Report): Args | undefined {
  const { value, secrets, privateLeftOut } = screen(given, redacting)
  if (privateLeftOut) p.note('text between <private> and </private> was left out')
  for (const s of secrets) {
    if (redacting) p.note(`${s.path} held a secret: "[redacted: ${s.category}]" is stored in its place`)
    else
      report({
        field: s.path,
        code: 'secret',
        message: `looks like a secret (${s.category})`,
        received: '(not shown)',
        accepted: 'text without secrets',
        hint: 'leave it out, or give "redact": true to store its category in its place',
      })
  }
  return secrets.length > 0 && !redacting ? undefined : (value as Args)
}

const isWaiting = (p: Planning, id: string): boolean => {
  const e = p.entity(id)
  return (
    e?.fields.standing === 'proposed' &&
    e.fields.retired === undefined &&
    (e.kind === 'proposal' || p.registry().kind(e.kind)?.binding === true)
  )
}

/** Compare-and-set (A6): the version the caller has seen must still be the entity's. Local, as K8 says. */
function checkVersion(p: Planning, verb: string, declared: Verb | undefined, args: Args, report: Report): undefined {
  const expected = args.expectedVersion
  if (expected === undefined || expected === null) return
  const refuse = (message: string, received: Json, accepted: string, more: Pick<Problem, 'code' | 'hint'> = {}) =>
    report({ field: 'expectedVersion', message, received, accepted, ...more })
  if (typeof expected !== 'number' || !Number.isInteger(expected) || expected < 0)
    return refuse('not a version', String(expected).slice(0, 40), 'a whole number; 0 = not there yet')
  const found = targetOf(p, verb, declared, args)
  const none = `${verb} changes no one entity that could have a version`
  if (!found) return refuse(none, expected, 'the action without expectedVersion', { code: 'no-version' })
  const { target } = found
  // within a batch all actions compare with what was there before it
  const current = target ? (p.view.entity(target.id)?.version ?? 0) : 0
  if (current === expected) return
  const now = target && JSON.stringify(target.kind === SHARED_KIND ? target.fields.value : target.fields)
  const hint = now === undefined ? 'it is not there yet' : `now: ${now.slice(0, 500)}`
  const stale = `stale: ${target?.id ?? 'the entity'} is at version ${current}`
  refuse(stale, expected, String(current), { code: 'stale', hint })
}

/** The entity that an action is about, without one if it is not there yet; nothing where it is about no single entity. */
function targetOf(
  p: Planning,
  verb: string,
  declared: Verb | undefined,
  args: Args,
): { target: Entity | undefined } | undefined {
  const of = (id: string | undefined) => ({ target: id === undefined ? undefined : p.entity(id) })
  const registry = p.registry()
  const kind = registry.recordedBy(verb) ?? registry.deletedBy(verb)
  if (kind) {
    const ref = args.ref ?? args.id
    if (ref === undefined && registry.recordedBy(verb)) return of(recordedAs(p, kind, args))
    return { target: p.resolve(ref ?? args[kind.key[0]], 'ref', undefined, { kind: kind.name, deleted: true }) }
  }
  if (!declared) return of(undefined) // reported where it is planned
  if (Object.hasOwn(declared.args, 'expectedVersion')) return { target: sharedNow(p, args.key) }
  if (verb === 'define-kind') return of(`${KIND_KIND}:${String(args.name)}`)
  if (verb === 'define-relation') return of(`${RELATION_KIND}:${String(args.name)}`)
  if (verb === 'link-entities' || verb === 'unlink-entities') {
    const relation = registry.relation(String(args.type))
    const ends = [args.from, args.to].map((end) => p.resolve(end, 'ref', undefined)?.id)
    if (!relation || ends[0] === undefined || ends[1] === undefined) return of(undefined)
    if (relation.symmetric) ends.sort()
    return of(linkIdNow(p, ends[0], relation.name, ends[1]))
  }
  const first = Object.entries(declared.args).find(([, arg]) => arg.type === 'ref' && arg.required)
  const [name, arg] = declared.args.ref ? (['ref', declared.args.ref] as const) : (first ?? [])
  if (!arg) return undefined
  const given = args[name!] ?? (verb === 'complete' ? p.place().task : undefined)
  if (given === undefined) return arg.required ? of(undefined) : undefined
  if (arg.read) return { target: arg.read(p, given as never, name!, () => {}, given) as Entity | undefined }
  return { target: p.resolve(given, name!, undefined, { ...arg, deleted: true }) }
}
