import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../base/errors.ts'
import { readInside, SLACK_MS } from '../../base/files.ts'
import { sha256 } from '../../model/digest.ts'
import { isPage, kindOf, saidBy } from '../../model/entity.ts'
import * as code from '../store/code-anchors.ts'
import type { Db } from '../store/db.ts'
import { getMeta } from '../store/meta.ts'
import { getSession, listSessions, type SessionRow } from '../store/presence.ts'
import type { Reader } from './reader.ts'

/** Why what an entity says of the code may no longer hold. */
export interface Stale {
  readonly id: string
  /** As a sentence without its end: `open in src/a.ts changed`. */
  readonly why: string
  readonly since: number
  /** The stale entity that it rests on, where its own places are as they were. */
  readonly restsOn?: string
  /** A file changed since it was seen, and nobody judged yet what that means. */
  readonly isUnread?: true
  readonly anchors: readonly code.AnchorRow[]
}

/** So many places that were never found are looked for. */
const MOST_DUE = 500

/** A larger file is told apart by its size and time alone. */
const MOST_BYTES = 1_000_000

/** What says how code is to be, or was tried: notes on code as it is are no longer true after any change. */
const INTENDED = new Set(['decision', 'failed-approach'])

/** Whether the session that decided is the one that changed the file: its change does not outdate what it decided. */
export function isCarriedOut(
  db: Db,
  root: string,
  reader: Reader,
  { entity, path }: code.AnchorRow,
  sessions: () => readonly SessionRow[] = () => listSessions(db),
): boolean {
  const e = INTENDED.has(kindOf(entity)) ? reader.entity(entity) : undefined
  const own = e && getSession(db, String(saidBy(e).session))
  const hasEdited = ({ data }: SessionRow) => Array.isArray(data.files) && data.files.includes(path)
  if (!own || !hasEdited(own)) return false
  const changed = own.data.changed as { [file: string]: { at: number } } | undefined
  const now = lstatSync(join(root, path), { throwIfNoEntry: false })
  // who wrote it later is not known
  if (!now?.isFile() || now.mtimeMs > (changed?.[path]?.at ?? 0) + SLACK_MS) return false
  return !sessions().some((s) => s.id !== own.id && hasEdited(s))
}

/** Why a file is not as it was seen last, and since when, by its size and time, and by its bytes where those differ. */
function changeOf(
  root: string,
  path: string,
  seen: code.FileRow | undefined,
): { why: string; since: number } | undefined {
  if (!seen) return undefined
  const now = lstatSync(join(root, path), { throwIfNoEntry: false })
  if (!now?.isFile()) return { why: `${path} is gone`, since: Math.trunc(seen.mtime) }
  if (now.size === seen.size && now.mtimeMs === seen.mtime) return undefined
  const bytes = now.size === seen.size && now.size <= MOST_BYTES ? readInside(root, path, MOST_BYTES) : undefined
  if (bytes && sha256(bytes) === seen.hash) return undefined
  return { why: `${path} changed since`, since: Math.trunc(now.mtimeMs) }
}

/** Files with anchors that are not as they were seen last, and those of which only the time differs. `isOver` stops early. */
export function lookAtAnchored(
  db: Db,
  root: string,
  isOver: () => boolean,
): { changed: string[]; touched: code.FileRow[] } {
  const [changed, touched]: [string[], code.FileRow[]] = [[], []]
  for (const seen of code.anchoredFiles(db, root)) {
    if (isOver()) break
    const now = lstatSync(join(root, seen.path), { throwIfNoEntry: false })
    if (now?.isFile() && now.size === seen.size && now.mtimeMs === seen.mtime) continue
    const { hash } = seen
    if (hash === null) {
      if (now?.isFile()) changed.push(seen.path)
    } else if (changeOf(root, seen.path, { ...seen, hash })) changed.push(seen.path)
    else if (now) touched.push({ ...seen, hash, mtime: now.mtimeMs })
  }
  return { changed, touched }
}

/** What is stale in a work tree: as it was judged, and by a look at the files of what is asked about. */
export class Staleness {
  readonly #db: Db
  readonly #root: string
  readonly #reader: Reader
  readonly #own: ReadonlyMap<string, code.AnchorRow[]>
  readonly #isSeen: boolean
  readonly #allSessions = (): readonly SessionRow[] => (this.#sessions ??= listSessions(this.#db)) // of many anchors
  #sessions: readonly SessionRow[] | undefined
  readonly #files = new Map<string, { why: string; since: number } | undefined>()

