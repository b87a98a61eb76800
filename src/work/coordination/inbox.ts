import { covers, overlaps } from '../../engine/claims/glob.ts'
import { SHARED_FIELD, SHARED_KIND } from '../../engine/log/context-value.ts'
import type { Memory, News } from '../../engine/memory.ts'
import { staleAnchors } from '../../engine/store/code-anchors.ts'
import { workOf } from '../../engine/store/current-work.ts'
import { getSession, openClaims, type PresenceEvent, presenceAfter } from '../../engine/store/presence.ts'
import { calledLast } from '../../engine/store/summary.ts'
import { questionTerms } from '../../engine/store/terms.ts'
import { speakerOf } from '../../find/code/known.ts'
import { type Entity, isAgreed, kindOf, LINK_KIND, provenanceOf, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { oneLine } from '../../model/text.ts'
import { localClock } from '../../model/times.ts'
import { nameOfSession } from './labels.ts'
import { isBelow } from './parents.ts'
import { sessionsOf } from './sessions.ts'

/** What one session is told of the others. */
export interface Inbox {
  /** One line each, most important first within what happened. */
  lines: string[]
  /** The event up to which this is everything. */
  cursor: number
  /** How many lines were left out. */
  more: number
}

const NAME_MAX = 80
/** How many entities are named that a changed file made stale. */
const STALE_NAMED = 3
/** How many events are read at a time. */
const PAGE = 500
/** The limit of one look, since a prompt waits for it (12 µs each). The next look goes on from there. */
const EVENTS_AT_MOST = 5_000

const short = (text: unknown, max = NAME_MAX): string => oneLine(String(text), max)

/** Kinds whose news is worth a line. */
const TOLD = new Set([
  'decision', 'principle', 'pattern', 'fact', 'correction', 'exception', 'failed-approach', 'insight', 'question',
  'learning', 'goal', 'activity', 'task', 'file', 'context', 'hypothesis', 'concept',
]) // biome-ignore format: a list to read at a glance

/** What others are at is told where it is near; the start and `status` say the rest. */
const OF_WORK = new Set(['goal', 'activity', 'task'])

interface Line {
  /** From `CONCERNS` on it concerns this reader. */
  weight: number
  text: string
  /** Later news of the same replaces earlier ones. */
  about: string
  /** Who edited which file in hand: one line says all of one session. */
  edited?: { readonly who: string; readonly path: string }
}

const CONCERNS = 8
/** What concerns a reader is told whole, up to here. */
const CONCERNING = 30
/** So many words of the work in hand show that a text is about it. */
const SHARED_WORDS = 2

/** What a session has in hand. `isKnown`: by what it edits or works on; a request alone may be about anything. */
function inHand(memory: Memory, session: string) {
  const { files = [], data = {} } = sessionsOf(memory).get(session) ?? {}
  const work = workOf(memory.db, session)
  const names = work.flatMap((id) => memory.reader.entity(id)?.name ?? [])
  const request = typeof data.request === 'string' ? data.request : ''
  const stems = (text: string) => new Set(questionTerms(text).flatMap((t) => (t.word.length > 2 ? t.stem : [])))
  const words = stems([request, ...names].join('\n'))
  const claims = openClaims(memory.db).filter((c) => c.session === session)
  const isAbout = (e: Entity): boolean =>
    work.includes(e.id) ||
    provenanceOf(e).some((p) => typeof p.task === 'string' && work.includes(p.task)) ||
    files.some(speakerOf(e)) ||
    (words.size >= SHARED_WORDS && [...stems(saidBy(e))].filter((s) => words.has(s)).length >= SHARED_WORDS)
  const isClaimed = ({ what, on, role }: PresenceEvent['body']): boolean => {
    if (typeof role === 'string' && claims.some((c) => c.dependsOn?.includes(role))) return true
    if (typeof on !== 'string' || what === 'role') return false
    if (what === 'task') return work.includes(on)
    return files.some((f) => covers(on, f)) || claims.some((c) => c.what === 'path' && overlaps(c.on, on))
  }
  return { files: new Set(files), isKnown: files.length + work.length > 0, isAbout, isClaimed }
}

const saidBy = ({ name, fields: { provenance: _, ...said } }: Entity): string => `${name} ${JSON.stringify(said)}`

type InHand = ReturnType<typeof inHand>

/**
 * What other sessions did since this one was last told, most important first (X4): what concerns its files, its task or
 * what it was told. One that has nothing in hand yet hears of anything.
 */
export function inbox(memory: Memory, session: string, options: { max?: number; since?: number } = {}): Inbox {
  const { max = 8 } = options
  const row = getSession(memory.db, session)
  const now = memory.cursor
  const since = options.since ?? row?.cursor ?? now
  if (since >= now) return { lines: [], cursor: now, more: 0 }
  const sessions = sessionsOf(memory)
  const read = new Set(sessions.toldOf(session).flatMap((t) => t.ids))
  const hand = inHand(memory, session)
  const kin = (id: string | undefined) => id !== undefined && isBelow(memory.db, id, session)
  const { news: all, cursor } = newsUpTo(memory, since, now)
  const news = all.filter((n) => !kin(n.author.session) || toMe(n, session))
  const lines = new Map<string, Line>()
  for (const line of news.flatMap((n) =>
    n.presence ? presenceLines(memory, n, session, hand, read) : batchLines(memory, n, hand, read),
  )) {
    lines.delete(line.about)
    lines.set(line.about, line)
  }
  const sorted = [...lines.values()].sort((a, b) => b.weight - a.weight)
  const near = sorted.filter((l) => l.weight >= CONCERNS).length
  const told = sorted.slice(0, Math.max(Math.min(near, CONCERNING), hand.isKnown ? 0 : max))
  const said = [...Map.groupBy(told, (l) => l.edited?.who ?? l).values()].map((of) =>
    of[0]!.edited ? editedInHand(of[0]!.edited.who, of.map((l) => l.edited!.path).join(', ')) : of[0]!.text,
  )
  return { lines: said, cursor, more: sorted.length - told.length }
}

const editedInHand = (who: string, paths: string) => `${who} edited ${paths}, which you have in hand`

/** What happened after an event, and the event up to which this is all of it. */
function newsUpTo(memory: Memory, since: number, now: number): { news: News[]; cursor: number } {
  const news: News[] = []
  let page: News[]
  do {
    page = memory.newsSince(news.at(-1)?.seq ?? since, PAGE)
    news.push(...page)
  } while (page.length === PAGE && news.length < EVENTS_AT_MOST)
  const last = news.at(-1)?.seq ?? now
  return { news, cursor: page.length === PAGE ? last : Math.max(last, now) }
}

const toMe = (n: News, session: string) =>
  n.presence?.session === session &&
  (n.presence.type === 'assigned' || n.presence.body.from !== undefined || n.presence.body.by === 'file') &&
  n.presence.body.by !== session

function nameOf(memory: Memory, id: string | undefined): string {
  if (id === undefined) return 'somebody'
  const row = getSession(memory.db, id)
  return short(row ? nameOfSession(row) : id, 160)
}

function presenceLines(
  memory: Memory,
  n: News,
  session: string,
  { files, isClaimed }: InHand,
  read: ReadonlySet<string>,
): Line[] {
  const { type, body } = n.presence!
  const who = nameOf(memory, n.presence!.session)
  const on = short(body.what === 'task' ? (memory.reader.entity(String(body.on))?.name ?? body.on) : body.on)
  const note = body.note === undefined ? '' : `: ${short(body.note)}`
  const near = isClaimed(body) ? CONCERNS : 0
  const line = (weight: number, text: string, about = `claim ${on}`): Line[] => [
    { weight: Math.max(weight, near), text, about },
  ]
  const mine = n.presence!.session === session
  const words = (...said: (Json | undefined)[]) => said.flatMap((x) => (x === undefined ? [] : [short(x)])).join('; ')
  // what a hook took for an edit comes and goes unsaid: the edit itself is told to whom it concerns
  if (body.implicit === true) return []
  if (mine && body.by === 'file') {
    const what = type === 'claimed' || type === 'reclaimed' ? `you were given ${on}` : `${on} was taken from you`
    const status = type === 'released' && body.status !== 'active' ? body.status : undefined
    const why = words(status, body.result, body.handoff)
    return line(9, `${what}, by hand in .tidemark/swarm-state.md${why === '' ? note : `: ${why}`}`)
  }
  switch (type) {
    case 'assigned': {
      const [task, about] = [`task "${short(body.name)}"`, `assigned ${String(body.on)}`]
      if (!mine) return line(3, `${who} was given ${task}`, about)
      return line(10, `you were given ${task} (${String(body.on)})${note}`, about)
    }
    case 'claimed':
      if (body.from !== undefined && mine)
        return line(9, `${nameOf(memory, String(body.from))} handed ${on} over to you${note}`)
      return line(6, `${who} claimed ${on}${note}`)
    case 'reclaimed': {
      const open = body.ttl === undefined && getSession(memory.db, n.presence!.session)?.process !== undefined
      const time = open ? 'as long as its process lives' : `until ${localClock(Number(body.until))}`
      return line(3, `${who} changed its claim on ${on}: ${time}${note}`)
    }
    case 'released':
      if (body.result === undefined && body.handoff === undefined && body.status !== 'blocked')
        return line(2, `${who} released ${on}`)
      return line(7, `${who} released ${on}: ${words(body.status, body.result, body.handoff)}`)
    case 'lapsed':
      return line(3, `${on} is free again: the claim of ${who} lapsed`)
    case 'session-crashed':
      return line(5, `${who} crashed; what it held is free`, `session ${n.presence!.session}`)
    case 'edited': {
      const path = String(body.path)
      const about = `edited ${path}`
      const isByProgram = body.by === 'program'
      const isHeld = isClaimed({ what: 'path', on: path })
      if (isHeld && isByProgram)
        return line(8, `${short(path)}, which you have in hand, changed while ${who} ran a command`, about)
      if (isHeld) {
        const edited = { who, path: short(path) }
        return [{ weight: CONCERNS, text: editedInHand(who, edited.path), about, edited }]
      }
      if (isByProgram) return []
      const known = memory.reader.find(path).find((e) => e.kind === 'file')
      if (!known) return []
      return line(4, `${who} edited ${short(path)}: what is known of it (${known.id}) may be stale`, about)
    }
    case 'stale':
      return staleLines(memory, session, body, (path, ids) => files.has(path) || ids.some((id) => read.has(id)))
    default:
      return []
  }
}

/** Events among which the last edit of a file is looked for. */
const LOOK_BACK = 200

/** What files that changed left behind, in the work tree of the session. */
function staleLines(
  memory: Memory,
  session: string,
  body: PresenceEvent['body'],
  concerns: (path: string, ids: string[]) => boolean,
): Line[] {
  const root = String(body.root)
  if ((getSession(memory.db, session)?.root ?? root) !== root || !Array.isArray(body.paths)) return []
  // an edit is told of as one, or by the claim that goes with it
  const edits = presenceAfter(memory.db, Math.max(0, memory.cursor - LOOK_BACK)).filter((e) => e.body.implicit || e.type === 'edited') // biome-ignore format: a row
  return body.paths.flatMap((path): Line[] => {
    if (edits.findLast((e) => (e.body.path ?? e.body.on) === path)?.session === session) return [] // its own change is no news
    const stale = staleAnchors(memory.db, root).filter((a) => a.path === path)
    const ids = [...new Set(stale.map((a) => a.entity))].filter((id) => memory.reader.entity(id)?.live)
    if (ids.length === 0) return []
    const more = ids.length > STALE_NAMED ? ` and ${ids.length - STALE_NAMED} more` : ''
    const text = `${short(path)} changed: what is recorded in ${ids.slice(0, STALE_NAMED).join(', ')}${more} may no longer hold`
    return [{ weight: concerns(String(path), ids) ? 8 : 4, text, about: `stale ${path}` }]
  })
}

function batchLines(memory: Memory, n: News, hand: InHand, read: ReadonlySet<string>): Line[] {
  const who = nameOf(memory, n.author.session ?? n.author.user)
  const { reader } = memory
  const out: Line[] = []
  /** By what they are about: that they were changed by it says less. */
  const superseded = new Map<string, Line>()
  /** What was read, what binds everybody, and what is about the work in hand. */
  const weightOf = (all: readonly Entity[], rest: number): number => {
    if (all.some((e) => read.has(e.id))) return 9
    const binds = (e: Entity) => reader.registry().kind(e.kind)?.binding && standingOf(e.fields) === 'confirmed'
    return all.some((e) => binds(e) || hand.isAbout(e)) ? CONCERNS : rest
  }
  for (const id of new Set(n.events.map((e) => e.event.entity))) {
    const kind = kindOf(id)
    if (kind === LINK_KIND) {
      const link = reader.entity(id)
      if (link?.fields.type !== 'supersedes' || !link.live || !isAgreed(link)) continue
      const [by, old] = [reader.entity(String(link.fields.from)), reader.entity(String(link.fields.to))]
      if (by && old)
        superseded.set(old.id, {
          weight: weightOf([old, by], 6),
          text: `${who} superseded ${old.kind} "${short(old.name)}" by "${short(by.name)}" (${by.id})`,
          about: old.id,
        })
      continue
    }
    if (!TOLD.has(kind)) continue
    const e = reader.entity(id)
    if (!e) continue
    const created = n.events.some(({ event }) => event.entity === id && event.field === '$')
    if (kind === SHARED_KIND) {
      const value = e.live
        ? `shared ${short(e.name)} = ${short(JSON.stringify(e.fields[SHARED_FIELD] ?? null), 160)}`
        : `shares ${short(e.name)} no more`
      out.push({ weight: CONCERNS, text: `${who} ${value}`, about: id }) // shared for all
      continue
    }
    const { retired, standing } = e.fields
    const weight = weightOf([e], e.live && retired === undefined ? 5 : 4)
    if (OF_WORK.has(kind) && weight < CONCERNS) continue
    const gone = !e.live ? 'deleted' : retired === undefined ? undefined : 'retired'
    const verb = gone ?? (standing === 'proposed' ? 'proposed' : created ? 'recorded' : 'changed')
    const name = e.live ? e.name : calledLast(memory.db, id)
    const which = read.has(id) && verb !== 'recorded' ? ', which you read' : ''
    out.push({
      weight,
      text: `${who} ${verb} ${kind}${name ? ` "${short(name)}"` : ''} (${id})${which}`,
      about: id,
    })
  }
  return [...out.filter((l) => !superseded.has(l.about)), ...superseded.values()]
}
