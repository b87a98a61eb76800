import { mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { UserError, unlessRefused } from '../../base/errors.ts'
import { inspect, pathIn, removeInside, replaceFile, sweepTemporary, writeInside } from '../../base/files.ts'
import { PROJECT_DIR } from '../../engine/store/project.ts'
import { sha256 } from '../../model/digest.ts'
import { nearest } from '../../model/names.ts'
import { defined } from '../../model/object.ts'
import { CLIENT_FACTS } from '../../work/coordination/clients.ts'
import { type Check, wrong } from '../hooks/doctor-line.ts'
import { needed } from './common/check.ts'
import { isInside, landing, missingDirs, readText, removeIfEmpty } from './common/files.ts'
import { type Entry, entryOf, journalFiles, keepJournal, mustKeepJournal } from './common/journal.ts'
import { leave } from './common/target.ts'
import type { Client, ClientContext, WiringChange } from './common/types.ts'
import { CLIENTS } from './index.ts'
import { loaderFiles, planUnloading } from './loader.ts'

function named(name: string): Client {
  const wanted = name.trim().toLowerCase()
  const found = CLIENTS.find((c) => c.name === wanted)
  if (found) return found
  const names = CLIENTS.map((c) => c.name)
  const [near] = nearest(wanted, names, 1)
  const message = `there is no client called ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`}`
  const details = defined({ received: name, accepted: names, nearest: near })
  throw new UserError('unknown-client', message, `clients: ${names.join(', ')}`, details)
}

const NO_LINKS = 'put a plain file there: Tidemark follows no link inside a project'

/** The file of a client in the project that is a link or no file: what it leads to is not the project's. */
function unsafeFile(ctx: ClientContext, client: Client): { file: string; why: string } | undefined {
  for (const file of client.files(ctx)) {
    const way = pathIn(ctx.root, file)
    const found = way === undefined ? undefined : inspect(ctx.root, way)
    if (found?.is === 'unsafe') return { file, why: found.why }
  }
  return undefined
}

function leftAlone(ctx: ClientContext, client: Client): WiringChange[] | undefined {
  const unsafe = unsafeFile(ctx, client)
  if (!unsafe) return undefined
  return [leave({ client: client.name, file: unsafe.file, scope: 'committed' }, null, `${unsafe.why}: ${NO_LINKS}`)]
}

/** Plans the wiring of the clients found here, or of those named. Files that stay have the action `none`. */
export function planWiring(ctx: ClientContext, names?: string[]): WiringChange[] {
  const clients = names ? [...new Set(names.map(named))] : CLIENTS.filter((c) => c.detect(ctx).found)
  return once(clients.flatMap((c) => leftAlone(ctx, c) ?? planned(ctx, c)))
}

function planned(ctx: ClientContext, client: Client): WiringChange[] {
  const plan = () => {
    const changes = client.wire(ctx)
    prepare(ctx, changes)
    return changes
  }
  return unlessRefused(plan, ({ message, hint }): WiringChange[] => {
    const why = `not wired: ${message}${hint ? ` (${hint.replace('; nothing was changed', '')})` : ''}`
    return [{ ...leave({ client: client.name, file: client.files(ctx)[0]!, scope: 'local' }, null, why), failed: true }]
  })
}

const once = (changes: WiringChange[]) =>
  changes.filter((change, n) => {
    const isSame = (c: WiringChange) => c.file === change.file && c.before === change.before && c.after === change.after
    return change.failed || !changes.slice(0, n).some(isSame)
  })

export const planUnwiring = (ctx: ClientContext): WiringChange[] =>
  once([...CLIENTS.flatMap((c) => leftAlone(ctx, c) ?? c.unwire(ctx)), ...planUnloading(ctx)])

/** What `doctor` says about the clients found here. That one is not wired is wrong only where it was. */
export function checkWiring(ctx: ClientContext): Check[] {
  const files = new Set(journalFiles(ctx.root))
  return CLIENTS.filter((c) => c.detect(ctx).found).flatMap((c) => {
    const unsafe = unsafeFile(ctx, c)
    if (!unsafe) return c.files(ctx).some((file) => files.has(file)) ? needed(c.check(ctx)) : c.check(ctx)
    return [wrong(`${c.name}.files`, `${CLIENT_FACTS[c.name].title} is not looked at: ${unsafe.why}`, NO_LINKS)]
  })
}

const knownFiles = (ctx: ClientContext): string[] => [...CLIENTS.flatMap((c) => c.files(ctx)), ...loaderFiles(ctx)]

/** Removes what killed runs left beside the files that they were about to replace. */
export function sweepLeft(ctx: ClientContext, now: number): string[] {
  const ours = ['config.json', 'local/wiring.json', 'local/views/state.json'].map((f) => join(ctx.root, PROJECT_DIR, f))
  return [...new Set([...ours, ...knownFiles(ctx)].map((file) => dirname(file)))].flatMap((dir) => {
    const way = pathIn(ctx.root, dir)
    if (way !== undefined && inspect(ctx.root, way).is !== 'directory') return []
    return sweepTemporary(dir, now).map((name) => join(dir, name))
  })
}

type Write = { change: WiringChange; target: string; dirs: string[] }

/** Everything that can be known to go wrong goes wrong here, before the first write. */
function prepare(ctx: ClientContext, changes: readonly WiringChange[]): Write[] {
  return changes
    .filter((change) => change.action !== 'none')
    .map((change) => {
      const { file } = change
      const boundary = [ctx.root, ctx.home].find((dir) => isInside(file, dir)) ?? dirname(file)
      const way = pathIn(ctx.root, file)
      const found = way === undefined ? undefined : inspect(ctx.root, way)
      if (found?.is === 'unsafe') throw new UserError('unsafe-path', found.why, `${NO_LINKS}; nothing was changed`)
      const target = landing(file, boundary)
      if (readText(file) !== change.before) {
        const hint = 'run this again; no settings of a client were changed'
        throw new UserError('changed-meanwhile', `${file} was changed a moment ago`, hint)
      }
      return { change, target, dirs: missingDirs(file) }
    })
}

function writeText(ctx: ClientContext, { change, target }: Write, text: string | null): void {
  const way = pathIn(ctx.root, change.file)
  const options = { mode: change.scope === 'local' ? 0o600 : 0o644, sync: true }
  if (way !== undefined) {
    if (text === null) removeInside(ctx.root, way)
    else writeInside(ctx.root, way, text, options)
  } else if (text === null) rmSync(target, { force: true })
  else {
    mkdirSync(dirname(target), { recursive: true })
    replaceFile(target, text, options) // in a home a link is the user's own
  }
}

function writeAll(ctx: ClientContext, writes: readonly Write[]): void {
  const done: Write[] = []
  try {
    for (const write of writes) {
      writeText(ctx, write, write.change.after)
      done.push(write)
    }
  } catch (error) {
    for (const write of done.reverse()) writeText(ctx, write, write.change.before)
    for (const write of writes) for (const dir of [...write.dirs].reverse()) removeIfEmpty(dir)
    throw error
  }
}

export function applyWiring(ctx: ClientContext, changes: readonly WiringChange[]): void {
  const writes = prepare(ctx, changes)
  if (writes.length === 0) return
  mustKeepJournal(ctx.root)
  const before = new Map(writes.map(({ change }) => [change.file, entryOf(ctx.root, change.file) ?? null]))
  const entries = new Map<string, Entry | null>()
  for (const { change, dirs } of writes) {
    const { file, after, undo } = change
    const isOurs = after !== null && undo !== undefined && undo.steps.length > 0
    const all = [...(before.get(file)?.dirs ?? []), ...dirs]
    entries.set(file, isOurs ? { ...undo, written: sha256(after), dirs: all } : null)
  }
  const made = new Map([...before].map(([file, entry]) => [file, entry?.dirs]))
  keepJournal(ctx.root, entries) // first: a crash between the two leaves a note of nothing, not a change without a note
  try {
    writeAll(ctx, writes)
  } catch (error) {
    keepJournal(ctx.root, before)
    throw error
  }
  removeDirs(ctx, writes, made)
}

/** The folders that wiring made for files which are gone go with the last file in them. */
function removeDirs(ctx: ClientContext, writes: readonly Write[], made: ReadonlyMap<string, string[] | undefined>) {
  for (const { change } of writes) {
    const { file, after } = change
    if (after !== null) continue
    const ours = basename(file).startsWith('tidemark.') || (isInside(file, ctx.root) && dirname(file) !== ctx.root)
    const dirs = made.get(file) ?? (ours ? [dirname(file)] : []) // without a journal: the folder of a file that was all ours
    for (const dir of [...dirs].reverse()) removeIfEmpty(dir)
  }
}

/** Carries out an unwiring plan; folders that wiring made go with the last file in them. */
export function applyUnwiring(ctx: ClientContext, changes: readonly WiringChange[]): void {
  const writes = prepare(ctx, changes)
  const made = new Map(writes.map(({ change }) => [change.file, entryOf(ctx.root, change.file)?.dirs]))
  writeAll(ctx, writes)
  removeDirs(ctx, writes, made)
  const known = new Set(knownFiles(ctx))
  const settled = journalFiles(ctx.root).filter((file) => {
    if (!known.has(file)) return false // whatever names it, no client of ours reads or writes it
    const text = readText(file)
    return made.has(file) || text === null || sha256(text) === entryOf(ctx.root, file)?.original
  })
  keepJournal(ctx.root, new Map(settled.map((file) => [file, null])))
}
