import { redact } from '../../base/secrets/find.ts'
import { type Change, isGuarded, type Owner, outcomeOf } from '../../model/authority.ts'
import { canonical } from '../../model/canonical.ts'
import { type Entity, isAgreed, kindOf, LINK_KIND, provenanceOf, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Report } from '../../model/validate.ts'
import { HEADER } from '../replication/purge.ts'
import { BESIDE, endorses } from '../replication/vouched.ts'
import type { LinkRow } from '../store/rows.ts'
import type { Args, Planning, Result } from './plan.ts'
import type { View } from './planning-view.ts'
import { recordedAs } from './record.ts'

/** Verbs whose action cannot wait as a proposal. */
export const NEVER_PROPOSED: ReadonlySet<string> = new Set(['propose', 'confirm', 'reject'])

/** The yes and the no: a person's, whatever they are of. */
export const DECIDES: ReadonlySet<string> = new Set(['confirm', 'reject'])

/** A rule binds until what takes its place does. */
const PROPOSED = { standing: 'proposed' }

interface State {
  /** What it tells later sessions to do, as text to compare; nothing where it binds nobody. */
  readonly binds?: string
  /** What is said of it; nothing where it is not there. */
  readonly fields?: Entity['fields']
  /** Something was said of it, also if it was deleted since. */
  readonly existed: boolean
  /** It is told: nothing has rejected, retired or replaced it, and nobody has still to agree to it. */
  readonly holds: boolean
}

/** A location without its line: a rule that moved within its file is the same rule. */
function placeOf(location: Json): Json {
  const at = typeof location === 'string' ? location.lastIndexOf(':') : -1
  return at > 0 && /^[\d-]+$/.test(String(location).slice(at + 1)) ? String(location).slice(0, at) : location
}

const bindingText = (e: Entity): string =>
  canonical(
    Object.fromEntries(
      Object.entries(e.fields)
        .filter(([field]) => !BESIDE.has(field) && field !== 'standing' && field !== 'attrs')
        .map(([field, value]) => [
          field,
          field === 'locations' && Array.isArray(value) ? [...new Set(value.map(placeOf))].sort() : value,
        ]),
    ) as Json,
  )

const isHeld = (link: Entity | undefined): boolean => link?.live === true && isAgreed(link)

const kindGuarded = (id: string): boolean => isGuarded(kindOf(id))

/** Whether all that was said is said still, as far as a person's words go; what is added to them changes none. */
function keepsWords(was: Entity['fields'], now: Entity['fields']): boolean {
  return Object.entries(was).every(([field, value]) => {
    if (BESIDE.has(field) || ['standing', 'retired', 'attrs', 'locations'].includes(field)) return true
    const then = now[field]
    if (!Array.isArray(value) || !Array.isArray(then)) return then !== undefined && canonical(then) === canonical(value)
    const items = new Set(then.map((item) => canonical(item)))
    return value.every((item) => items.has(canonical(item)))
  })
}

/** What an action has done to an entity; nothing where it only added to it, or made it. */
function changeOf(was: State, now: State): Change | undefined {
  if (was.binds !== now.binds) return was.binds === undefined ? 'add' : now.binds === undefined ? 'retire' : 'change'
  if (was.fields === undefined) return now.holds && was.existed ? 'restore' : undefined
  if (now.fields === undefined) return 'delete'
  if (was.holds !== now.holds) return now.holds ? 'restore' : 'retire'
  return keepsWords(was.fields, now.fields) ? undefined : 'change'
}

/** Watches the effects of an agent's actions, whatever the verb, and asks the table in model/authority.ts. */
export class AuthorityWatch {
  readonly #p: Planning
  readonly #states = new Map<string, State>()
  #events = 0
  #purges = 0
  #undone = 0

  constructor(p: Planning) {
    this.#p = p
  }

