import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Cells } from '../crdt/cells.ts'
import { tick } from '../crdt/hlc.ts'
import { type Env, systemEnv } from '../env.ts'
import { UserError } from '../errors.ts'
import { type GateProblem, gate } from '../schema/canonical.ts'
import type { Json } from '../schema/field.ts'
import type { Kind } from '../schema/kind.ts'
import { createRegistry, type Registry } from '../schema/registry.ts'
import type { Relation } from '../schema/relation.ts'
import { archiveFiles } from '../store/archive.ts'
import { snapshotIfDue, snapshotNow } from '../store/backup.ts'
import { coverable } from '../store/coverage.ts'
import { type Db, openDb, storeFiles, vacuum } from '../store/db.ts'
import { keptHolds } from '../store/defines.ts'
import { type Author, seal } from '../store/line.ts'
import * as log from '../store/log.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import * as presence from '../store/presence.ts'
import * as rows from '../store/rows.ts'
import { clearWords, queueAll, TEXT_VERSION } from '../store/texts.ts'
import { isOwnReplica } from '../store/trust.ts'
import { watchCommits } from '../store/watch.ts'
import { dropOldWork, forgetErasedWork, keepWork, workOf } from '../store/work.ts'
import { applyLine, Docs, projectState, reprojectKinds, writeToDocs } from './apply.ts'
import { type Action, parseBatch, planBatch } from './batch.ts'
import { compact, snapshotOf } from './compact.ts'
import { type Entity, KIND_KIND, kindOf, RELATION_KIND } from './entity.ts'
import { type Ingested, ingest, parseDelivery } from './ingest.ts'
import type { Result, View } from './plan.ts'
import { withProjectKinds } from './project-registry.ts'
import { applyPurges } from './purge.ts'
import { entityOf, momentOf, type Reader, readAsOf, readNow } from './read.ts'
import { type Progress, rebuildAll } from './rebuild.ts'
import { replicaFor, saveClock } from './replica.ts'
import { archiveCovered, rotatePresence, scrubArchive } from './rotate.ts'
import { screen } from './secrets.ts'
import { presenceNews } from './stream.ts'
import type { Verb } from './verb.ts'
import { type Place, placeOn } from './work.ts'

export interface MemoryOptions {
  /** The store's SQLite file. */
  path: string
  projectId: string
  /** What people call the project; its id unless given. */
  projectName?: string
  kinds: readonly Kind[]
  relations: readonly Relation[]
  verbs: readonly Verb[]
  env?: Env
  create?: boolean
  /** Provenance of every batch unless the call says otherwise; asked anew each time. */
  author?(): Author
}

export interface ActOptions extends Author {
  /** Store secrets as their category instead of refusing the batch. */
  redact?: boolean
}

export interface ActResult {
  /** `replica:seq`, what `undo` takes; null if nothing changed. */
  batch: string | null
  results: Result[]
  notes: string[]
}

/** A committed batch as watchers hear of it. */
export interface News {
  /** Order of arrival here: what a cursor holds. */
  seq: number
  batch: string
  at: number
  received: number
  author: Author
  summary: string
  events: log.LoggedEvent[]
  /** What happened with sessions and claims; then there is no batch, and nothing was learned. */
  presence?: presence.PresenceEvent
}

/** A session that has started nothing for so long has ended; nobody says so when a process dies. */
const WORK_KEPT_MS = 90 * 86_400_000

/** So much is read at a time for one who follows. */
const NEWS_PAGE = 1000

const AUTHOR_FIELDS = ['session', 'agent', 'user', 'branch', 'commit', 'task', 'source'] as const

/** One project's knowledge on this machine, open in this process. Synchronous; safe beside any number of others. */
export class Memory {
  readonly #db: Db
  readonly #env: Env
  readonly #options: MemoryOptions
  readonly #core: Registry
  readonly #verbs: ReadonlyMap<string, Verb>
  readonly #listeners = new Set<() => void>()
  #registry: { registry: Registry; key: string } | undefined
  #stopWatching: (() => void) | undefined
  #open = true

