import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../errors.ts'
import type { Memory } from '../../memory/memory.ts'
import { PROJECT_DIR, type Project } from '../../store/project.ts'
import { reflogOf } from '../commits.ts'
import { sessionsOf } from '../sessions.ts'
import { decisionsView } from './decisions.ts'
import { handoffView } from './handoff.ts'
import { type Kept, lastWritten, putAside, readKept, stampOf, textOf, viewPath, writeKept, writeView } from './kept.ts'
import { swarmView } from './swarm.ts'
import type { View } from './view.ts'

/** The files under `.tidemark/` that show what is known. */
export const VIEWS: readonly View[] = [handoffView, swarmView, decisionsView]

/** So many events may pass by that concern no view until it is noted how far they were looked at. */
const LAG = 200
const REPORTS_AT_MOST = 20
const PURGE = /(?:^|; )purge\b/

/** Up to which event a memory has been looked at for a work tree, in this process. */
const looked = new WeakMap<Memory, Map<string, number>>()

/**
 * What was edited by hand in the views since they were written is taken over as actions. What cannot be read is told,
 * and the edited file kept beside the one that is written anew. To be called before an action, so that things happen
 * in the order in which they were said. Never fails; returns what is to be told.
 */
export function readEdits(memory: Memory, project: Project): string[] {
  return safely(project, () => {
    const kept = readKept(project.root)
    return VIEWS.flatMap((view) => readEdit(memory, project, view, kept))
  })
}

/**
 * Brings the views up to date with what happened. Cheap where nothing did that concerns them. Never fails, as the
 * action it follows is done; returns what is to be told.
 */
export function refreshViews(memory: Memory, project: Project): string[] {
  return safely(project, () => {
    const { root } = project
    const told = readEdits(memory, project)
    const changed = changedViews(memory, root)
    if (changed.length === 0) return told
    // one at a time: two processes that write the same view would take each other's text for a hand edit
    memory.db.write(() => {
      const kept = readKept(root)
      for (const view of changed) write(memory, project, view, kept)
      writeKept(root, { ...kept, cursor: memory.cursor })
    })
    lookedUpTo(memory).set(root, memory.cursor)
    return told
  })
}

/** Views that are as they were written: what an uninstall may take away. */
export const ownViews = (root: string): string[] =>
  VIEWS.map((v) => v.name).filter((name) => {
    const text = textOf(viewPath(root, name))
    return text !== undefined && text === lastWritten(root, name)
  })

function safely(project: Project, body: () => string[]): string[] {
  if (!existsSync(join(project.root, PROJECT_DIR))) return []
  try {
    return body()
  } catch (error) {
    const what = error instanceof Error ? error.message.split('\n')[0] : String(error)
    return [`the files in ${PROJECT_DIR}/ are not up to date: ${what}`]
  }
}

function lookedUpTo(memory: Memory): Map<string, number> {
  let map = looked.get(memory)
  if (!map) looked.set(memory, (map = new Map()))
  return map
}

/** The views that what happened since concerns. */
function changedViews(memory: Memory, root: string): View[] {
  const kept = readKept(root)
  const { cursor } = memory
  const commits = stampOf(reflogOf(root))
  const since = Math.max(kept.cursor, lookedUpTo(memory).get(root) ?? -1)
  // a store that was restored counts from earlier on
  if (kept.cursor < 0 || since > cursor) return [...VIEWS]
  const missing = VIEWS.filter((v) => kept.seen[v.name] !== undefined && stampOf(viewPath(root, v.name)) === '')
  const news = since === cursor ? [] : memory.newsSince(since)
  const erased = news.some((n) => PURGE.test(n.summary))
  const changed = VIEWS.filter(
    (view) =>
      erased ||
      missing.includes(view) ||
      (view === handoffView && kept.seen.commits !== commits && kept.seen[view.name] !== undefined) ||
      news.some((n) => view.concerns(n)),
  )
  if (changed.length > 0 || cursor - kept.cursor <= LAG) lookedUpTo(memory).set(root, cursor)
  else writeKept(root, { ...kept, cursor })
  return changed
}

function write(memory: Memory, project: Project, view: View, kept: Kept): void {
  const { root } = project
  const path = viewPath(root, view.name)
  const there = textOf(path)
  const was = lastWritten(root, view.name)
  const text = view.render({ memory, project }, wasErased(memory, kept) ? '' : was)
  // edited in this very moment: the next look takes that over first
  if (there !== undefined && there !== was && there !== text) return
  writeView(root, view.name, text)
  if (view === handoffView) kept.seen.commits = stampOf(reflogOf(root))
  if (text === '') delete kept.seen[view.name]
  else kept.seen[view.name] = stampOf(path)
}

/** Something was erased since: lines that were only ever added may hold it, so the file is made anew. */
const wasErased = (memory: Memory, kept: Kept): boolean =>
  kept.cursor >= 0 && memory.newsSince(kept.cursor).some((n) => PURGE.test(n.summary))

function readEdit(memory: Memory, project: Project, view: View, kept: Kept): string[] {
  const { root } = project
  const path = viewPath(root, view.name)
  const stamp = stampOf(path)
  if (stamp === '' || stamp === kept.seen[view.name]) return []
  const text = textOf(path)
  if (text === undefined) return []
  const was = lastWritten(root, view.name)
  const context = { memory, project }
  const settled = () => {
    kept.seen[view.name] = stampOf(path)
    memory.db.write(() => writeKept(root, { ...readKept(root), seen: kept.seen, reports: kept.reports }))
  }
  if (text === was || text === view.render(context, was)) {
    writeView(root, view.name, text) // a process ended between the file and its copy
    settled()
    return []
  }
  const { actions, problems } = view.read(context, text, was)
  const wrong = [...problems]
  const done: string[] = []
  for (const { action, session = '', says } of actions) {
    try {
      if (session !== '') sessionsOf(memory).heartbeat(session)
      memory.act([action], { session, agent: 'file', source: `${PROJECT_DIR}/${view.name}` })
      done.push(says)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      wrong.push(`${says}: ${error.message.split('\n').slice(1).join(' ').trim() || error.message}`)
    }
  }
  const file = `${PROJECT_DIR}/${view.name}`
  const told = done.length > 0 ? [`${file} was edited by hand, and taken over: ${done.join('; ')}`] : []
  if (wrong.length > 0) {
    const at = memory.env.now()
    const aside = putAside(root, view.name, at)
    kept.reports = [...kept.reports, { at, file, aside, problems: wrong }].slice(-REPORTS_AT_MOST)
    told.push(
      `${file} was edited by hand and could not be read: ${wrong.join('; ')}. It is kept as ${PROJECT_DIR}/${aside}`,
    )
  }
  memory.db.write(() => {
    if (textOf(path) !== text) return // edited again meanwhile
    const next = view.render(context, was)
    writeView(root, view.name, next)
    if (next === '') delete kept.seen[view.name]
    else kept.seen[view.name] = stampOf(path)
    writeKept(root, { ...readKept(root), seen: kept.seen, reports: kept.reports })
  })
  return told
}
