import { existsSync } from 'node:fs'
import type { Memory } from '../../engine/memory.ts'
import { isCarriedOut } from '../../engine/read/stale.ts'
import type { AnchorRow, FileRow } from '../../engine/store/code-anchors.ts'
import * as code from '../../engine/store/code-anchors.ts'
import type { Db } from '../../engine/store/db.ts'
import { addPresence } from '../../engine/store/presence.ts'
import type { Project } from '../../engine/store/project.ts'
import { cleanPath } from '../../model/entity.ts'
import { ruleIn } from '../recall/contradictions.ts'
import { anchored, fileGone, type Judged, judge, movedTo } from './anchors.ts'
import { cachedText, keepManifest } from './cache.ts'
import { breathing, CodeTree, type FileStat } from './code-files.ts'
import { languageOf } from './languages.ts'
import { locationOf } from './location.ts'
import { keyOf, noteLocations } from './locations.ts'
import type { Parsed } from './parse.ts'

/** A file this young may change again within the same tick of its clock: its time says nothing. */
const YOUNG_MS = 2_000
/** So many files are stored at once: others write in between. */
const FILES_AT_ONCE = 500
const PATHS_TOLD = 20

export interface Scanned {
  readonly files: number
  readonly changed: number
  readonly gone: number
  /** Entities that were not stale before. */
  readonly stale: readonly string[]
}

interface ScanOptions {
  /** Only these paths, which were just changed or recorded. */
  readonly only?: readonly string[]
  /** Anchors that were not judged here yet, as `noteLocations` gave them. */
  readonly added?: ReadonlySet<string>
  progress?: ((line: string) => void) | undefined
  /** Nobody waits for it any more. */
  isOver?(): boolean
}

/** What changed since a work tree was seen last: its files are parsed, and the anchors in them judged. */
export async function scan(
  memory: Memory,
  project: Project,
  { only, added = noteLocations(memory, project.root), progress, isOver = () => false }: ScanOptions = {},
): Promise<Scanned> {
  const { db, env } = memory
  const { root } = project
  if (db.readOnly) return { files: 0, changed: 0, gone: 0, stale: [] } // what was seen before is told
  const tree = new CodeTree(root)
  const breathe = breathing()
  const seenRows = only ? only.flatMap((p) => code.fileSeen(db, root, p) ?? []) : code.filesSeen(db, root)
  const seen = new Map(seenRows.map((f) => [f.path, f]))
  const found = new Map<string, FileStat>()
  for (const file of only ? statsOf(tree, only) : tree.files()) {
    found.set(file.path, file)
    await breathe()
  }
  const changed = new Map<string, Parsed>()
  const before = new Map<string, FileRow>()
  /** Seen from now on: new files soon, changed ones together with what that means, or a killed process would leave them unjudged. */
  let fresh: FileRow[] = []
  const judged: FileRow[] = []
  const now = env.now()
  for (const file of found.values()) {
    if (isOver()) return { files: found.size, changed: 0, gone: 0, stale: [] }
    await breathe()
    const known = seen.get(file.path)
    if (known && known.size === file.size && known.mtime === file.mtime) continue
    const content = tree.read(file.path)
    if (!content) continue
    const row = { ...file, mtime: now - file.mtime < YOUNG_MS ? 0 : file.mtime, hash: content.hash }
    ;(known ? judged : fresh).push(row)
    if (known?.hash !== content.hash) {
      if (known) before.set(file.path, known)
      changed.set(file.path, await tree.parsed(file.path, content))
    }
    if (fresh.length < FILES_AT_ONCE) continue
    keepAll(db, root, fresh)
    fresh = []
    progress?.(`scanning: ${changed.size} of ${found.size} files`)
  }
  const gone = seenRows.filter((f) => !found.has(f.path))
  keepAll(db, root, fresh)
  const appeared = new Set([...found.keys()].filter((path) => !seen.has(path)))
  const stale = await new Judge(memory, tree, { changed, before, judged, gone, appeared, added, now }).run()
  if (tree.cached && (gone.length > 0 || [...changed.values()].some((p) => p.language !== 'text')))
    keepManifest(root, code.filesSeen(db, root).filter((f) => languageOf(f.path))) // biome-ignore format: a row
  return { files: found.size, changed: changed.size, gone: gone.length, stale }
}

const keepAll = (db: Db, root: string, rows: readonly FileRow[]): void => {
  if (rows.length > 0) db.write(() => rows.forEach((row) => void code.keepFile(db, root, row)))
}

const statsOf = (tree: CodeTree, paths: readonly string[]): FileStat[] =>
  paths.flatMap((path) => (tree.ignored.path(path) ? [] : (tree.stat(path) ?? [])))

interface Changes {
  readonly changed: ReadonlyMap<string, Parsed>
  /** What was seen of the changed ones before. */
  readonly before: ReadonlyMap<string, FileRow>
  /** The ones that were seen before, as they are now. */
  readonly judged: readonly FileRow[]
  readonly gone: readonly FileRow[]
  /** Files that were not there before: another one with the same content is a copy. */
  readonly appeared: ReadonlySet<string>
  /** Anchors that were not judged here yet. */
  readonly added: ReadonlySet<string>
  readonly now: number
}

