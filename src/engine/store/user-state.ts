import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { createInside, inspect, isOwn, readInside, writeInside } from '../../base/files.ts'
import { jsonIn } from '../../model/object.ts'

/** What is this user's, and no project's: `TIDEMARK_STATE`, else the place the system has for such things. */
export function stateDirectory(): string {
  const { TIDEMARK_STATE, XDG_STATE_HOME, LOCALAPPDATA, HOME } = process.env
  // a path that is not whole would lead into a repository
  const whole = (path: string | undefined) => (isAbsolute(path ?? '') ? path : undefined)
  const named = whole(XDG_STATE_HOME) ?? whole(LOCALAPPDATA) ?? join(HOME || homedir(), '.local', 'state')
  return whole(TIDEMARK_STATE) ?? join(named, 'tidemark')
}

const PRIVATE = { mode: 0o600, dirMode: 0o700, sync: true }

export function readState(path: string): string | undefined {
  const dir = stateDirectory()
  const found = inspect(dir, path)
  return found.is === 'file' && isOwn(found.stat) ? readInside(dir, path)?.toString('utf8') : undefined
}

function writing<T>(body: (dir: string) => T): T {
  const dir = stateDirectory()
  try {
    if (!existsSync(dir)) {
      mkdirSync(dirname(dir), { recursive: true })
      mkdirSync(dir, { recursive: true, mode: 0o700 })
    }
    return body(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    const hint = 'name a directory that you may write with TIDEMARK_STATE'
    throw new UserError('no-state', `your own state cannot be kept in ${dir}: ${(error as Error).message}`, hint)
  }
}

export const writeState = (path: string, text: string): void => writing((dir) => writeInside(dir, path, text, PRIVATE))

/** Of several processes that make the same file one wins; returns what it says then. */
export function makeState(path: string, text: string): string {
  writing((dir) => createInside(dir, path, text, PRIVATE))
  return readState(path) ?? ''
}

interface Said {
  /** Where its stores lie: the first that is there is opened unless the caller names another one. */
  readonly places?: { readonly [root: string]: readonly string[] }
  /** Clones that belong to another user, and are used all the same. */
  readonly roots?: readonly string[]
  /** What of the committed configuration was allowed, word for word, by where the store lies: it sends the project's texts out. */
  readonly endpoints?: { readonly [store: string]: string | undefined }
  /** The hub that a store exchanges with, by where the store lies. The token stands in no file of the project. */
  readonly hubs?: { readonly [store: string]: Joined | undefined }
}

/** Where a hub is, and what it knows this user by. */
export type Joined = Readonly<{ url: string; token: string; member: string }>

const saidPath = (project: string) => `stores/${project}.json`

/** Nothing also where it was edited by hand and is none. */
const said = (project: string): Said => (jsonIn(readState(saidPath(project)) ?? '{}') ?? {}) as Said

export const placesOf = (project: string, root: string): readonly string[] => said(project).places?.[root] ?? []

const say = (project: string, change: (before: Said) => Said): void => {
  const before = said(project)
  writeState(saidPath(project), `${JSON.stringify({ ...before, ...change(before) })}\n`)
}

export const keepPlaces = (project: string, root: string, places: readonly string[]): void =>
  say(project, (before) => ({ places: { ...before.places, [root]: places } }))

/** Whether the user works in a clone that belongs to another one. */
export const isTrustedRoot = (project: string, root: string): boolean => said(project).roots?.includes(root) === true

export const trustRoot = (project: string, root: string): void =>
  say(project, ({ roots = [] }) => ({ roots: [...new Set([...roots, root])] }))

export const isAllowedEndpoint = (project: string, store: string, endpoint: string): boolean =>
  said(project).endpoints?.[store] === endpoint

/** Without an endpoint: takes it back. */
export const allowEndpoint = (project: string, store: string, endpoint?: string): void =>
  say(project, ({ endpoints }) => ({ endpoints: { ...endpoints, [store]: endpoint } }))

export const hubOf = (project: string, store: string): Joined | undefined => said(project).hubs?.[store]

/** Without a hub: the store leaves it. */
export const keepHub = (project: string, store: string, hub?: Joined): void =>
  say(project, ({ hubs }) => ({ hubs: { ...hubs, [store]: hub } }))
