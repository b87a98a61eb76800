import { existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { attempt, UserError, whenCode } from '../../base/errors.ts'
import { closing, removeInside, replaceFile } from '../../base/files.ts'
import { whyNotOwn } from '../../base/git.ts'
import { kindOf, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Registry } from '../../model/registry.ts'
import { STATE } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import { projectAll } from '../materialize/apply.ts'
import type { Reader } from '../read/reader.ts'
import { snapshotNow } from '../store/backup.ts'
import { type Db, vacuum } from '../store/db.ts'
import { type OwnFile, ownFiles } from '../store/file-places.ts'
import { isAnyAsked, isAnyHeld } from '../store/held.ts'
import { isTombstone, type PurgeMark, tombstoneOf } from '../store/line.ts'
import * as log from '../store/log.ts'
import { dropMeta, getMeta, setMeta } from '../store/meta.ts'
import { Prompts } from '../store/prompts.ts'
import { forgetErased, getRow, idsOfKind } from '../store/rows.ts'
import { truncateWal } from '../store/sqlite.ts'
import { reindexHeld } from './held.ts'
import { HEADER } from './purge.ts'
import { scrubArchive } from './rotation.ts'

export interface Places {
  /** Roots of the work trees that show it. */
  readonly trees: readonly string[]
  readonly state: string
  readonly project: string
}

/** A shorter text says nothing: it may stand anywhere. What is named to be erased counts from four letters on. */
const TELLING = 12
const LEAST = 4

const textsIn = (value: Json | undefined): string[] =>
  typeof value === 'string'
    ? [value]
    : value !== null && typeof value === 'object'
      ? Object.entries(value).flatMap(([key, v]) => (Array.isArray(value) ? textsIn(v) : [key, ...textsIn(v)]))
      : []

/** What an entity and its links ever said. */
function textsOf(db: Db, id: string): string[] {
  const links = log
    .eventsHolding(db, id)
    .filter(({ event }) => event.entity.startsWith(`${LINK_KIND}:`) && event.value === id)
    .map(({ event }) => event.entity)
  return [id, ...new Set(links)].flatMap((entity) =>
    log
      .eventsOf(db, entity)
      .filter(({ event }) => event.field !== STATE && event.field !== 'provenance')
      .flatMap(({ event }) => textsOfEvent(event)),
  )
}

const textsOfEvent = ({ value, path = [] }: Event): string[] => [...textsIn(value), ...path]

/** What purges of a batch are to erase, as it stands on the disk before. */
interface ToErase {
  readonly secrets: readonly string[]
  /** All that the entities which go ever said, and their names. */
  readonly said: readonly string[]
}

function aboutToErase(db: Db, reader: () => Reader, actions: readonly Action[]): ToErase {
  // who agrees to what others ask for erases as well
  const erases = new Set(isAnyAsked(db) || isAnyHeld(db) ? ['purge', 'confirm'] : ['purge'])
  const purges = actions.flatMap(([verb, args]) => (erases.has(verb) ? [args] : []))
  const secrets = purges.flatMap(({ secret }) => (typeof secret === 'string' ? [secret.normalize('NFC')] : []))
  const said = purges.flatMap(({ ref }) => {
    const found = typeof ref === 'string' ? reader().find(ref, true) : []
    return found.flatMap((e) => [e.name, ...textsOf(db, e.id).filter((text) => text.length >= TELLING)])
  })
  const least = (text: string) => text.length >= LEAST
  return { secrets: secrets.filter(least), said: [...new Set(said)].filter(least) }
}

type Action = readonly [verb: string, args: Readonly<Record<string, unknown>>]

/** The erasure that is agreed to. */
export function proposedErasure(reader: Reader, [verb, { ref }]: Action): Action | undefined {
  if (verb !== 'confirm' || typeof ref !== 'string') return undefined
  const [proposal] = reader.find(ref)
  const action = proposal?.kind === 'proposal' ? (JSON.parse(String(proposal.fields.action)) as Action) : undefined
  return action?.[0] === 'purge' ? action : undefined
}

/** What erasures of another replica are to erase here, as it stands before. */
export function textsToErase(db: Db, purges: readonly PurgeMark[]): string[] {
  const whole = new Set(purges.map((p) => p.entity).filter(isTombstone))
  const ids = [...whole].flatMap((t) => idsOfKind(db, kindOf(t)).filter((id) => tombstoneOf(id) === t))
  const parts = purges.flatMap((p) => {
    const at = log.standing(db, p)
    const line = p.entity === HEADER ? log.lineOf(db, at.replica, at.seq) : undefined
    if (line) return textsIn([{ ...line.author }, line.raw.v === 1 ? line.raw.sum : ''])
    const erased = new Set([...(p.writes ?? []), ...(p.was ?? [])].map((ctr) => `${at.replica}:${ctr}`))
    for (const [replica, ctr] of p.before ?? []) erased.add(`${replica}:${ctr}`)
    const events = erased.size > 0 ? log.eventsOf(db, p.entity).map((e) => e.event) : []
    return events.filter((e) => erased.has(`${e.stamp.replica}:${e.stamp.ctr}`)).flatMap(textsOfEvent)
  })
  return [...new Set([...ids.flatMap((id) => textsOf(db, id)), ...parts])]
}

const isSaid = (db: Db, text: string) =>
  log.eventsHolding(db, text).length > 0 || log.headersHolding(db, text).length > 0

function placesOf(path: string, places: Places | undefined): OwnFile[] {
  const files = [
    ...ownFiles('store', dirname(path), basename(path)),
    ...(places?.trees ?? []).flatMap((root) => ownFiles('tree', join(root, '.tidemark'))),
    ...(places ? ownFiles('state', places.state) : []),
  ]
  const isOther = ({ path: file }: OwnFile) =>
    file.includes('/uninstalled/') && !basename(file).startsWith(`${places?.project}-`)
  return files.filter((f) => f.kind.knowledge && !isOther(f))
}

/** The forms in which a text stands in files: plain, on one line, in a view's line, in JSON, in JSON within JSON. */
function formsOf(text: string): Buffer[] {
  const line = text.replace(/\s+/g, ' ').trim()
  const forms = [
    text,
    line,
    line.replaceAll('\\', '\\\\').replaceAll('|', '\\|'),
    log.inJson(text),
    log.inJson(log.inJson(text)),
  ]
  // lines of 0.1.0 hold documents in base64: what stands in the middle of a text is the same at each of three places
  const inBase64 = [0, 1, 2].map((n) => {
    const bytes = Buffer.concat([Buffer.alloc(n), Buffer.from(text)])
    return bytes.toString('base64').slice(n === 0 ? 0 : 4, -4)
  })
  return [...new Set([...forms, ...inBase64.filter((t) => t.length >= 2 * LEAST)])]
    .filter((f) => f !== '')
    .map((f) => Buffer.from(f))
}

const CHUNK = 1 << 20

function countIn(file: string, needles: readonly Buffer[]): number {
  using open = attempt(() => closing(openSync(file, 'r')), whenCode(['ENOENT']))
  if (!open) return 0 // gone meanwhile
  const counts = needles.map(() => 0)
  const longest = Math.max(1, ...needles.map((n) => n.length))
  let tail = Buffer.alloc(0)
  const chunk = Buffer.alloc(CHUNK)
  for (;;) {
    const n = readSync(open.fd, chunk, 0, CHUNK, null)
    if (n === 0) return Math.max(0, ...counts)
    const data = Buffer.concat([tail, chunk.subarray(0, n)])
    for (const [i, needle] of needles.entries()) {
      // what ends in the tail was counted with the chunk before
      const from = Math.max(0, tail.length - needle.length + 1)
      for (let at = data.indexOf(needle, from); at !== -1; at = data.indexOf(needle, at + 1)) counts[i]!++
    }
    tail = Buffer.from(data.subarray(Math.max(0, data.length - longest + 1)))
  }
}

export const occurrences = (path: string, text: string, places?: Places): { file: string; count: number }[] =>
  placesOf(path, places).map((f) => ({ file: f.path, count: countIn(f.path, formsOf(text)) }))

/** Whether any file holds a text, although no knowledge does. */
export const filesHold = (path: string, text: string, places?: Places): boolean =>
  occurrences(path, text, places).some((o) => o.count > 0)

/** An erasure that is not finished: the files to clean (never the texts), and the step where it goes on. */
type Mark = { readonly files: readonly string[]; readonly step: 'files' | 'log' }
const MARK = 'erasing'

export const isErasing = (db: Db): boolean => getMeta(db, MARK) !== undefined

/** Is written anew as a whole with every erasure, whatever it holds. */
const isStore = ({ kind, path }: OwnFile) => kind.place === 'store' && !/\.log(\.1)?$|\.missed$|prompts\.db/.test(path)

const readMark = (db: Db): Mark | undefined => {
  const text = getMeta(db, MARK)
  return text === undefined ? undefined : (JSON.parse(text) as Mark)
}
const putMark = (db: Db, mark: Mark): void => setMeta(db, MARK, JSON.stringify(mark))

/** Cleans every file after an erasure; can be repeated. @throws UserError `still-read` where a reader keeps the write-ahead log. */
export function finishErasure(
  db: Db,
  registry: () => Registry,
  now: number,
  places: Places | undefined,
  texts?: readonly string[],
): string[] {
  const mark = readMark(db)
  if (mark === undefined) return []
  const told: string[] = []
  let isEmptied: boolean
  if (mark.step === 'log') isEmptied = truncateWal(db.raw)
  else {
    db.write(() => {
      scrubArchive(db, texts)
      forgetErased(db, (id) => getRow(db, id) !== undefined)
      projectAll(db, registry())
      reindexHeld(db, registry())
    })
    const copies = ownFiles('store', dirname(db.path), basename(db.path)).filter((f) =>
      /damaged|restoring|partial|adopting/.test(f.kind.path),
    )
    for (const { path } of copies) removeInside(dirname(path), basename(path))
    if (copies.length > 0)
      told.push(`removed copies of the store that may hold it: ${copies.map((f) => basename(f.path)).join(', ')}`)
    for (const f of placesOf(db.path, places))
      if (mark.files.includes(f.path)) told.push(...cleanFile(f, places, texts))
    isEmptied = vacuum(db)
    if (existsSync(join(dirname(db.path), 'backups'))) snapshotNow(db.raw, db.path, now, true)
    if (!isEmptied) db.write(() => putMark(db, { files: [], step: 'log' }))
  }
  if (!isEmptied) {
    const message = `a process reads the store: what was erased stays in ${basename(db.path)} and its write-ahead log until it ends`
    const hint = `the next command that writes, or \`tidemark doctor\`, finishes it; \`fuser -v ${db.path}\` lists who has it open`
    throw new UserError('still-read', message, hint)
  }
  db.write(() => dropMeta(db, MARK))
  return told
}

function whyForeign(path: string, places: Places | undefined): string | undefined {
  const root = places?.trees.find((tree) => path.startsWith(join(tree, '.tidemark')))
  return root === undefined ? undefined : whyNotOwn(root, path.slice(root.length + 1))
}

/** A file of the log that travels with git; `sync` writes it anew. */
const isSegment = (kind: string): boolean => kind.startsWith('log/')

function cleanFile({ path, kind }: OwnFile, places: Places | undefined, texts?: readonly string[]): string[] {
  if (isSegment(kind.path) || whyForeign(path, places) !== undefined) return [] // the proof names it
  if (kind.path.startsWith('extraction.db')) {
    removeInside(dirname(path), basename(path)) // nothing reads it any more
    return []
  }
  if (kind.path.startsWith('prompts.db')) {
    if (kind.path.endsWith('.damaged')) removeInside(dirname(path), basename(path))
    using prompts = Prompts.open(path.replace(/-(wal|shm|journal)$|\.damaged$/, ''))
    prompts?.erase(texts)
    return texts === undefined
      ? ['removed what was typed in sessions: what of it had to go was not known any more']
      : []
  }
  const isPersons = kind.path.includes('.edited-') || kind.path.startsWith('retro/')
  const keepsRest = texts !== undefined && (isPersons || kind.place === 'store')
  if (keepsRest) {
    const needles = texts.flatMap(formsOf).map(String)
    let text = readFileSync(path, 'utf8')
    for (const needle of needles.toSorted((a, b) => b.length - a.length)) text = text.replaceAll(needle, '(erased)')
    replaceFile(path, text, { sync: true })
  } else removeInside(dirname(path), basename(path))
  const isCache = kind.path.includes('{view}.md') || kind.path.startsWith('local/')
  return isCache ? [] : [`${keepsRest ? 'erased it from' : 'removed'} ${path}`]
}

export class Erasure {
  readonly #db: Db
  readonly #places: Places | undefined
  readonly #all: ToErase
  /** What nothing says any more, once it is marked. */
  gone: readonly string[] = []

  /** `all`: as it stands on the disk before. */
  constructor(db: Db, places: Places | undefined, all: ToErase) {
    this.#db = db
    this.#places = places
    this.#all = all
  }

  /** What purges of a batch are to erase. */
  static ofActions(db: Db, places: Places | undefined, reader: () => Reader, actions: readonly Action[]): Erasure {
    return new Erasure(db, places, aboutToErase(db, reader, actions))
  }

  /** Notes, in the transaction of the erasure, which files are to be cleaned after it. */
  mark(): void {
    const { secrets, said } = this.#all
    this.gone = [...secrets, ...said.filter((text) => text.length >= TELLING)].filter((text) => !isSaid(this.#db, text))
    const needles = this.gone.flatMap(formsOf)
    const holding = placesOf(this.#db.path, this.#places).filter((f) => !isStore(f) && countIn(f.path, needles) > 0)
    const before = readMark(this.#db)?.files ?? []
    putMark(this.#db, { files: [...new Set([...before, ...holding.map((f) => f.path)])], step: 'files' })
  }

  proof(): string[] {
    const [db, places, erased] = [this.#db, this.#places, [...this.#all.secrets, ...this.#all.said]]
    if (erased.length === 0) return []
    const [elsewhere, gone] = [erased.filter((t) => isSaid(db, t)), erased.filter((t) => !isSaid(db, t))]
    const files = placesOf(db.path, places)
    const holding = files.filter((f) => countIn(f.path, gone.flatMap(formsOf)) > 0)
    const isOpen = (f: OwnFile) => f.kind.path.startsWith('{store}{') && isErasing(db)
    const notes = elsewhere.length > 0 ? ['some of what it said still stands: something else says it too'] : []
    if (holding.length === 0) {
      if (gone.length > 0)
        notes.push(
          `looked through ${files.length} files, with snapshots, archive, logs and views: what was erased stands in none of them`,
        )
      return notes
    }
    for (const f of holding) {
      const why = isOpen(f)
        ? 'a process reads the store; the next command that writes finishes it'
        : /^(?:\{store\}\{|backups\/)/.test(f.kind.path)
          ? `something else quotes it, such as a handoff: erase that, or the words everywhere with act [["purge", {"secret": "…"}]]`
          : isSegment(f.kind.path)
            ? 'another machine wrote it there, and writes it anew with its next `tidemark sync`'
            : (whyForeign(f.path, places) ?? 'delete it by hand')
      notes.push(`what was erased still stands in ${f.path}: ${why}`)
    }
    return notes
  }
}
