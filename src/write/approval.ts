import { canonical } from '../model/canonical.ts'
import { type Entity, isAgreed, kindOf, LINK_KIND, standingOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import type { Registry } from '../model/registry.ts'
import type { Report } from '../model/validate.ts'
import { BESIDE, endorses } from '../replication/trust.ts'
import type { Planning } from './plan.ts'
import { recordedAs } from './record.ts'
import type { View } from './view.ts'

/** Verbs whose action cannot wait as a proposal. */
export const NEVER_PROPOSED: ReadonlySet<string> = new Set(['propose', 'confirm', 'reject', 'undo', 'purge'])

type Args = Readonly<Record<string, unknown>>

interface State {
  /** What it tells later sessions to do, as text to compare; nothing where it binds nobody. */
  readonly binds?: string
  /** Nobody has decided about it: it is new, or a proposal that stands. */
  readonly open: boolean
}

const NOTHING_YET: State = { open: true }

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

const holds = (link: Entity | undefined): boolean => link?.live === true && isAgreed(link)

function stateIn(
  look: Pick<View, 'entity' | 'links'>,
  id: string,
  endorsed: boolean,
  erased: ReadonlySet<string> = new Set(),
): State {
  const e = look.entity(id)
  if (!e?.live) return Object.keys(e?.fields ?? {}).every((f) => f === 'provenance') ? NOTHING_YET : { open: false }
  const replaced = look
    .links('dst', id)
    .some((l) => l.rel === 'supersedes' && !erased.has(l.id) && holds(look.entity(l.id)))
  if (e.fields.retired !== undefined || replaced) return { open: false }
  const standing = standingOf(e.fields)
  return standing === 'confirmed' && endorsed
    ? { binds: bindingText(e), open: false }
    : { open: standing === 'proposed' }
}

/**
 * Watches what an agent's batch does to what binds later sessions. It looks at the effect of each action, not at the
 * verb, so that no route is forgotten: what begins to bind, binds with other words, or binds no longer is noticed.
 */
export class BindingWatch {
  readonly #p: Planning
  readonly #states = new Map<string, State>()
  #looked = 0

  constructor(p: Planning) {
    this.#p = p
  }

  get #registry(): Registry {
    return this.#p.registry()
  }

  /** What the person typed in this session is the person's word also where it waits as a proposal: recording it confirms it. */
  asTyped(verb: string, args: Args): Args {
    const kind = this.#registry.recordedBy(verb)
    if (!kind?.binding || args.standing !== undefined || args.ref !== undefined || args.id !== undefined) return args
    const id = recordedAs(this.#p, kind, args)
    const waiting = id !== undefined && this.#p.entity(id)?.fields.standing === 'proposed'
    return waiting && this.#isTyped(id, args) ? { ...args, standing: 'confirmed' } : args
  }

  /** What the last action changed of what binds although the person has not said so: ids. */
  unasked(): string[] {
    const p = this.#p
    const ids = new Set<string>()
    const erased = new Set(p.draft.moves.values())
    for (const id of [...p.draft.events.slice(this.#looked).map((e) => e.entity), ...erased]) {
      if (this.#registry.kind(kindOf(id))?.binding) ids.add(id)
      if (kindOf(id) !== LINK_KIND) continue
      for (const to of [p.entity(id)?.fields.to, p.view.entity(id)?.fields.to])
        if (typeof to === 'string' && this.#registry.kind(kindOf(to))?.binding) ids.add(to)
    }
    this.#looked = p.draft.events.length
    return [...ids].filter((id) => {
      const before = this.#states.get(id) ?? stateIn(p.view, id, p.view.endorsed(id))
      const written = p.draft.events.some((e) => e.entity === id && endorses(e.field, e.value))
      const after = erased.has(id) ? { open: false } : stateIn(p, id, written || p.view.endorsed(id), erased)
      this.#states.set(id, after)
      if (before.binds === after.binds) return false
      return before.binds !== undefined || !before.open || !this.#isTyped(id, p.entity(id)!.fields)
    })
  }

  /** All that such an entity would tell later sessions stands in what the person typed. */
  #isTyped(id: string, fields: Readonly<Record<string, unknown>>): boolean {
    const [key] = this.#registry.kind(kindOf(id))!.key
    return [key, 'context'].every((f) => fields[f] === undefined || this.#p.view.typed(String(fields[f]), id))
  }
}

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

/** Refuses what only a person can do, with what the person can type. */
export function needsPerson(
  verb: string,
  id: string,
  { batch, allOf }: Readonly<Record<string, unknown>>,
  report: Report,
): void {
  const undone = allOf === undefined ? String(batch ?? '--last') : `--all-of ${String(allOf)}`
  const command = {
    confirm: `confirm ${id}`,
    undo: `undo ${undone}`,
    purge: `forget ${id} --erase`,
  }[verb]
  report({
    field: verb === 'undo' ? 'batch' : 'ref',
    message: `only a person decides whether and how ${id} binds later sessions`,
    received: id,
    accepted: 'the person',
    code: 'person',
    hint: `ask the person to run \`tidemark ${command ?? `${verb} ${id}`}\` outside the agent`,
  })
}
