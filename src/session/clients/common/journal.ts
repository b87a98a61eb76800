import { existsSync, mkdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { UserError } from '../../../base/errors.ts'
import { createInside, inspect, readInside, removeInside, writeInside } from '../../../base/files.ts'
import { whyNotOwn } from '../../../base/git.ts'
import { PROJECT_DIR } from '../../../engine/store/project.ts'
import { stateDirectory } from '../../../engine/store/user-state.ts'
import { sha256 } from '../../../model/digest.ts'
import { isObject, jsonIn } from '../../../model/object.ts'
import { isInside, removeIfEmpty } from './files.ts'
import type { Splice, Step, Undo } from './types.ts'

/** What wiring did to a file, as the stretches that differ: a copy of `~/.claude.json` would hold account data. */
export interface Entry {
  original: string | null
  written: string
  steps: Step[]
  /** Folders made for it, the outermost first; in the journal by their path in the project, which may move. */
  dirs: string[]
}

export const JOURNAL = `${PROJECT_DIR}/local/wiring.json`

/** What this machine wrote last into a journal, by its hash: another one came with the project, and says nothing of this user's home. */
const proofOf = (text: string) => `wiring/${sha256(text)}`

// files of the project by their path in it: the project may move
const keyOf = (root: string, file: string) => (isInside(file, root) ? relative(root, file) : file)

const textOf = (root: string): string | undefined => readInside(root, JOURNAL)?.toString('utf8')

function read(root: string): { version: 1; files: Record<string, Entry> } {
  const text = textOf(root)
  const journal = text === undefined || whyNotOwn(root, JOURNAL) !== undefined ? undefined : jsonIn(text)
  // damaged, it is as in a clone, where our entries are found by their look
  if (!isObject(journal) || !isObject(journal.files)) return { version: 1, files: {} }
  const isOurs = inspect(stateDirectory(), proofOf(text!)).is === 'file'
  const files = Object.entries(journal.files).filter(([file]) => isOurs || !isAbsolute(file))
  return { version: 1, files: Object.assign(Object.create(null), Object.fromEntries(files)) }
}

export const entryOf = (root: string, file: string): Entry | undefined => {
  const entry = read(root).files[keyOf(root, file)] as (Entry & { splice?: Splice; undo?: Undo }) | undefined
  if (typeof entry?.written !== 'string') return undefined
  // version 0.1.0 kept one step for each file, without a name: the first that its file has
  const { splice, undo, ...rest } = entry
  const steps = rest.steps ?? (splice && undo ? [{ part: '', undo, splice }] : undefined)
  return Array.isArray(steps) ? { ...rest, steps, dirs: dirsNow(root, file, rest.dirs) } : undefined
}

/** Where folders that were made for a file are now. Earlier versions kept whole paths, from which the project may have moved. */
function dirsNow(root: string, file: string, dirs: unknown): string[] {
  const above: string[] = []
  for (let dir = dirname(file); isInside(dir, root); dir = dirname(dir)) above.unshift(dir)
  const now = (Array.isArray(dirs) ? dirs.map(String) : []).flatMap((dir) => {
    if (!isAbsolute(dir)) return [join(root, dir)]
    if (above.length === 0 || isInside(dir, root)) return [dir]
    return above.filter((here) => basename(here) === basename(dir))
  })
  return now.filter((dir) => isInside(file, dir) && dir !== root)
}

/** Why the journal that lies here is not ours and will be written over; undefined if there is none, or ours. */
export const foreignJournal = (root: string): string | undefined =>
  inspect(root, JOURNAL).is === 'file' ? whyNotOwn(root, JOURNAL) : undefined

/** @throws UserError unless a journal can be kept. */
export function mustKeepJournal(root: string): void {
  const found = inspect(root, JOURNAL)
  if (found.is === 'unsafe' || found.is === 'directory') {
    const message = found.is === 'unsafe' ? found.why : `${join(root, JOURNAL)} is a directory`
    throw new UserError('unsafe-path', message, 'remove it; nothing was changed')
  }
}

/** Writes what is to be remembered (or, with null, forgotten) about files; an empty journal is no file. */
export function keepJournal(root: string, entries: ReadonlyMap<string, Entry | null>): void {
  const { files } = read(root)
  for (const [file, entry] of entries)
    if (entry) files[keyOf(root, file)] = { ...entry, dirs: entry.dirs.map((dir) => keyOf(root, dir)) }
    else delete files[keyOf(root, file)]
  const before = textOf(root)
  const text = Object.keys(files).length > 0 ? `${JSON.stringify({ version: 1, files }, null, 2)}\n` : undefined
  if (text === before) return
  const state = stateDirectory()
  if (text !== undefined) {
    // the proof first: a crash between the two leaves one of nothing, not a journal without its proof
    mkdirSync(state, { recursive: true, mode: 0o700 })
    createInside(state, proofOf(text), root, { mode: 0o600, dirMode: 0o700 })
    writeInside(root, JOURNAL, text, { mode: 0o600, sync: true })
  } else if (removeInside(root, JOURNAL)) removeIfEmpty(dirname(join(root, JOURNAL)))
  if (before === undefined) return
  const first = `${readInside(state, proofOf(before)) ?? root}`
  // a copy of a project begins with its journal: the proof is that one's, as long as it is there
  if (first !== root && existsSync(first)) return
  if (removeInside(state, proofOf(before))) removeIfEmpty(join(state, 'wiring'))
}

export const journalFiles = (root: string): string[] =>
  Object.keys(read(root).files).map((file) => (isAbsolute(file) ? file : join(root, file)))

export function spliceOf(before: string, after: string): Splice {
  const most = Math.min(before.length, after.length)
  let head = 0
  while (head < most && before[head] === after[head]) head++
  let tail = 0
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  return {
    at: head,
    removed: before.slice(head, before.length - tail),
    inserted: after.slice(head, after.length - tail),
  }
}

/** The text from before us, if `text` is still exactly what we wrote; undefined if somebody changed it since. */
export function revert(text: string, entry: Entry): string | null | undefined {
  if (sha256(text) !== entry.written) return undefined
  if (entry.original === null) return null
  let before = text
  for (const { splice } of entry.steps.toReversed())
    before = before.slice(0, splice.at) + splice.removed + before.slice(splice.at + splice.inserted.length)
  return sha256(before) === entry.original ? before : undefined
}