  constructor(options: MemoryOptions) {
    this.#options = options
    this.#env = options.env ?? systemEnv
    this.#core = createRegistry(options.kinds, options.relations)
    this.#verbs = new Map(options.verbs.map((v) => [v.verb, v]))
    this.#db = openDb(options.path, {
      create: options.create ?? false,
      beforeMigration: (raw) => void snapshotNow(raw, options.path, this.#env.now()),
    })
    try {
      this.#settleProject()
      this.#settleTexts()
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  get path(): string {
    return this.#db.path
  }
  get projectId(): string {
    return this.#options.projectId
  }
  get verbs(): ReadonlyMap<string, Verb> {
    return this.#verbs
  }
  get env(): Env {
    return this.#env
  }
  /** The SQLite file, for commands that look after it (doctor, defines of discover sessions). */
  get db(): Db {
    return this.#db
  }

  #settleProject(): void {
    const there = getMeta(this.#db, 'project')
    if (there === undefined)
      this.#db.write(() => void (getMeta(this.#db, 'project') ?? setMeta(this.#db, 'project', this.#options.projectId)))
    else if (there !== this.#options.projectId) {
      throw new UserError(
        'other-project',
        `the store ${this.#options.path} belongs to project ${there}, not to ${this.#options.projectId}`,
        'the id in .tidemark/config.json was changed, or the store was moved: put the id back, or move the store away',
      )
    }
  }

  /** A store whose texts were taken apart in another way, by an older version, has its indexes of them made anew. */
  #settleTexts(): void {
    const db = this.#db
    if (getMeta(db, 'text_version') === TEXT_VERSION) return
    db.write(() => {
      if (getMeta(db, 'text_version') === TEXT_VERSION) return
      this.#projectAll()
      setMeta(db, 'text_version', TEXT_VERSION)
    })
  }