  constructor(db: Db, root: string, reader: Reader) {
    this.#db = db
    this.#root = root
    this.#reader = reader
    this.#isSeen = getMeta(db, code.cursorKey(root)) !== undefined
    const isStale = (a: code.AnchorRow) =>
      / is gone(?: from |$)/.test(a.stale!) || !isCarriedOut(db, root, reader, a, this.#allSessions)
    this.#own = Map.groupBy(code.staleAnchors(db, root).filter(isStale), (a) => a.entity)
  }

  /** Of an entity, by its own places or by one that it rests on. */
  of(id: string): Stale | undefined {
    const own = this.#own.get(id)
    if (own?.every((a) => this.#isBack(a))) {
      const why = [...new Set(own.map(({ path }) => `${path} is back`))].join('; ')
      return { ...ownStale(id, own), why, isUnread: true }
    }
    if (own) return ownStale(id, own)
    return this.#unread(id) ?? (this.#own.size > 0 ? this.#basis(id) : undefined)
  }

  /** What was gone when somebody looked is there again. */
  #isBack({ path }: code.AnchorRow): boolean {
    const isThere = lstatSync(join(this.#root, path), { throwIfNoEntry: false })?.isFile() === true
    return isThere && !code.fileSeen(this.#db, this.#root, path)
  }

  #isMissing({ path }: code.AnchorRow): boolean {
    return attempt(() => lstatSync(join(this.#root, path))) === undefined // also what is too long for a name
  }

  /** Where a file lies now that was never seen at its path: one of its name, in a folder of the same name. */
  #movedTo(path: string): string | undefined {
    const end = path.split('/').slice(-2)
    const [found, ...others] = end.length > 1 ? code.filesEndingIn(this.#db, this.#root, `/${end.join('/')}`) : []
    return others.length > 0 ? undefined : found
  }

  /** What nobody judged yet. */
  #unread(id: string): Stale | undefined {
    const all = code.anchorsOf(this.#db, this.#root, id)
    const anchors = all.filter((a) => a.hash !== '')
    if (anchors.length === 0 && !this.#isSeen && code.isAnchored(this.#db, id)) {
      // the same file as in the work tree where it was looked at
      const there = code.filesElsewhere(this.#db, id)
      if (there.length > 0 && there.every((seen) => changeOf(this.#root, seen.path, seen) === undefined))
        return undefined
      return { id, why: 'nobody looked at the code of this work tree yet', since: 0, isUnread: true, anchors }
    }
    const changes = anchors.flatMap((a) => {
      const { path } = a
      if (!this.#files.has(path))
        this.#files.set(path, changeOf(this.#root, path, code.fileSeen(this.#db, this.#root, path)))
      const change = this.#files.get(path)
      return change && !isCarriedOut(this.#db, this.#root, this.#reader, a, this.#allSessions) ? change : []
    })
    const isMissing = all.length > 0 && all.every((a) => a.hash === '' && this.#isMissing(a))
    const moved = isMissing ? this.#movedTo(all[0]!.path) : undefined
    if (moved !== undefined)
      return {
        id,
        why: `${all[0]!.path} is not in this work tree; ${moved} may be it`,
        since: 0,
        isUnread: true,
        anchors,
      }
    if (changes.length === 0) return undefined
    const why = [...new Set(changes.map((c) => c.why))].join('; ')
    return { id, why, since: Math.min(...changes.map((c) => c.since)), isUnread: true, anchors }
  }

  #basis(id: string): Stale | undefined {
    for (const link of this.#reader.edges('from', [id])) {
      if (this.#reader.registry().relation(link.type)?.impact !== 'backward') continue
      const basis = this.#own.get(link.to)
      if (basis)
        return { ...ownStale(id, basis), why: `rests on ${link.to}, which is stale`, restsOn: link.to, anchors: [] }
    }
    return undefined
  }

  /** Everything that is stale, the latest first, each followed by what rests on it; then what nobody judged yet. */
  all(): Stale[] {
    const found = new Map<string, Stale>()
    const add = (id: string) => {
      const e = this.#reader.entity(id)
      // nobody is asked whether what was replaced still holds
      const isOver = e?.fields.retired !== undefined || this.#reader.edges('to', [id], ['supersedes']).length > 0
      const stale = e?.live && !isOver && !isPage(e) ? this.of(id) : undefined
      if (stale) found.set(id, stale)
    }
    for (const id of this.#own.keys()) {
      add(id)
      for (const link of this.#reader.links('to', id)) if (!found.has(link.from)) add(link.from)
    }
    for (const path of lookAtAnchored(this.#db, this.#root, () => false).changed)
      for (const { entity } of code.anchorsAt(this.#db, this.#root, path)) if (!found.has(entity)) add(entity)
    for (const { entity } of code.dueAnchors(this.#db, this.#root, MOST_DUE)) if (!found.has(entity)) add(entity)
    return [...found.values()]
  }
}

const ownStale = (id: string, anchors: readonly code.AnchorRow[]): Stale => ({
  id,
  why: [...new Set(anchors.map((a) => a.stale))].join('; '),
  since: Math.min(...anchors.map((a) => a.since ?? 0)),
  anchors,
})

/** SHA-256 of what a file holds now, as far as it was seen. */
export const currentHash = (db: Db, root: string, { anchors }: Stale): string | undefined =>
  anchors[0] && code.fileSeen(db, root, anchors[0].path)?.hash

/** As it stands beside an entity. */
export const markOf = ({ why, since, restsOn, isUnread }: Stale): string =>
  isUnread ? why : restsOn === undefined ? `stale: ${why} since ${new Date(since).toISOString().slice(0, 10)}` : why
