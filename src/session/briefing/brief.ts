/** briefing: what a session is told at its start: a file per section, a budget, a fence round what others wrote. */

import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { markOf } from '../../engine/read/stale.ts'
import { vouchedFor } from '../../engine/replication/vouched.ts'
import { newestOwn, touchesAfter } from '../../engine/store/own-lines.ts'
import type { Project } from '../../engine/store/project.ts'
import type { WideStatement } from '../../find/recall/overridden.ts'
import { estimateTokens, tokensOfProse } from '../../find/recall/token-estimate.ts'
import { branchesApart, disprovedAmong, replacement, stalenessOf } from '../../find/recall/told.ts'
import { stateOf, statesOf } from '../../find/recall/validity.ts'
import { type Entity, provenanceOf, standingOf } from '../../model/entity.ts'
import { isWork } from '../../model/work-kinds.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { BRIEFING_CHARS, BRIEFING_TOKENS, fill } from './budget.ts'
import { focusOf, foundBy } from './focus.ts'
import { many } from './format.ts'
import { wasHere } from './last-visit.ts'
import { decisions, failures, learnings } from './sections/decisions.ts'
import { SECTIONS } from './sections/index.ts'
import { unconfirmed } from './sections/unconfirmed.ts'
import type { About, Built, Section } from './types.ts'

/** How many of the newest confirmed facts are looked at: what waits crowds out none that binds. */
const FACTS = 1_000

const EMPTY = `Tidemark, this project's memory, is empty. Record decisions with their reasons, and what failed, with act: [["record-decision", {"name": "use-sqlite", "rationale": "no daemon"}]].
Rules that the user lays down bind after the user's yes.`
const HELD_LINE = 'nothing new since this session was last told'
const EMPTY_LINE =
  'nothing recorded yet; say "always …" or "never …" to lay down a rule, `tidemark remember "…"` keeps the rest'

const FOR_OTHERS =
  "Tidemark, this project's memory, knows nothing of this folder yet; what it knows of other folders of the repository, recall finds."
const FOR_OTHERS_LINE = 'nothing recorded for this folder yet; `tidemark list` shows what is known of others'

/** Sections that a briefing as of a moment has. */
const OF_THE_PAST = ['rules', 'decisions', 'failures']

export interface BriefOptions {
  readonly session?: string | undefined
  /** The client that is told: what it reads by itself is not repeated. */
  readonly client?: string | undefined
  readonly user?: string | undefined
  readonly branch?: string | undefined
  readonly budget?: number | undefined
  /** Characters at most; never more than BRIEFING_CHARS. */
  readonly chars?: number | undefined
  /** ms since the epoch: now, unless given. */
  readonly moment?: number | undefined
  readonly past?: Reader | undefined
  readonly local?: boolean | undefined
  /** What the conversation holds already, with when it was told (ms): told again only if it has changed. */
  readonly held?: ReadonlyMap<string, number> | undefined
  readonly wider?: readonly WideStatement[] | undefined
}

export interface Briefing {
  readonly text: string
  readonly sections: readonly Readonly<{ name: string; ids: readonly string[]; tokens: number; omitted: number }>[]
  readonly tokens: number
  readonly chars: number
  readonly line: string
}

/** What a session is told when it starts, within the budget, the most important first. Equal input gives equal bytes. */
export function brief(memory: Memory, project: Project, options: BriefOptions = {}): Briefing {
  const built = build(memory, project, options, (name) => !options.past || OF_THE_PAST.includes(name))
  const limit = options.budget ?? BRIEFING_TOKENS
  if (built.length === 0) {
    const [all, empty] = isForOthers(memory, options) ? [FOR_OTHERS, FOR_OTHERS_LINE] : [EMPTY, EMPTY_LINE]
    const tokens = estimateTokens(all)
    const text = tokens <= limit && isFirst(memory, options) ? all : ''
    const line = options.held ? HELD_LINE : empty
    return { text, sections: [], tokens: text === '' ? 0 : tokens, chars: text.length, line }
  }
  const chars = Math.min(options.chars ?? BRIEFING_CHARS, BRIEFING_CHARS)
  const { text, tokens, sections } = fill(built, { tokens: limit, chars, count: estimateTokens })
  const shown = sections.filter(({ built: b }) => b.items.length > 0 || b.note !== undefined)
  const delivered = shown.map(({ section, shown, tokens: cost, omitted }) => ({
    name: section.name,
    ids: shown.flatMap((i) => (i.id === undefined ? [] : [i.id])),
    tokens: cost,
    omitted,
  }))
  const says = sections.flatMap((s) => (s.built.says ? [s.built.says] : []))
  const sent = `about ${many(tokensOfProse(text), 'token')}`
  const lost = text === '' && built.some(({ built: b }) => b.items.length > 0 || b.note !== undefined)
  const line = lost
    ? `nothing fits into ${many(limit, 'token')}: give it a larger budget`
    : [...says, ...(text === '' ? [] : [sent])].join(', ')
  return { text, sections: delivered, tokens, chars: text.length, line }
}

const build = (memory: Memory, project: Project, options: BriefOptions, isWanted: (name: string) => boolean) =>
  memory.db.read(() => {
    const about = aboutOf(memory, project, options)
    return SECTIONS.flatMap((section) => {
      if (!isWanted(section.name)) return []
      const whole = section.build(about)
      const built = whole && options.held ? unheld(section, whole, options.held, about) : whole
      return built ? [{ section, built }] : []
    })
  })

/** Whether it knows something, and nothing of the folder in which the session began. */
const isForOthers = (memory: Memory, { session }: BriefOptions): boolean =>
  session !== undefined && sessionsOf(memory).get(session)?.folder !== undefined && memory.reader.counts().length > 0

