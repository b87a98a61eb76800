import { isOpen } from '../../../engine/read/work-tree.ts'
import { areApart, provenanceOf } from '../../../model/entity.ts'
import { DAY_MS } from '../../../model/times.ts'
import { type Claim, claimsOf } from '../../../work/coordination/claims.ts'
import { nameOfSession } from '../../../work/coordination/labels.ts'
import { exchangesOf, type SessionInfo } from '../../../work/coordination/session-info.ts'
import { sessionsOf } from '../../../work/coordination/sessions.ts'
import { commitsOf } from '../../../work/handoff/commits.ts'
import { CARRIED_DAYS, type CurrentHandoff, currentHandoffs, DONE_DAYS, OLD_DAYS } from '../../../work/handoff/current.ts' // biome-ignore format: a row
import { HANDOFF_PARTS } from '../../../work/handoff/page.ts'
import { plain } from '../fence.ts'
import { isElsewhere } from '../focus.ts'
import { age, byline, claimedOn, many, minute, refOf } from '../format.ts'
import type { About, Item, Section } from '../types.ts'

const OTHERS = 6
const ITEM = 300
const NOTE = 1_000
const FILES_NAMED = 8
const DECISIONS_NAMED = 5
const DECISIONS_LOOKED_AT = 40

/** Where the work was left: the handoff that matters, how many others there are, what was left with released claims, and what sessions that crashed had in hand. */
export const handoff: Section = {
  name: 'handoff',
  title: 'Where the work was left',
  share: 25,
  build(about) {
    const handoffs = matteringFirst(currentHandoffs(about, about.project), about)
    const crashed = leftInHand(about)
    const [newest] = handoffs.filter((h) => !isElsewhere(h.entity, about))
    const others = handoffs.filter((h) => h !== newest)
    const whole = newest ? [inFull(newest, about)] : []
    const told = (s: SessionInfo) => (newest?.session === s.id ? whole[0]!.text : '')
    const notes = crashed
      .slice(0, OTHERS)
      .map((s, i) => (i === 0 ? recoveryItem(s, about, told(s)) : earlierCrash(s, about)))
    // what a crash left is newer than a handoff from before it
    const first = crashed[0] && (!newest || crashed[0].seen > newest.written)
    const left = leftBehind(about)
    const items = first ? [...notes, ...whole, ...left] : [...whole, ...left, ...notes]
    if (items.length === 0) return undefined
    const says = [
      newest && `handoff ${age(about.moment - newest.written)} old`,
      left.length > 0 && `${many(left.length, 'note')} left`,
      crashed.length > 0 && `${crashed.length} crashed`,
    ]
    return {
      items,
      beyond: Math.max(0, crashed.length - OTHERS),
      see: 'tidemark session list --all',
      note:
        [
          others.length > 0 &&
            `and ${many(others.length, 'more handoff')}, the newest ${calledHandoff(newestOf(others))}: tidemark handoff`,
          crashed[0] &&
            `a crash is told until a session edits its files, or tidemark session end ${plain(crashed[0].id, 60)}`,
        ]
          .filter(Boolean)
          .join('\n') || undefined,
      says: says.filter(Boolean).join(', '),
    }
  },
}

/** What hooks saw of a session. */
const SEEN = /^(?:Asked|Answered): "|^Edited /

const daysOld = (h: CurrentHandoff, about: About): number => Math.floor((about.moment - h.written) / DAY_MS)

const branchOf = ({ entity }: CurrentHandoff): unknown => provenanceOf(entity).at(-1)?.branch
/** The lines that hooks wrote. */
const composedIn = ({ entity }: CurrentHandoff): ReadonlySet<unknown> =>
  new Set(Array.isArray(entity.fields.composed) ? entity.fields.composed : [])

/** Handoffs of the current task first, then of the branch; among these the open ones, then the newest. */
export function matteringFirst(all: readonly CurrentHandoff[], about: About): CurrentHandoff[] {
  const { focus, memory, session } = about
  const { task } = memory.place(session)
  const weight = (h: CurrentHandoff): number => {
    const left = [...h.said.nextSteps, ...h.said.blockers]
    // what an agent wrote down to be done next says more than a command that failed
    const isWritten = left.some((item) => !composedIn(h).has(item))
    const isOpen = left.length === 0 || daysOld(h, about) >= CARRIED_DAYS ? 0 : isWritten ? 0.5 : 0.25
    if (task !== undefined && h.task === task) return 2 + isOpen
    return (focus.branch !== undefined && branchOf(h) === focus.branch ? 1 : 0) + isOpen
  }
  return [...all].sort((a, b) => weight(b) - weight(a))
}