const saidPath = (a: AnchorRow): string => cleanPath(locationOf(a.location).path)
/** Whether the file that an anchor left is there again. */
const isBack = (a: AnchorRow, appeared: ReadonlySet<string>): boolean =>
  saidPath(a) !== a.path && appeared.has(saidPath(a))

/** Judges the anchors that changes concern, and tells those that live of what became stale. */
class Judge {
  readonly #memory: Memory
  readonly #tree: CodeTree
  readonly #changes: Changes
  /** Files whose change nobody could judge: they count as not seen yet. */
  readonly #open = new Set<string>()

  constructor(memory: Memory, tree: CodeTree, changes: Changes) {
    this.#memory = memory
    this.#tree = tree
    this.#changes = changes
  }

  async run(): Promise<string[]> {
    const { changed, gone, appeared, added, judged } = this.#changes
    const { db } = this.#memory
    const { root } = this.#tree
    const missing = new Set(gone.map((f) => f.path))
    const isTouched = changed.size > 0 || missing.size > 0
    const concerned = (a: AnchorRow) =>
      a.hash === '' ||
      added.has(keyOf(a)) ||
      changed.has(a.path) ||
      missing.has(a.path) ||
      isBack(a, appeared) ||
      (isTouched && a.stale !== null)
    const pairs: [AnchorRow, AnchorRow][] = []
    for (const a of code.anchorsIn(db, root)) if (concerned(a)) pairs.push([a, await this.#judged(a)])
    if (pairs.length + missing.size + judged.length === 0) return []
    return db.write(() => {
      for (const path of missing) code.dropFile(db, root, path)
      for (const row of judged) if (!this.#open.has(row.path)) code.keepFile(db, root, row)
      return this.#keep(pairs.filter(([a, b]) => JSON.stringify(a) !== JSON.stringify(b)))
    })
  }

  async #judged(a: AnchorRow): Promise<AnchorRow> {
    const { before, gone, appeared, now } = this.#changes
    const { db, reader } = this.#memory
    const { root } = this.#tree
    const old = gone.find((f) => f.path === a.path)
    const path = isBack(a, appeared) ? saidPath(a) : ((old && this.#renamed(old)) ?? a.path)
    const row = path === a.path ? a : { ...a, path }
    const content = this.#tree.stat(path) ? this.#tree.read(path) : undefined
    if (!content) return row.hash === '' ? row : this.#moved(fileGone(row, now))
    const parsed = this.#changes.changed.get(path) ?? (await this.#tree.parsed(path, content))
    if (row.hash === '') return anchored(row, parsed, content.text)
    const [known, e] = [before.get(path), reader.entity(a.entity)]
    const found = judge(row, parsed, content.text, now, e ? ruleIn(e) : '', known && this.#tree.known(path, known.hash))
    if (found.open) this.#open.add(path)
    if (found.row.stale !== null && !found.gone && isCarriedOut(db, root, reader, row))
      return anchored(row, parsed, content.text)
    return this.#moved(found)
  }

  /** The file that has the content of one that is gone. */
  #renamed({ path, hash }: FileRow): string | undefined {
    return code
      .pathsOfContent(this.#memory.db, this.#tree.root, hash)
      .find((p) => p !== path && this.#changes.appeared.has(p) && existsSync(`${this.#tree.root}/${p}`))
  }

  /** Follows a symbol into another file. */
  #moved({ row, gone }: Judged): AnchorRow {
    if (!gone || row.symbol === '') return row
    const into = (path: string, parsed: Parsed | undefined): AnchorRow | undefined => {
      const symbol = parsed && path !== row.path ? movedTo(row, parsed.symbols) : undefined
      return symbol && { ...row, path, symbol: symbol.name, stale: null, since: null }
    }
    for (const [path, parsed] of this.#changes.changed) {
      const found = into(path, parsed)
      if (found) return found
    }
    if (row.since !== this.#changes.now) return row // all others were looked through when it went
    const hash = row.hash.slice(row.hash.indexOf(':') + 1)
    for (const file of code.filesSeen(this.#memory.db, this.#tree.root)) {
      if (!languageOf(file.path) || !cachedText(this.#tree.root, file.hash)?.includes(hash)) continue
      const found = into(file.path, this.#tree.known(file.path, file.hash))
      if (found) return found
    }
    return row
  }

  /** Inside a write: what another process has judged meanwhile stands. */
  #keep(pairs: readonly (readonly [AnchorRow, AnchorRow])[]): string[] {
    const { db, env } = this.#memory
    const { root } = this.#tree
    const stale = new Map<string, string>()
    for (const [was, row] of pairs) {
      const there = code.anchorsOf(db, root, was.entity).find((a) => a.location === was.location)
      if (there?.hash !== was.hash) continue
      code.keepAnchor(db, root, row)
      if (row.stale !== null && there.stale === null) stale.set(row.entity, row.path)
    }
    const open = new Set(code.staleAnchors(db, root).map((a) => a.entity))
    for (const id of stale.keys()) if (!open.has(id)) stale.delete(id)
    const paths = [...new Set(stale.values())]
    const told = { path: paths[0]!, paths: paths.slice(0, PATHS_TOLD), root, entities: stale.size }
    if (paths.length > 0) addPresence(db, env.now(), '', 'stale', told)
    return [...stale.keys()]
  }
}
