import { type UserError, unlessRefused } from '../../../base/errors.ts'
import { inspect } from '../../../base/files.ts'
import { reflogOf, whyNotOwn } from '../../../base/git.ts'
import { keptIn } from '../../../base/lookup.ts'
import { redact } from '../../../base/secrets/find.ts'
import { HAND } from '../../../engine/claims/lease.ts'
import type { Memory, News } from '../../../engine/memory.ts'
import { PROJECT_DIR, type Project } from '../../../engine/store/project.ts'
import { problemLine, problemsOf } from '../../../engine/write/batch.ts'
import { claimsOf } from '../../coordination/claims.ts'
import { sessionsOf } from '../../coordination/sessions.ts'
import * as copies from './copies.ts'
import { decisionsView } from './decisions.ts'
import { handoffView } from './handoff.ts'
import { mutationsView } from './mutations.ts'
import { observationsView } from './observations.ts'
import { swarmView } from './swarm.ts'
import { conflictIn, type Taken, type View, type ViewContext } from './view.ts'

/** The files under `.tidemark/` that show what is known. */
export const VIEWS: readonly View[] = [handoffView, swarmView, decisionsView, observationsView, mutationsView]

/** After this many events that concern no view, the cursor is saved anyway. */
const LAG = 200
const REPORTS_AT_MOST = 20
/** How long a process may take to record a hand edit before another one does it. */
const TAKING_MS = 30_000

/** Up to which event a memory has been looked at for a work tree, in this process. */
const looked = new WeakMap<Memory, Map<string, number>>()

/** Records hand edits of the views; unreadable ones are kept aside. Call it before an action. Never fails; returns notes. */
export const readEdits = (memory: Memory, project: Project): string[] =>
  safely(project, () => {
    const { seen } = copies.readKept(memory, project.root)
    return VIEWS.flatMap((view) => readEdit(memory, project, view, seen[view.name]))
  })

/** Updates the views. Cheap if nothing that concerns them happened. Never fails; returns notes. */
export function refreshViews(memory: Memory, project: Project): string[] {
  return safely(project, () => {
    const { root } = project
    const told = readEdits(memory, project)
    const cursor = memory.cursor
    if (!mayHaveChanged(memory, root, cursor)) return told
    // one at a time: two processes that write the same view would take each other's text for a hand edit
    copies.changeKept(memory, root, (kept) => {
      const now = memory.cursor
      const news = newsBetween(memory, kept.cursor, now)
      for (const view of changedViews(root, kept, news)) write({ memory, project, news }, view, kept)
      kept.cursor = now
    })
    lookedUpTo(memory).set(root, cursor)
    return told
  })
}

/** Views that are as they were written: what an uninstall may take away. */
export const ownViews = (root: string): string[] =>
  VIEWS.map((v) => v.name).filter((name) => {
    const text = copies.textOf(root, copies.viewPath(name))
    return text !== undefined && text === copies.lastWritten(root, name)
  })

function safely(project: Project, body: () => string[]): string[] {
  const found = inspect(project.root, PROJECT_DIR)
  if (found.is === 'nothing') return []
  if (found.is === 'unsafe') return [`there are no views of what is known: ${found.why}`]
  try {
    return body()
  } catch (error) {
    const what = error instanceof Error ? error.message.split('\n')[0] : String(error)
    return [`the files in ${PROJECT_DIR}/ are not up to date: ${what}`]
  }
}

const lookedUpTo = (memory: Memory): Map<string, number> => keptIn(looked, memory, () => new Map())

/** Whether what this process has not looked at yet concerns a view; far behind, it is time to note how far that was. */
function mayHaveChanged(memory: Memory, root: string, cursor: number): boolean {
  const kept = copies.readKept(memory, root)
  const since = Math.max(kept.cursor, lookedUpTo(memory).get(root) ?? -1)
  const changed = changedViews(root, kept, newsBetween(memory, kept.cursor < 0 ? -1 : since, cursor))
  if (changed.length > 0 || cursor - kept.cursor > LAG) return true
  lookedUpTo(memory).set(root, cursor)
  return false
}

/** What happened between two events; nothing can be told where one is unknown, or the store counts from earlier on. */
const newsBetween = (memory: Memory, since: number, cursor: number): News[] | undefined =>
  since < 0 || since > cursor ? undefined : since === cursor ? [] : memory.newsSince(since)

/** Something was erased: lines that are otherwise only ever added may hold it, so every file is made anew. */
const isErasing = (news: readonly News[]): boolean => news.some((n) => n.erases)

function commitStamp(root: string): string {
  const log = reflogOf(root)
  return log ? copies.stampOf(log.dir, log.path) : ''
}

/** The views that what happened concerns. */
function changedViews(root: string, kept: copies.Kept, news: readonly News[] | undefined): View[] {
  if (news === undefined || isErasing(news)) return [...VIEWS]
  const isWritten = (view: View) => kept.seen[view.name] !== undefined
  const commits = commitStamp(root)
  return VIEWS.filter(
    (view) =>
      (isWritten(view) && copies.stampOf(root, copies.viewPath(view.name)) === '') ||
      (isWritten(view) && view === handoffView && kept.seen.commits !== commits) ||
      news.some((n) => view.concerns(n)),
  )
}