function isFirst(memory: Memory, { session }: BriefOptions): boolean {
  if (session === undefined) return true
  const sessions = sessionsOf(memory)
  return sessions.get(session)?.parent === undefined && sessions.toldOf(session).length === 0
}

const NEWS = 1_000
/** Of what there is these choose some: what they had left out before is not new. */
const CHOSEN: readonly Section[] = [decisions, failures, learnings, unconfirmed]

function unheld(
  section: Section,
  built: Built,
  held: ReadonlyMap<string, number>,
  { memory, reader, session = '' }: About,
): Built | undefined {
  const told = Math.max(...held.values())
  const isChosen = CHOSEN.includes(section)
  const seen = isChosen ? sessionsOf(memory).get(session)?.cursor : undefined
  // what came after it had caught up, whenever that was written
  const fresh = new Set(seen === undefined ? [] : touchesAfter(memory.db, seen, NEWS).map((t) => t.entity))
  const items = built.items.filter(({ id }) => {
    const e = id === undefined ? undefined : reader.entity(id)
    // its own, or started by it
    if (e?.kind === 'handoff' && e.fields.session === session) return false
    if (e && isWork(e.kind) && provenanceOf(e).some((p) => p.session === session)) return false
    const at = (id === undefined ? undefined : held.get(id)) ?? (isChosen ? told : undefined)
    if (at === undefined || (id !== undefined && !held.has(id) && fresh.has(id))) return true
    return e !== undefined && e.updated > at
  })
  if (items.length === built.items.length) return built
  return items.length === 0 ? undefined : { items, says: built.says }
}

/** Characters that a client takes where it asks for one thing (design §4). */
const VIEW_CHARS = 40_000

export function sectionsOf(memory: Memory, project: Project, names: readonly string[], options: BriefOptions): string {
  const built = build(memory, project, options, (name) => names.includes(name))
  // as many tokens as characters at most: these are what limits
  return fill(built, { tokens: VIEW_CHARS, chars: VIEW_CHARS, count: (text) => text.length }).text
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

export function aboutOf(memory: Memory, project: Project, options: BriefOptions): About {
  const reader = options.past ?? memory.reader
  const moment = options.moment ?? memory.env.now()
  const { session, client, user, branch } = options
  const vouched = new Map<string, boolean>()
  const focus = focusOf(memory, session, branch)
  const staleness = once(() => stalenessOf(memory, project.root, reader))
  const branchOf = once(() => branchesApart(project.root))
  const newest = once(() => about.newest('fact', FACTS, 'confirmed'))
  const facts = once(() => [...statesOf(newest(), reader, moment)].flatMap(([e, out]) => (out ? [] : [e])))
  const counted = once(() => new Map(reader.counts().map((c) => [c.kind, c.n])))
  const found = once(() => foundBy(focus, memory))
  const about: About = {
    memory,
    reader,
    project,
    session,
    client,
    user,
    moment,
    local: options.local,
    wider: options.wider ?? [],
    focus,
    get found() {
      return found()
    },
    delivered: new Set(),
    stale(id) {
      if (options.past) return undefined
      const stale = staleness().of(id)
      return stale && markOf(stale)
    },
    vouched(ids) {
      const unknown = ids.filter((id) => !vouched.has(id))
      if (unknown.length > 0) {
        const found = vouchedFor(memory, unknown)
        for (const id of unknown) vouched.set(id, found.has(id))
      }
      return new Set(ids.filter((id) => vouched.get(id)))
    },
    counts: (e: Entity): boolean => stateOf(e, reader, moment) === undefined,
    branch: (e) => (options.past ? undefined : branchOf()(e)),
    holds: (e) => ({
      ...(e.fields.status === 'superseded' && { state: 'superseded', ...replacement(e, reader, about.branch) }),
      isUnverified: !about.vouched([e.id]).has(e.id),
      disproved: disprovedAmong(memory, reader, [e]).get(e.id),
      branch: about.branch(e),
      stale: about.stale(e.id),
    }),
    newest(kind, limit, standing) {
      const all = reader.list(kind, { limit, ...(standing && { standing }) })
      if (all.length < limit) return all
      if (this.vouched(all.map((e) => e.id)).size === all.length) return all
      const more = newestOwn(memory.db, kind, limit).filter((id) => !all.some((e) => e.id === id))
      const isAsked = (e: Entity) => e.live && (!standing || standingOf(e.fields) === standing)
      return [...all, ...reader.entities(more).filter(isAsked)]
    },
    get facts() {
      return facts()
    },
    get olderFacts() {
      const beyond = () => reader.ids('fact', { standing: 'confirmed', offset: FACTS }).length
      return newest().length < FACTS ? 0 : FACTS + beyond() - newest().length
    },
    howMany(kind) {
      const n = counted().get(kind) ?? 0
      return n > FACTS ? n : reader.ids(kind, { current: true }).length
    },
  }
  return about
}

/** Keeps that a briefing was put before a session and its user: what it cost, and that they are up to date. */
export function wasBriefed(
  memory: Memory,
  options: BriefOptions,
  briefing: Briefing,
  source: string,
  cursor: number,
): void {
  const { session, user } = options
  if (session !== undefined) {
    const sessions = sessionsOf(memory)
    // that something is new tells its name alone
    const ids = briefing.sections.flatMap((s) => (s.name === 'news' ? [] : s.ids))
    sessions.told(session, { door: source, ids, tokens: briefing.tokens, chars: briefing.chars })
    sessions.caughtUp(session, cursor)
  }
  wasHere(memory, user, cursor)
}
