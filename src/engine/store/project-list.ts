import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { attempt, when } from '../../base/errors.ts'
import { codeOf } from '../../base/files.ts'
import { linkedWorkTrees, workTreeOf } from '../../base/git.ts'
import { sha256 } from '../../model/digest.ts'
import { readState, stateDirectory, writeState } from './user-state.ts'

export interface Project extends Settings {
  /** Random, kept in `.tidemark/config.json`: never the folder's name. */
  id: string
  /** Other ids of the same project: several clones ran `init` before they met. */
  aliases?: readonly string[]
  name: string
  root: string
  /** The SQLite file: in the git common directory, shared by all worktrees, out of reach of `git clean` (K18). */
  storePath: string
  /** Somebody chose where the store lies: the caller now (`named`), or earlier. */
  chosen?: 'named' | 'remembered'
}

/** Settings of a project's configuration as they stand there: checked where they are used. */
export interface Settings {
  recall?: unknown
  hooks?: unknown
  alternatives?: unknown
  topics?: unknown
  maturity?: unknown
  reviewers?: unknown
}

/** One project on this machine: a file of its own, so that nobody rewrites what somebody else has just written. */
interface Entry {
  root: string
  store: string
  /** The store has its user's mark; 0.1.0 gave it none. */
  marked?: true
}

export const listDirectory = (): string => join(stateDirectory(), 'projects')

export const fileOf = (root: string) => join(listDirectory(), nameOf(root))
const nameOf = (root: string) => `${sha256(root).slice(0, 20)}.json`

/** Does what it can: a list that cannot be kept must not keep a memory from opening. */
export const quietly = (body: () => void): void =>
  attempt(
    body,
    when((e) => codeOf(e) !== undefined),
  )

/** Puts a project, whose store is open, onto the list of this user's projects, and takes off those that are gone. */
export function rememberProject({ root, storePath }: Pick<Project, 'root' | 'storePath'>): void {
  quietly(() => {
    const entry: Entry = { root, store: storePath, marked: true }
    const text = `${JSON.stringify(entry)}\n`
    const path = `projects/${nameOf(root)}`
    if (readState(path) === text) return
    entries()
    writeState(path, text)
  })
}

/** What is on the list; what is gone is taken off it. */
export function entries(): Entry[] {
  const dir = listDirectory()
  if (!existsSync(dir)) return []
  return readdirSync(dir).flatMap((name) => {
    if (!name.endsWith('.json')) return []
    const entry = readEntry(join(dir, name))
    if (entry && existsSync(entry.root)) return [entry]
    quietly(() => rmSync(join(dir, name), { force: true }))
    return []
  })
}

function readEntry(file: string): Entry | undefined {
  // half a file, or one that has just been taken off
  const entry = attempt(() => JSON.parse(readFileSync(file, 'utf8')) as Partial<Entry> | null)
  return typeof entry?.root === 'string' && typeof entry.store === 'string' ? (entry as Entry) : undefined
}

/** Whether this user has this project and no other one on this machine. */
export function isOnlyProject(root: string): boolean {
  const roots = entries().map((e) => e.root)
  return roots.length > 0 && roots.every((r) => r === root)
}

/** Where the list says that the store of a directory lies; it is the user's own list. */
export const listedStore = (root: string): string | undefined => readEntry(fileOf(root))?.store

/** Whether 0.1.0 put this store on the list, and it was not opened by a later version since. */
export function isListedUnmarked(storePath: string): boolean {
  const dir = realpathSync(dirname(storePath))
  const meant = entries().filter((e) => existsSync(dirname(e.store)) && realpathSync(dirname(e.store)) === dir)
  return meant.length > 0 && meant.every((e) => e.marked !== true)
}

/** Roots of all work trees that show what a project's store knows. */
export function treesOf({ root, storePath }: Project): string[] {
  const git = workTreeOf(root)
  const below = git ? relative(git.top, root) : ''
  const main = git && basename(git.common) === '.git' ? [dirname(git.common)] : []
  const tops = git ? [...main, ...linkedWorkTrees(git.common)].map((top) => join(top, below)) : []
  return [...new Set([root, ...tops, ...entries().flatMap((e) => (e.store === storePath ? [e.root] : []))])]
}