function write(context: ViewContext, view: View, kept: copies.Kept): void {
  const { root } = context.project
  const there = copies.textOf(root, copies.viewPath(view.name))
  const copy = copies.lastWritten(root, view.name)
  const was = kept.cursor < 0 ? '' : copy
  const erasing = context.news !== undefined && isErasing(context.news)
  const text = erasing || was === '' ? view.render({ ...context, news: undefined }, '') : view.render(context, was)
  // edited in this very moment: the next look takes that over first
  if (there !== undefined && there !== copy && there !== text) return
  if (there !== undefined && there !== text && whyNotOwn(root, copies.viewPath(view.name)) !== undefined) return
  copies.writeView(root, view.name, text, there, kept)
  if (view === handoffView) kept.seen.commits = commitStamp(root)
}

/** A hand edit of a view. */
interface Found {
  text: string
  was: string
  /** Views were written here before: what stood there then is nobody's hand edit. */
  isKnown: boolean
}

/** A hand edit that nobody has taken over yet, for this process to do it. */
function findEdit({ memory, project }: ViewContext, view: View): Found | undefined {
  const { root } = project
  const path = copies.viewPath(view.name)
  // under the lock: whoever writes a view brings the file and its copy together
  return memory.db.write(() => {
    const kept = copies.readKept(memory, root)
    const stamp = copies.stampOf(root, path)
    const text = copies.textOf(root, path)
    if (text === undefined || stamp === kept.seen[view.name]) return undefined
    const copy = copies.lastWritten(root, view.name)
    const isKnown = kept.cursor >= 0 // all views have been written here once
    const was = isKnown ? copy : ''
    const now = memory.env.now()
    const taken = kept.taking[view.name]
    if (taken?.stamp === stamp && Math.abs(now - taken.at) < TAKING_MS) return undefined
    const isEdit = text !== copy && text !== view.render({ memory, project }, was)
    if (isEdit) kept.taking[view.name] = { stamp, at: now }
    else copies.writeView(root, view.name, text, text, kept) // a process ended between the file and its copy
    copies.writeKept(memory, root, kept)
    return isEdit ? { text, was, isKnown } : undefined
  })
}

/** Ends the sessions that acted for a role by hand and hold nothing any more. */
function endIdleHands(memory: Memory, actions: readonly Taken[]): void {
  const hands = new Set(actions.flatMap((a) => (a.session?.startsWith(HAND) ? [a.session] : [])))
  if (hands.size === 0) return
  const held = claimsOf(memory).held()
  const holders = new Set(held.map((c) => c.session))
  for (const hand of hands) if (!holders.has(hand)) sessionsOf(memory).end(hand)
}

function readEdit(memory: Memory, project: Project, view: View, seen: string | undefined): string[] {
  const { root } = project
  const stamp = copies.stampOf(root, copies.viewPath(view.name))
  if (stamp === '' || stamp === seen) return []
  const context = { memory, project }
  const found = findEdit(context, view)
  if (!found) return []
  const { text, was } = found
  const file = `${PROJECT_DIR}/${view.name}`
  // what came from elsewhere was said by whoever wrote it: nobody here stands by it, and it is theirs to change
  const foreign = whyNotOwn(root, copies.viewPath(view.name))
  if (foreign !== undefined) {
    copies.changeKept(memory, root, ({ taking, seen }) => {
      delete taking[view.name]
      seen[view.name] = stamp
    })
    return [`${file} was not read, and is left as it is: ${foreign}`]
  }
  const unread =
    (found.isKnown ? undefined : "it was here before Tidemark wrote its first view, so it may be another person's") ??
    conflictIn(text, was)
  const read = unread ? { actions: [], problems: [unread] } : view.read(context, text, was)
  // a problem names the beginning of a line, where half a secret is not known as one
  const safe = redact(text)
  const wrong = [...(unread || safe === text ? read : view.read(context, safe, was)).problems]
  const done: string[] = []
  for (const { action, session = '', says } of read.actions) {
    const take = () => {
      if (session !== '') sessionsOf(memory).heartbeat(session)
      memory.act([action], { session, agent: 'file', source: `${PROJECT_DIR}/${view.name}` })
      done.push(says)
    }
    const why = (error: UserError) => problemsOf(error).map(problemLine).join(' ') || error.message
    unlessRefused(take, (error) => wrong.push(`${says}: ${why(error)}`))
  }
  endIdleHands(memory, read.actions)
  const told = done.length > 0 ? [`${file} was edited by hand, and taken over: ${[...new Set(done)].join('; ')}`] : []
  copies.changeKept(memory, root, (kept) => {
    delete kept.taking[view.name]
    if (wrong.length > 0) {
      const at = memory.env.now()
      const aside = copies.putAside(root, view.name, text, at)
      const problems = wrong.map((w) => redact(w))
      kept.reports = [...kept.reports, { at, file, aside, problems }].slice(-REPORTS_AT_MOST)
      told.push(`${file} was not read: ${problems.join('; ')}. It is kept as ${PROJECT_DIR}/${aside}`)
    }
    // edited again meanwhile: the next look takes that over, against what was taken over now
    copies.writeView(root, view.name, view.render(context, was), text, kept)
  })
  return told
}