const newestOf = (all: readonly CurrentHandoff[]) => all.reduce((a, b) => (b.written > a.written ? b : a))

export const calledHandoff = ({ entity }: CurrentHandoff): string =>
  `"${plain(/^session "(.*)"$/.exec(entity.name)?.[1] ?? entity.name, 100)}"`

/** Sessions that were asked for something since, and edited something. */
const sessionsSince = (h: CurrentHandoff, { memory, session }: About): SessionInfo[] =>
  sessionsOf(memory)
    .list({ all: true })
    .filter((s) => Number(s.data.requestAt ?? 0) > h.written && s.id !== h.session && s.id !== session)
    .filter((s) => editedSince(s, h.written).length > 0)

const editedSince = ({ data }: SessionInfo, since: number): string[] =>
  Object.entries((data.changed ?? {}) as { [file: string]: { at: number } }).flatMap(([file, { at }]) =>
    at > since ? file : [],
  )

const headOf = (h: CurrentHandoff, about: About, sessions: number): string => {
  const days = daysOld(h, about)
  const since = h.stale ? `${h.commitsSince} commits ago` : days >= OLD_DAYS ? `${days} days ago` : sessions > 0 ? `${many(sessions, 'session')} ago` : '' // biome-ignore format: a row
  const stale = since === '' ? '' : `, ${since}: check what is still so`
  const [branch, here] = [branchOf(h), about.focus.branch]
  const elsewhere = here === undefined || typeof branch !== 'string' || branch === here ? '' : ` on branch ${plain(branch, 80)}` // biome-ignore format: a row
  return `- Handoff ${calledHandoff(h)}, written ${minute(h.written, about)}${elsewhere}${stale} ${byline(h.entity, about)}`
}

/** Decisions that a line names, and that say something else since it was written. */
function changedSince(item: string, { written }: CurrentHandoff, { reader }: About): string {
  const names = new Set(item.split(/[^\w-]+/).filter((word) => word.includes('-')))
  const changed = [...names].slice(0, DECISIONS_NAMED).flatMap((name) => reader.find(name).filter((e) => e.kind === 'decision' && e.updated > written)) // biome-ignore format: a row
  return changed.length === 0 ? '' : ` [${changed.map(refOf).join(', ')} was changed after this was written]`
}

function inFull(h: CurrentHandoff, about: About): Item {
  const since = sessionsSince(h, about)
  const later = since.length
  const head = headOf(h, about, later)
  const { said } = h
  const composed = composedIn(h)
  const isOwn =
    said.body !== undefined || HANDOFF_PARTS.some(({ field }) => said[field].some((item) => !composed.has(item)))
  const by = h.session === undefined ? undefined : sessionsOf(about.memory).get(h.session)
  // what was asked for after the agent wrote is in no words of it
  const isLast = Number(by?.data.requestAt ?? 0) <= Number(by?.data.handedOffAt ?? -1)
  // what the session decided stands among the decisions, and what it is called by was asked; the agent's words say more than hooks saw
  const isToldElsewhere = (field: string, item: string) =>
    (composed.has(item) && (field === 'decisionsMade' || (isOwn && isLast && SEEN.test(item)))) ||
    item === `Asked: ${calledHandoff(h)}`
  const part = ({ field, heading }: (typeof HANDOFF_PARTS)[number]): string[] => {
    const items = said[field].filter((item) => !isToldElsewhere(field, item))
    return items.length === 0
      ? []
      : [`  ${heading}:`, ...items.map((item) => `  - ${plain(item, ITEM)}${changedSince(item, h, about)}`)]
  }
  const body = (said.body ?? '')
    .split('\n')
    .map((line) => plain(line, ITEM))
    .flatMap((line) => (line === '' ? [] : [`  | ${line}`])) // no heading, whatever it begins with
  const next = HANDOFF_PARTS.filter((p) => p.field === 'nextSteps' || p.field === 'blockers').flatMap(part)
  const leavesWork = said.nextSteps.length + said.blockers.length > 0
  if (daysOld(h, about) >= (leavesWork ? OLD_DAYS : DONE_DAYS) || (!leavesWork && later > 1))
    return { id: h.entity.id, text: `${head}; tidemark handoff` }
  const short = [`${head}; the rest: tidemark handoff`, ...next].join('\n')
  // once somebody has gone on with its files, how things stood says little
  if (since.some((s) => editedSince(s, h.written).some((file) => by?.files.includes(file))))
    return { id: h.entity.id, text: short }
  return { id: h.entity.id, text: [head, ...body, ...HANDOFF_PARTS.flatMap(part)].join('\n'), short }
}

