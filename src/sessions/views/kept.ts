import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ignoreViews, PROJECT_DIR } from '../../store/project.ts'

/** What was done about a hand edit that could not be read. */
export interface Report {
  readonly at: number
  readonly file: string
  /** Where the edited file is kept, beside the view. */
  readonly aside: string
  readonly problems: readonly string[]
}

export interface Kept {
  /** Up to which event the views show what happened. */
  cursor: number
  /** Size and time of change of git's reflog and of each view, when they were looked at last. */
  seen: { [name: string]: string }
  /** Hand edits that a process is taking over: what the file looked like, and since when. */
  taking: { [name: string]: { stamp: string; at: number } }
  reports: Report[]
}

const NOTHING: Kept = { cursor: -1, seen: {}, taking: {}, reports: [] }

export const viewPath = (root: string, name: string): string => join(root, PROJECT_DIR, name)

/** Where copies of what was written last lie: what differs from them was changed by hand. */
const keptPath = (root: string, name: string): string => join(root, PROJECT_DIR, 'local', 'views', name)

export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Changes whenever the file does; empty where there is none. */
export function stampOf(path: string | undefined): string {
  const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
  return stat ? `${stat.size}/${stat.mtimeMs}/${stat.ino}` : ''
}

export function readKept(root: string): Kept {
  try {
    const text = textOf(keptPath(root, 'state.json'))
    return text === undefined
      ? structuredClone(NOTHING)
      : { ...structuredClone(NOTHING), ...(JSON.parse(text) as Kept) }
  } catch {
    return structuredClone(NOTHING) // damaged: the views are looked at anew
  }
}

/** Puts a file in its place whole: a reader sees the old or the new one. */
function put(root: string, path: string, text: string): void {
  const fresh = keptPath(root, `new-${randomBytes(6).toString('hex')}`)
  try {
    writeFileSync(fresh, text)
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

/**
 * Puts a view in its place unless somebody has changed it since it was `expected`, up to the very moment: the file that
 * is replaced is held by a second name and looked at afterwards.
 */
function replace(root: string, path: string, text: string, expected: string): boolean {
  const old = keptPath(root, `old-${randomBytes(6).toString('hex')}`)
  try {
    linkSync(path, old)
  } catch {
    put(root, path, text) // a file system without second names
    return true
  }
  try {
    put(root, path, text)
    const there = textOf(old) ?? expected
    if (there.startsWith(expected)) {
      if (there !== expected) appendFileSync(path, there.slice(expected.length)) // lines that came last stay last
      return true
    }
    renameSync(old, path) // what they wrote is there again: the next look finds it
    return false
  } finally {
    rmSync(old, { force: true })
  }
}

export function writeKept(root: string, kept: Kept): void {
  const path = keptPath(root, 'state.json')
  mkdirSync(dirname(path), { recursive: true })
  put(root, path, `${JSON.stringify(kept)}\n`)
}

export const lastWritten = (root: string, name: string): string => textOf(keptPath(root, name)) ?? ''

/**
 * Brings a view and its copy to a text; lines that are only added are only added. Somebody who has changed the view
 * since it was `expected` is not overwritten: the next look finds what they wrote.
 */
export function writeView(root: string, name: string, text: string, expected: string | undefined, kept: Kept): void {
  const [path, copy] = [viewPath(root, name), keptPath(root, name)]
  if (textOf(path) !== expected) return
  mkdirSync(dirname(copy), { recursive: true })
  ignoreViews(root)
  // the view first: where it turns out to be edited, the copy stays what the edit is compared with
  for (const file of [path, copy]) {
    const there = textOf(file)
    if (text === '') rmSync(file, { force: true })
    else if (file === path && there !== undefined && !text.startsWith(there)) {
      if (expected === undefined || !replace(root, path, text, expected)) return
    } else if (there === undefined || !text.startsWith(there)) put(root, file, text)
    else if (there !== text) appendFileSync(file, text.slice(there.length))
  }
  const stamp = stampOf(path)
  if (text === '') delete kept.seen[name]
  else if (textOf(path) === text) kept.seen[name] = stamp
}

/** Keeps an edited view beside its place, under a name that is free. */
export function putAside(root: string, name: string, text: string, at: number): string {
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  for (let n = 1; ; n++) {
    const aside = name.replace(/\.md$/, `.edited-${time}${n === 1 ? '' : `-${n}`}.md`)
    if (existsSync(viewPath(root, aside))) continue
    writeFileSync(viewPath(root, aside), text, { flag: 'wx' })
    return aside
  }
}

/** Hand edits that could not be read and are still kept beside their view. */
export const unreadEdits = (root: string): Report[] =>
  readKept(root).reports.filter((r) => existsSync(viewPath(root, r.aside)))