  unasked(): string[] {
    const { draft, view } = this.#p
    const found = new Set<string>()
    const standing = (id: string) => (this.#isConfirmed(id) ? 'confirmed' : 'plain')
    for (const mark of draft.purges.slice(this.#purges)) {
      const [batch, id] = [`${mark.replica}:${mark.seq}`, draft.moves.get(mark.entity) ?? mark.entity]
      const whose = this.#whose(batch)
      const at = id === HEADER ? 'plain' : this.#state(id).binds === undefined ? standing(id) : 'binding'
      if (outcomeOf('purge', 'agent', whose, at) !== 'done') found.add(id === HEADER ? batch : id)
    }
    for (const batch of draft.undone.slice(this.#undone))
      if (outcomeOf('undo', 'agent', this.#whose(batch), 'plain') !== 'done') found.add(batch)
    const erased = new Set(draft.moves.values())
    const touched = new Set([...erased, ...draft.events.slice(this.#events).map((e) => e.entity)])
    for (const link of [...touched].filter((id) => kindOf(id) === LINK_KIND))
      for (const to of [this.#p.entity(link)?.fields.to, view.entity(link)?.fields.to])
        if (typeof to === 'string') touched.add(to)
    for (const id of [...touched].filter(kindGuarded)) {
      const was = this.#state(id)
      const now = this.#stateNow(id, erased, was)
      this.#states.set(id, now)
      const change = changeOf(was, now)
      if (change === undefined) continue
      const isBinding = was.binds !== undefined || now.binds !== undefined
      if (outcomeOf(change, 'agent', 'here', isBinding ? 'binding' : standing(id)) !== 'done') found.add(id)
    }
    // of what reads otherwise here than all lines together say it, every change is one
    const written = draft.events.slice(this.#events).flatMap((e) => (BESIDE.has(e.field) ? [] : [e.entity]))
    const ended = [...touched].flatMap((id) => {
      const { type, to } = (kindOf(id) === LINK_KIND && this.#p.entity(id)?.fields) || {}
      return type === 'supersedes' && typeof to === 'string' ? [to] : []
    })
    for (const id of new Set([...written, ...ended].filter((id) => kindGuarded(id) && view.waitingAt(id).length > 0))) {
      const at = this.#p.registry().kind(kindOf(id))?.binding ? 'binding' : standing(id)
      if (outcomeOf('change', 'agent', 'here', at) !== 'done') found.add(id)
    }
    this.#events = draft.events.length
    this.#purges = draft.purges.length
    this.#undone = draft.undone.length
    return [...found]
  }

  #state(id: string): State {
    const { view } = this.#p
    return (
      this.#states.get(id) ??
      this.#stateIn(
        view,
        id,
        () => view.endorsed(id),
        ({ src }) => standingOf(view.entity(src)?.fields ?? PROPOSED) === 'confirmed',
      )
    )
  }

  #stateNow(id: string, erased: ReadonlySet<string>, was: State): State {
    const { draft, view } = this.#p
    if (erased.has(id)) return { existed: true, holds: false }
    const said = draft.events.filter((e) => e.entity === id)
    // a word against it ends what binds by the word of a reviewer alone
    const isKept = () => (was.binds === undefined || said.length === 0) && view.endorsed(id)
    return this.#stateIn(
      this.#p,
      id,
      () => said.some((e) => endorses(e.field, e.value)) || isKept(),
      (l) => !erased.has(l.id),
    )
  }

  #stateIn(
    look: Pick<View, 'entity' | 'replacing'>,
    id: string,
    isEndorsed: () => boolean,
    replaces: (link: LinkRow) => boolean,
  ): State {
    const e = look.entity(id)
    if (!e?.live) return { existed: e !== undefined, holds: false }
    const replaced = look.replacing(id).some((l) => replaces(l) && isHeld(look.entity(l.id)))
    const holds = isAgreed(e) && !replaced && e.fields.validTo === undefined
    const isRule = holds && this.#p.registry().kind(e.kind)?.binding === true
    return { existed: true, fields: e.fields, holds, ...(isRule && isEndorsed() ? { binds: bindingText(e) } : {}) }
  }

  #isConfirmed(id: string): boolean {
    const { view } = this.#p
    if (view.ofPerson(id)) return true
    const e = view.entity(id)
    // of folded lines only the provenance tells who wrote them: an agent is named there
    const isFolded = view.spokenBefore(id)
    return (
      e !== undefined && provenanceOf(e).some((p) => p.confirms !== undefined || (isFolded && p.agent === undefined))
    )
  }

  /** A batch is an agent's own if its session, or a subagent of it, wrote it. */
  #whose(id: string): Owner {
    const { ctx, view, claims } = this.#p
    const batch = view.batch(id)
    if (!view.isOwn(id.split(':')[0]!)) return 'elsewhere'
    if (batch === undefined || batch.line.author.actor === 'person') return 'here'
    const { session, agent } = ctx.provenance
    if (batch.session === undefined || session === undefined)
      return batch.session === session && (batch.agent ?? null) === (agent ?? null) ? 'own' : 'here'
    return batch.session === session || claims.view.session(batch.session)?.parent === session ? 'own' : 'here'
  }
}

/** More than this is not put up one by one. */
const MOST_ERASED = 20

/** The proposals to make instead of an action that needs a person. A text to erase is not repeated: what holds it is named. */
export function proposalsOf(p: Planning, verb: string, args: Args, result: Result): [verb: string, args: Args][] {
  if (verb === 'redo') return [['undo', { ...args, batch: result.id }]]
  if (verb !== 'purge' || typeof args.secret !== 'string') return [[verb, args]]
  const { secret, ...rest } = args
  const ids = new Set([
    ...p.view.eventsHolding(secret).map((e) => e.event.entity),
    ...p.view.toldBefore(secret).map((t) => t.entity),
  ])
  return ids.size > MOST_ERASED ? [] : [...ids].map((ref) => [verb, { ...rest, ref }])
}

/** Whether a text to be erased is a secret and nothing else: that takes away nothing that anybody wants kept. */
export function isSecretAlone(verb: string, { secret }: Args): boolean {
  if (verb !== 'purge' || typeof secret !== 'string') return false
  const rest = redact(secret).replace(/\[redacted: [^\]]{1,60}\]/g, '')
  return rest !== secret && rest.trim().length <= MOST_BESIDE_SECRET
}

/** A name may stand beside a secret, as in `password: …`. */
const MOST_BESIDE_SECRET = 24

/** A person who says again what waits as a proposal agrees to it, unless it would tell more than they say. */
export function saidAgain(p: Planning, verb: string, args: Args): Args {
  const kind = p.registry().recordedBy(verb)
  if (!kind?.binding || args.standing !== undefined || args.ref !== undefined || args.id !== undefined) return args
  const there = p.entity(recordedAs(p, kind, args) ?? '')
  const { standing, context } = there?.fields ?? {}
  if (!there?.live || standing !== 'proposed') return args
  if (context !== undefined && context !== args.context) {
    p.note(`it waits as a proposal that says more; tidemark confirm ${there.id} agrees to all of it`)
    return args
  }
  p.note(`${there.id} was proposed: said again by a person, it is confirmed`)
  return { ...args, standing: 'confirmed' }
}

export function needsPerson(verb: string, id: string, args: Args, report: Report): void {
  const command = { undo: `undo ${String(args.batch ?? '--last')}`, purge: `forget ${id} --erase` }[verb]
  report({
    field: verb === 'undo' ? 'batch' : 'ref',
    message: `only a person decides about ${id}`,
    received: id,
    accepted: 'the person',
    code: 'person',
    hint: `ask the person to run \`tidemark ${command ?? `${verb} ${id}`}\` in a terminal outside the agent`,
  })
}