/** What sessions left with the claims that they gave up, for whoever works there next; each word once. */
function leftBehind(about: About): Item[] {
  const left = claimsOf(about.memory)
    .left()
    .filter((c) => c.session !== about.session)
  const words = Map.groupBy(left, (c) => `${c.session} ${c.ended} ${c.handoff}`)
  return [...words.values()].slice(0, OTHERS).map((claims): Item => {
    const [{ n, session, ended = 0, handoff = '' }] = claims as [Claim]
    const on = claims.slice(0, FILES_NAMED).map((c) => claimedOn(c.on, about))
    const head = `- ${plain(session, 100)} released ${on.join(', ')} at ${minute(ended, about)} and left: `
    return { id: `claim:${n}`, text: head + plain(handoff, NOTE), short: head + plain(handoff, ITEM) }
  })
}

const heldBy = (s: SessionInfo): string[] => (Array.isArray(s.data.held) ? s.data.held.map(String) : [])

/** Sessions that crashed in the last fortnight with work that nobody has taken up or ended since. */
export function leftInHand({ memory, session, moment, reader }: About): SessionInfo[] {
  const sessions = sessionsOf(memory)
  const own = session === undefined ? undefined : sessions.get(session)?.folder
  const crashed = sessions.recovery().filter((s) => s.id !== session && moment - s.seen < CARRIED_DAYS * DAY_MS)
  if (crashed.length === 0) return []
  const atWork = new Set(sessions.list().flatMap((s) => s.task ?? []))
  const isLeft = (task: string | undefined) => task !== undefined && !atWork.has(task) && isOpen(reader.entity(task))
  const near = crashed.filter((s) => !areApart(s.folder, own))
  return near.filter((s) => s.files.length > 0 || heldBy(s).length > 0 || isLeft(s.task))
}

/** What it had in hand may have been committed since, by whoever. */
const commitsSince = (s: SessionInfo, { project }: About): number => commitsOf(project.root)(s.seen) ?? 0

function crashHead(s: SessionInfo, about: About): string {
  const since = commitsSince(s, about)
  const stale = since === 0 ? '' : `, ${many(since, 'commit')} ago: check what is still so`
  return `- Session ${plain(nameOfSession(s, undefined, [s.branch && `branch ${s.branch}`]), 200)} crashed, last seen ${minute(s.seen, about)}${stale}`
}

/** One that crashed before another: enough to tell whether it is of use now. */
function earlierCrash(s: SessionInfo, about: About): Item {
  const files = s.files.slice(-FILES_NAMED).map((on) => claimedOn(on, about))
  const inHand = files.length > 0 ? `, with ${files.join(', ')} in hand` : ''
  return { id: s.id, text: `${crashHead(s, about)}${inHand}; tidemark session show ${plain(s.id, 60)}` }
}

export function recoveryItem(s: SessionInfo, about: About, handoffText = ''): Item {
  const task = s.task === undefined ? undefined : about.reader.entity(s.task)
  const decided = about.reader
    .list('decision', { since: s.started, limit: DECISIONS_LOOKED_AT })
    .filter((e) => provenanceOf(e).some((p) => p.session === s.id))
    .slice(0, DECISIONS_NAMED)
  const head = crashHead(s, about)
  const list = (title: string, all: readonly string[]) => {
    const shown = all.slice(-FILES_NAMED).map((on) => claimedOn(on, about))
    return (
      shown.some((on) => !handoffText.includes(on)) &&
      `  ${title}: ${shown.join(', ')}${all.length > FILES_NAMED ? ', …' : ''}`
    )
  }
  const lines = [
    head,
    ...exchangesOf(s).map(([how, text]) => !handoffText.includes(plain(text, ITEM)) && `  ${how}: ${plain(text, ITEM)}`),
    task && `  Task: ${plain(task.name, 200)} (${refOf(task)})`,
    list(commitsSince(s, about) === 0 ? 'Files in hand' : 'Had edited', s.files),
    list('Had claimed', heldBy(s).filter((on) => on !== task?.id && !s.files.includes(on))),
    list('Had decided', decided.map((e) => e.name)),
  ] // biome-ignore format: a list
  return { id: s.id, text: lines.filter(Boolean).join('\n'), short: head }
}