  /** Computes every row and the index of words again from the documents; vectors stay where they are. */
  #projectAll(): void {
    const db = this.#db
    clearWords(db)
    for (const row of rows.allRows(db))
      projectState(db, this.registry(), row.id, rows.loadDoc(db, row.id)!, row.updated, row.version, true)
    queueAll(db)
  }

  /** The kinds and relations known now: core and the project's own. */
  registry(): Registry {
    const key = rows.versionsOfKinds(this.#db, KIND_KIND, RELATION_KIND)
    if (this.#registry?.key !== key) {
      const defined = [KIND_KIND, RELATION_KIND]
        .flatMap((kind) => rows.idsOfKind(this.#db, kind))
        .map((id) => entityOf(rows.getRow(this.#db, id)!))
      this.#registry = {
        key,
        registry: defined.length === 0 ? this.#core : withProjectKinds(this.#core, this.#core, defined),
      }
    }
    return this.#registry.registry
  }

  /** Everything that can be asked, now. */
  get reader(): Reader {
    this.#mustBeOpen()
    return readNow(this.#db, () => this.registry())
  }

  /** Everything that can be asked, as of a moment; a day means its end. */
  asOf(at: string | number | Date): Reader {
    this.#mustBeOpen()
    return readAsOf(this.#db, () => this.registry(), momentOf(at))
  }

  /**
   * Writes a batch, entirely or not at all. Returns when it is on disk.
   * @throws UserError `refused` with every problem of every action in `details.problems`; nothing was written.
   */
  act(input: unknown, options: ActOptions = {}): ActResult {
    this.#mustBeOpen()
    const { batch, notes } = parseBatch(input)
    notes.push(...this.#notesOnProject(batch.projectId))
    const { redact = false, ...said } = options
    const { actions, projectId: _projectId, redact: redactBatch = false, ...ownSaid } = batch
    const redacting = redact || redactBatch
    const author = this.#author({ ...ownSaid, ...said }, redacting)
    const erased = this.#aboutToErase(batch.actions)
    const outcome = this.#db.write(() => this.#write(actions, author, redacting))
    if (outcome.purged) {
      this.#scrub(secretsIn(batch.actions))
      outcome.result.notes.push(...this.#proof(erased))
    }
    if (outcome.told || outcome.result.batch !== null) this.tellListeners()
    return { ...outcome.result, notes: [...notes, ...outcome.result.notes] }
  }

  /** A batch may name its project by id or name. An id of another one is a mistake; another name is only told. */
  #notesOnProject(named: string | undefined): string[] {
    const { projectId, projectName = projectId } = this.#options
    if (named === undefined || named === projectId || named === projectName) return []
    if (/^[0-9a-f]{20}$/.test(named)) {
      throw new UserError(
        'unknown-project',
        `this is not project "${named}"`,
        `leave projectId out, or give ${projectId}`,
      )
    }
    return [
      `projectId "${named.slice(0, 80).toWellFormed()}" is not the name of this project; written to ${projectName}`,
    ]
  }

  #author(said: Author, redacting: boolean): Author {
    const author: Author = {}
    for (const [key, value] of Object.entries({ ...this.#options.author?.(), ...said })) {
      if (typeof value !== 'string' || value === '') continue
      const problems: GateProblem[] = []
      const screened = screen(gate(value, problems), true)
      if (problems.length > 0)
        throw new UserError('refused', `${key}: ${problems[0]!.message}`, `give ${problems[0]!.accepted}`)
      if (screened.secrets.length > 0 && !redacting) {
        throw new UserError(
          'secret',
          `${key} looks like a secret (${screened.secrets[0]!.category})`,
          'leave it out, or write with --redact (redact: true)',
        )
      }
      author[key as Exclude<keyof Author, 'undoes'>] = String(screened.value)
    }
    return author
  }

  /** What a session works on: its current task, activity and goal. */
  place(session: string | undefined): Place {
    this.#mustBeOpen()
    return session === undefined ? {} : placeOn(workOf(this.#db, session), (id) => this.reader.entity(id))
  }

  /** A session goes on with the work of another one; inside a write. */
  carryWork(from: string, to: string): void {
    const path = workOf(this.#db, from)
    if (path.length > 0) keepWork(this.#db, to, path, this.#env.now())
  }

  /** Has the listeners of this process look at once; other processes hear the doorbell. */
  tellListeners(): void {
    for (const listener of this.#listeners) listener()
  }

  #write(
    actions: readonly Action[],
    said: Author,
    redacting: boolean,
  ): { result: ActResult; purged: boolean; told?: boolean } {
    const db = this.#db
    const now = this.#env.now()
    const replica = replicaFor(db, this.#env)
    const head = log.head(db, replica.tag)
    const ms = tick(replica.clock, now)
    const docs = new Docs(db)
    const view = this.#view(docs, now, said.session)
    const work = said.session === undefined ? undefined : workOf(db, said.session)
    const ofCurrentTask = work !== undefined && said.task === undefined
    const task = ofCurrentTask ? placeOn(work, view.entity).task : said.task
    const author: Author = task === undefined ? said : { ...said, task }
    const provenance: { [key: string]: Json } = {}
    for (const field of AUTHOR_FIELDS) if (author[field] !== undefined) provenance[field] = author[field]
    const batchId = `${replica.tag}:${head.seq + 1}`
    const planned = planBatch(
      view,
      {
        replica: replica.tag,
        ms,
        batch: batchId,
        ctr: replica.clock.ctr,
        provenance,
        ...(work !== undefined ? { work } : {}),
        ofCurrentTask,
        author: JSON.stringify(author),
        random: (n) => this.#env.random(n),
      },
      actions,
      {
        verbs: this.#verbs,
        redact: redacting,
        makeRegistry: (base, entities) => withProjectKinds(base, this.#core, entities),
      },
    )
    if (planned.work !== undefined && said.session !== undefined) {
      keepWork(db, said.session, planned.work, now)
      dropOldWork(db, now - WORK_KEPT_MS)
    }
    const { rows: claimed, told } = planned.claims
    if (said.session !== undefined && claimed.length > 0) presence.ensureSession(db, said.session, now)
    for (const row of claimed) presence.putClaim(db, row)
    for (const { session, type, body } of told) presence.addPresence(db, now, session, type, body)
    if (planned.events.length === 0 && planned.purges.length === 0) {
      return {
        told: told.length > 0,
        result: {
          batch: null,
          results: planned.results,
          notes:
            planned.work || planned.scrub || claimed.length > 0
              ? planned.notes
              : [...planned.notes, 'nothing changed: all of it was there already'],
        },
        purged: planned.scrub,
      }
    }
    for (const [to, from] of planned.moves) docs.move(from, to)
    const updates = writeToDocs(docs, planned.events, replica.tag)
    const line = seal({
      replica: replica.tag,
      seq: head.seq + 1,
      prev: head.hash,
      at: ms,
      author: planned.undone.length > 0 ? { ...author, undoes: [...planned.undone] } : author,
      summary: planned.summary,
      updates,
      events: planned.events,
      purges: planned.purges,
    })
    applyLine(db, docs, this.registry(), line, now, true)
    saveClock(db, { ms, ctr: replica.clock.ctr + planned.events.length })
    if (planned.purges.length > 0) applyPurges(db, this.registry(), planned.purges)
    if (planned.events.some((e) => kindOf(e.entity) === KIND_KIND))
      reprojectKinds(db, this.registry(), line.updates.keys())
    return {
      result: { batch: batchId, results: planned.results, notes: planned.notes },
      purged: planned.purges.length > 0,
    }
  }

  #view(docs: Docs, now: number, actor: string | undefined): View {
    const db = this.#db
    const entity = (id: string): Entity | undefined => {
      const row = rows.getRow(db, id)
      return row && entityOf(row)
    }
    return {
      registry: () => this.registry(),
      entity,
      cells: (id): Cells => docs.cells(id),
      byName: (key) => rows.rowsByName(db, key).map(entityOf),
      links: (end, id) => rows.linksAt(db, end, id),
      ofKind: (kind) => rows.listRows(db, kind, {}).map(entityOf),
      someNames: (limit) => rows.someNames(db, limit),
      eventsOf: (id) => log.eventsOf(db, id),
      batch(id) {
        const header = log.headerOf(db, id)
        if (!header) return undefined
        const { line } = header
        return {
          summary: line.summary,
          ...(line.author.session !== undefined ? { session: line.author.session } : {}),
          ...(line.author.undoes ? { undoes: line.author.undoes } : {}),
          events: line.events.map((event, i) => ({ id: `${id}:${i}`, batch: id, event })),
        }
      },
      isOwn: (replica) => isOwnReplica(db, replica),
      batchHash: (replica, seq) => log.hashOf(db, replica, seq),
      recentBatches: (limit, session) =>
        log
          .recentBatches(db, session === undefined ? limit : -1)
          .filter((b) => session === undefined || (JSON.parse(b.line) as { by: Author }).by.session === session)
          .slice(0, limit)
          .map((b) => `${b.replica}:${b.seq}`),
      eventsHolding: (t) => log.eventsHolding(db, t),
      idsOfKind: (kind) => rows.idsOfKind(db, kind),
      keptHolds: (t) => keptHolds(db, t),
      headersHolding: (t) => log.headersHolding(db, t),
      batchesOf: (id) => log.batchesOf(db, id),
      isErased: (tombstone) => log.isErased(db, tombstone),
      claims: {
        now,
        env: this.#env,
        open: () => presence.openClaims(db),
        session: (id) => presence.getSession(db, id) ?? (id === actor ? presence.newSession(id, now) : undefined),
        sessions: () => presence.listSessions(db),
        nextFence: () => presence.nextFence(db),
        lastOfRole: (role) => presence.lastOfRole(db, role),
        workOf: (session) => workOf(db, session),
      },
    }
  }

  /** Everything that happened to an entity, oldest first, with its batch's author. */
  history(id: string): (log.LoggedEvent & { author?: Author; summary?: string; received?: number })[] {
    return log.eventsOf(this.#db, id).map((e) => {
      const header = log.headerOf(this.#db, e.batch)
      return {
        ...e,
        ...(header ? { author: header.line.author, summary: header.line.summary, received: header.received } : {}),
      }
    })
  }

  /** Batches, and what happened with sessions and claims, in the order in which they arrived here, after a cursor. */
  newsSince(seq: number, limit?: number): News[] {
    // one snapshot, or what was committed between the two questions would be passed over
    const [told, batches] = this.#db.read(() => [
      presence.presenceAfter(this.#db, seq, limit),
      this.#batchesSince(seq, limit),
    ])
    if (told.length === 0) return batches
    const all = [...batches, ...told.map(presenceNews)].sort((a, b) => a.seq - b.seq)
    return limit === undefined ? all : all.slice(0, limit)
  }

  #batchesSince(seq: number, limit?: number): News[] {
    return log.newsAfter(this.#db, seq, limit).map(({ n, received, line }) => ({
      seq: n,
      batch: `${line.replica}:${line.seq}`,
      at: line.at,
      received,
      author: line.author,
      summary: line.summary,
      events: line.events.map((event, i) => ({
        id: `${line.replica}:${line.seq}:${i}`,
        batch: `${line.replica}:${line.seq}`,
        event,
      })),
    }))
  }

  /** What was written last, if that has not been folded away. */
  get lastBatch(): News | undefined {
    const n = log.lastLine(this.#db)
    return n === undefined ? undefined : this.#batchesSince(n - 1, 1)[0]
  }

  /** The cursor after which nothing has arrived yet. */
  get cursor(): number {
    return log.lastArrival(this.#db)
  }

  /**
   * Calls back with every batch committed after `since` (default: from now on), in order, each once, by whatever process.
   * One who writes when called is told of that afterwards. Returns the way to stop.
   */
  subscribe(onNews: (news: News) => void, options: { since?: number } = {}): () => void {
    this.#mustBeOpen()
    let cursor = options.since ?? this.cursor
    let delivering = false
    let more = false
    const deliver = () => {
      more = true
      if (delivering) return
      delivering = true
      try {
        while (more && this.#open) {
          const page = this.newsSince(cursor, NEWS_PAGE)
          more = page.length === NEWS_PAGE
          for (const news of page) {
            if (!this.#listeners.has(deliver)) return
            cursor = news.seq
            onNews(news)
          }
        }
      } finally {
        delivering = false
      }
    }
    this.#listeners.add(deliver)
    this.#stopWatching ??= watchCommits(this.#db, () => {
      for (const listener of this.#listeners) listener()
    })
    deliver()
    return () => {
      this.#listeners.delete(deliver)
      if (this.#listeners.size > 0) return
      this.#stopWatching?.()
      this.#stopWatching = undefined
    }
  }

  /**
   * What another replica that has seen up to `cursor` lacks, as bytes for its `applyUpdates`. The cursor is what the
   * last call gave; it belongs to this store, and one from before a restore simply sends everything again.
   */
  updatesSince(cursor = ''): { bytes: Uint8Array; cursor: string } {
    this.#mustBeOpen()
    return this.#db.read(() => {
      const store = getMeta(this.#db, 'inode') ?? ''
      const [from, n = '0'] = cursor.split('/')
      const last = this.cursor
      const since = from === store && Number(n) <= last ? Number(n) : 0
      const parts = [JSON.stringify({ tidemark: 1, project: this.#options.projectId })]
      const compacted = since < Number(getMeta(this.#db, 'compacted_n') ?? 0) ? snapshotLine(this.#db) : undefined
      if (compacted) parts.push(compacted)
      for (const l of log.rawLinesAfter(this.#db, since)) parts.push(l)
      return { bytes: new TextEncoder().encode(`${parts.join('\n')}\n`), cursor: `${store}/${last}` }
    })
  }

  /** Takes in what another replica's `updatesSince` gave; order, repetition and loss between calls do not matter. */
  applyUpdates(bytes: Uint8Array): Ingested {
    this.#mustBeOpen()
    const delivery = parseDelivery(bytes)
    if (delivery.project !== this.#options.projectId) {
      throw new UserError(
        'other-project',
        `these updates are of project ${delivery.project}, this is ${this.#options.projectId}`,
        'replicas meet within one project; import takes over knowledge from another',
      )
    }
    const result = this.#db.write(() =>
      ingest(
        this.#db,
        this.#env,
        () => this.registry(),
        delivery,
        (seq, limit) => this.newsSince(seq, limit),
      ),
    )
    if (result.erased) this.#scrub()
    if (result.applied > 0) for (const listener of this.#listeners) listener()
    return result
  }

  /** What the purges of a batch are to erase, as it stands on the disk before. */
  #aboutToErase(actions: readonly Action[]): string[] {
    return actions.flatMap(([verb, args]) => {
      if (verb !== 'purge') return []
      if (typeof args.secret === 'string') return [args.secret.normalize('NFC')]
      return typeof args.ref === 'string' ? this.reader.find(args.ref, true).map((e) => e.name) : []
    })
  }

  /** The proof of an erasure: the files of the store were searched for what had to go. What it was is not told. */
  #proof(erased: readonly string[]): string[] {
    return erased
      .filter((text) => text.length > 3)
      .map((text) => {
        const found = this.occurrences(text)
        const still = found.filter((o) => o.count > 0).length
        return still === 0
          ? `looked through the ${found.length} files of the store, snapshots included: what was erased stands in none of them`
          : `what it was called still stands in ${still} of ${found.length} files of the store: something else says it too`
      })
  }

  /** After an erasure: nothing of what was erased may stay in any file of the store. */
  #scrub(secrets: readonly string[] = []): void {
    const db = this.#db
    db.write(() => {
      scrubArchive(db, secrets)
      rows.clearDefines(db)
      forgetErasedWork(db, (id) => rows.getRow(db, id) !== undefined)
      this.#projectAll()
    })
    vacuum(db)
    const backups = join(dirname(db.path), 'backups')
    if (existsSync(backups)) snapshotNow(db.raw, db.path, this.#env.now(), true)
  }

  /** How often a text still stands in the store's files, snapshots included; what a purge proves itself by. */
  occurrences(textValue: string): { file: string; count: number }[] {
    const backups = join(dirname(this.#db.path), 'backups')
    const files = [
      ...storeFiles(this.#db.path),
      ...archiveFiles(this.#db.path),
      ...(existsSync(backups) ? readdirSync(backups).map((f) => join(backups, f)) : []),
    ]
    const needles = [textValue, JSON.stringify(textValue).slice(1, -1)].map((t) => Buffer.from(t))
    return files.map((file) => ({ file, count: Math.max(...needles.map((n) => countIn(file, n))) }))
  }

  /** Drops every index and makes it again from the log (C5). */
  rebuild(progress?: Progress): { entities: number; lines: number } {
    return this.#db.write(() => rebuildAll(this.#db, () => this.registry(), progress))
  }

  /** Folds history before a moment away (C6). */
  compact(before: string | number | Date): { lines: number; events: number; horizon: number } {
    const moment = momentOf(before)
    const result = this.#db.write(() => {
      archiveCovered(this.#db, coverable(this.#db, moment), (seq, limit) => this.newsSince(seq, limit))
      return compact(this.#db, moment)
    })
    vacuum(this.#db)
    return result
  }

  /** The daily snapshot and the rotation of events, if they are due. Surfaces call it when the answer is out. */
  maintain(): void {
    snapshotIfDue(this.#db, this.#env.now())
    rotatePresence(this.#db, this.#env.now())
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#stopWatching?.()
    this.#listeners.clear()
    this.#db.close()
  }

  get isOpen(): boolean {
    return this.#open
  }

  #mustBeOpen(): void {
    if (!this.#open) throw new UserError('closed', 'this memory is closed', 'open it again with openMemory')
  }
}

/** The texts that purges of a batch erase wherever they stand. */
const secretsIn = (actions: readonly Action[]): string[] =>
  actions.flatMap(([verb, args]) =>
    verb === 'purge' && typeof args.secret === 'string' ? [args.secret.normalize('NFC')] : [],
  )

const snapshotLine = (db: Db): string | undefined => {
  const s = snapshotOf(db)
  return s && JSON.stringify({ snapshot: s })
}

const CHUNK = 1 << 20

function countIn(file: string, needle: Buffer): number {
  const fd = openSync(file, 'r')
  try {
    let count = 0
    let tail = Buffer.alloc(0)
    const chunk = Buffer.alloc(CHUNK)
    for (;;) {
      const n = readSync(fd, chunk, 0, CHUNK, null)
      if (n === 0) return count
      const data = Buffer.concat([tail, chunk.subarray(0, n)])
      for (let at = data.indexOf(needle); at !== -1; at = data.indexOf(needle, at + 1)) count++
      tail = data.subarray(Math.max(0, data.length - needle.length + 1))
    }
  } finally {
    closeSync(fd)
  }
}
