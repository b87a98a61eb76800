import { linkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../../base/errors.ts'
import * as files from '../../../base/files.ts'
import { redact } from '../../../base/secrets/find.ts'
import type { Memory } from '../../../engine/memory.ts'
import { getMeta, setMeta } from '../../../engine/store/meta.ts'
import { ignoreViews, PROJECT_DIR } from '../../../engine/store/project.ts'
import { jsonIn } from '../../../model/object.ts'

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
  /** One that the store has given out: what an archive brings has none, or another store's. */
  mark?: string
}

const NOTHING: Kept = { cursor: -1, seen: {}, taking: {}, reports: [] }

export const viewPath = (name: string): string => `${PROJECT_DIR}/${name}`

/** Where copies of what was written last lie: what differs from them was changed by hand. */
const keptPath = (name: string): string => `${PROJECT_DIR}/local/views/${name}`

export const textOf = (root: string, path: string): string | undefined => files.readInside(root, path)?.toString('utf8')

/** Changes whenever the file does; empty where there is none. */
export function stampOf(root: string, path: string): string {
  const found = files.inspect(root, path)
  return found.is === 'file' ? `${found.stat.size}/${found.stat.mtimeMs}/${found.stat.ino}` : ''
}

/** The row of the store with the marks that it has given out, one for each work tree. */
const MARKS = 'views'
const MARKS_KEPT = 200

const marksIn = ({ db }: Memory): string[] => JSON.parse(getMeta(db, MARKS) ?? '[]')

/** What this store's processes kept of the views in a work tree; of what somebody else laid there nothing counts. */
export function readKept(memory: Memory, root: string): Kept {
  // damaged: the views are looked at anew
  const kept = (jsonIn(attempt(() => textOf(root, keptPath('state.json'))) ?? '') ?? {}) as Partial<Kept>
  const isOurs = kept.mark !== undefined && marksIn(memory).includes(kept.mark)
  return { ...structuredClone(NOTHING), ...(isOurs ? kept : {}) }
}

/** Replaces a view. A hard link keeps the old file: lines added meanwhile are kept, any other edit is put back. */
function replace(root: string, path: string, text: string, expected: string): boolean {
  const old = viewPath(files.temporaryName())
  try {
    linkSync(join(root, path), join(root, old))
  } catch {
    files.writeInside(root, path, text) // a file system without second names
    return true
  }
  try {
    files.writeInside(root, path, text)
    const there = textOf(root, old) ?? expected
    if (there.startsWith(expected)) {
      if (there !== expected) files.appendInside(root, path, there.slice(expected.length)) // lines that came last stay last
      return true
    }
    renameSync(join(root, old), join(root, path)) // what they wrote is there again: the next look finds it
    return false
  } finally {
    rmSync(join(root, old), { force: true })
  }
}

/** To be called under the store's lock. */
export function writeKept(memory: Memory, root: string, kept: Kept): void {
  if (kept.mark === undefined) {
    kept.mark = Buffer.from(memory.env.random(8)).toString('hex')
    setMeta(memory.db, MARKS, JSON.stringify([...marksIn(memory), kept.mark].slice(-MARKS_KEPT)))
  }
  files.writeInside(root, keptPath('state.json'), `${JSON.stringify(kept)}\n`)
}

/** Changes what is kept under the store's lock. */
export function changeKept(memory: Memory, root: string, change: (kept: Kept) => void): void {
  memory.db.write(() => {
    const kept = readKept(memory, root)
    change(kept)
    writeKept(memory, root, kept)
  })
}

export const lastWritten = (root: string, name: string): string => textOf(root, keptPath(name)) ?? ''

/** Writes a view and its copy, by appending where possible. A view that is not as `expected` is left alone. */
export function writeView(root: string, name: string, text: string, expected: string | undefined, kept: Kept): void {
  const [path, copy] = [viewPath(name), keptPath(name)]
  if (textOf(root, path) !== expected) return
  ignoreViews(root)
  // the view first: where it turns out to be edited, the copy stays what the edit is compared with
  for (const file of [path, copy]) {
    const there = textOf(root, file)
    if (text === '') files.removeInside(root, file)
    else if (file === path && there !== undefined && !text.startsWith(there)) {
      if (expected === undefined || !replace(root, path, text, expected)) return
    } else if (there === undefined || !text.startsWith(there)) files.writeInside(root, file, text)
    else if (there !== text) files.appendInside(root, file, text.slice(there.length))
  }
  const stamp = stampOf(root, path)
  if (text === '') delete kept.seen[name]
  else if (textOf(root, path) === text) kept.seen[name] = stamp
}

/** Keeps an edited view beside its place, under a name that is free; what looks like a secret goes as its category. */
export function putAside(root: string, name: string, edited: string, at: number): string {
  const text = redact(edited)
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  for (let n = 1; ; n++) {
    const aside = name.replace(/\.md$/, `.edited-${time}${n === 1 ? '' : `-${n}`}.md`)
    if (files.createInside(root, viewPath(aside), text)) return aside
  }
}

/** Hand edits that could not be read and are still kept beside their view. */
export const unreadEdits = (memory: Memory, root: string): Report[] =>
  readKept(memory, root).reports.filter((r) => files.inspect(root, viewPath(r.aside)).is === 'file')
