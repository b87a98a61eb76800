/**
 * The memory of one project, open in this process: the class through which everything above reads and writes. It ties
 * `write/`, `read/`, `feed/` and `replication/` to one store.
 */

import { type Env, systemEnv } from '../base/env.ts'
import { UserError, unlessRefused } from '../base/errors.ts'
import { redact } from '../base/secrets/find.ts'
import { screen } from '../base/secrets/screen.ts'
import { type JsonProblem, normalizeJson } from '../model/canonical.ts'
import { type Entity, KIND_KIND, RELATION_KIND } from '../model/entity.ts'
import type { Kind } from '../model/kind.ts'
import { withProjectKinds } from '../model/project-registry.ts'
import { createRegistry, type Registry } from '../model/registry.ts'
import type { Relation } from '../model/relation.ts'
import { leaseTime } from './claims/lease.ts'
import { lastBatch, type News, newsSince, whatDid } from './feed/news.ts'
import { type SubscribeOptions, Subscribers } from './feed/subscribers.ts'
import { projectAll } from './materialize/apply.ts'
import { readAsOf, type Variant } from './read/past.ts'
import { entityOf, momentOf, type Reader, readNow } from './read/reader.ts'
import { type LineName, readWithout } from './read/view.ts'
import { type Place, placeOn } from './read/work-tree.ts'
import { compact, printSnapshot, snapshotOf } from './replication/compaction.ts'
import { settleDeclined } from './replication/decline.ts'
import * as erasing from './replication/erasure.ts'
import { settleFirstForm } from './replication/first-form.ts'
import { reindexHeld, settleAll, settleHeld } from './replication/held.ts'
import type { Delivery, Ingested, IngestOptions } from './replication/ingest.ts'
import { ingest, parseDelivery, printDelivery } from './replication/ingest.ts'
import { type Fault, faultsOf } from './replication/integrity.ts'
import { applyPurges } from './replication/purge.ts'
import { type Progress, rebuildAll } from './replication/rebuild.ts'
import { archiveCovered, rotatePresence } from './replication/rotation.ts'
import { signAnew } from './replication/sign-anew.ts'
import { decidingLines } from './replication/vouched.ts'
import { snapshotIfDue, snapshotNow } from './store/backup.ts'
import { remadeLines, sampleFaults } from './store/compare.ts'
import { coverable, momentsBefore } from './store/coverage.ts'
import { keepWork, workOf } from './store/current-work.ts'
import { type Db, type Queries, vacuum } from './store/db.ts'
import { isFirstForm } from './store/first-form.ts'
import { HELD_DUE, heldIds, isAnyHeld, isAsked, someAsked } from './store/held.ts'
import { isKeyed, isKeyOf, leaving, publicKey, sign } from './store/keys.ts'
import { type Author, isStandIn, type Line } from './store/line.ts'
import { rest } from './store/lock-wait.ts'
import * as log from './store/log.ts'
import { dropMeta, getMeta, setMeta } from './store/meta.ts'
import { openDb } from './store/open-db.ts'
import { keepLeft, ownIdentities, ownLines } from './store/own-lines.ts'
import { clampToNow, dropUnreadablePresence, forgetOld, isAheadOf } from './store/presence.ts'
import type { Range } from './store/ranges.ts'
import { keepWal } from './store/rescue.ts'
import * as rows from './store/rows.ts'
import { storeError } from './store/store-error.ts'
import { TEXT_VERSION } from './store/text-index.ts'
import { parseBatch } from './write/batch.ts'
import type { Actor } from './write/plan.ts'
import { SETTLES } from './write/settled-mutations.ts'
import type { Verb } from './write/verb.ts'
import { type ActResult, writeBatch } from './write/write.ts'

export type { News } from './feed/news.ts'
export type { ActResult } from './write/write.ts'

export interface MemoryOptions {
  /** Leaves what takes long to the next process: indexes of an older version, and a large store of one. A hook has no time. */
  hurried?: boolean
  path: string
  projectId: string
  aliases?: readonly string[] | undefined
  /** What people call the project; its id unless given. */
  projectName?: string
  kinds: readonly Kind[]
  relations: readonly Relation[]
  verbs: readonly Verb[]
  env?: Env
  create?: boolean
  /** Whether a store that 0.1.0 made, which has no mark of its owner, is this user's; it is unless given: who names a file means it. */
  mayTakeOver?(): boolean
  /** The directory of the store holds nothing else, and is closed to others. */
  ownDirectory?: boolean
  places?(): erasing.Places
  /** Writes the files that travel with git anew, without what was erased; says what it did. */
  rewriteShared?(): string[]
  author?(): Author
}

export interface ActOptions extends Author {
  /** Store secrets as their category instead of refusing the batch. */
  redact?: boolean
  /** Who wants it; an agent where one is named, else the person whose program this is. */
  by?: Actor
  /** Where a person typed some words: what an action names as `said` is kept as evidence. */
  evidence?: (quote: string) => string | undefined
  /** @internal */
  [SETTLES]?: boolean
}

/** Ends a write whose outcome alone is wanted. */
const TAKEN_BACK = Symbol('taken back')

const LINES_AT_ONCE = 1000

/** So often some old lines are compressed at a time: about 40 ms each. */
const PACKS_AT_ONCE = 2

/** One project's knowledge on this machine, open in this process. Synchronous; safe beside any number of others. */
export class Memory {
  readonly db: Db
  readonly env: Env
  readonly verbs: ReadonlyMap<string, Verb>
  readonly #options: MemoryOptions
  readonly #core: Registry
  readonly #subscribers: Subscribers
  #registry: { registry: Registry; key: string } | undefined
  #rowRegistry: { registry: Registry; key: string } | undefined
  #open = true

  constructor(options: MemoryOptions) {
    this.#options = options
    this.env = options.env ?? systemEnv
    this.#core = createRegistry(options.kinds, options.relations, () => options.places?.().trees ?? [])
    this.verbs = new Map(options.verbs.map((v) => [v.name, v]))
    this.db = openDb(options.path, {
      create: options.create ?? false,
      owner: {
        project: options.projectId,
        mayTakeOver: options.mayTakeOver ?? (() => true),
        ownDirectory: options.ownDirectory ?? false,
      },
      hurried: options.hurried ?? false,
      beforeMigration: (raw) => void snapshotNow(raw, options.path, this.env.now()),
      afterMigration: (db, progress) => this.#settleForm(db, progress),
    })
    this.#subscribers = new Subscribers(this.db, (line) => this.env.log(line))
    try {
      this.#settleLoss()
      this.#settleProject()
      if (!options.hurried) this.#settleTexts()
      if (!options.hurried) this.settleTrust()
      this.#settleClock()
    } catch (error) {
      this.db.close()
      throw error
    }
  }

  get path(): string {
    return this.db.path
  }
  get projectId(): string {
    return this.#options.projectId
  }

  /** Reports acknowledged batches that are gone. Their numbers are not used again, since others may have read them (K12). */
  #settleLoss(): void {
    const db = this.db
    if (!db.lost || db.readOnly) return
    const { written, batch } = db.lost
    db.write(() => {
      if (log.lastArrival(db) >= written) return
      const [replica = '', seq] = batch.split(':')
      const from = log.head(db, replica).seq + 1
      const what =
        from > Number(seq)
          ? 'what sessions did last was acknowledged and is'
          : `${from === Number(seq) ? `batch ${batch} was` : `batches ${replica}:${from} to ${batch} were`} acknowledged and ${from === Number(seq) ? 'is' : 'are'}`
      keepWal(this.path, this.env.now())
      const text = `${what} not in the store: its write-ahead log was removed or damaged, or an older file put in its place`
      log.finding(db, from > Number(seq) ? `lost:${batch}` : `lost:${replica}:${from}-${seq}`, this.env.now(), text)
      log.countArrival(db, written)
      setMeta(db, 'inode', '')
      this.env.log(`tidemark: ${text}; \`tidemark doctor --restore\` looks for it in every copy`)
    })
  }

  #settleProject(): void {
    const there = getMeta(this.db, 'project')
    if (there === undefined)
      this.db.write(() => void (getMeta(this.db, 'project') ?? setMeta(this.db, 'project', this.#options.projectId)))
    else if (there !== this.#options.projectId) {
      throw new UserError(
        'other-project',
        `the store ${this.#options.path} belongs to project ${there}, not to ${this.#options.projectId}`,
        'the id in .tidemark/config.json was changed, or the store was moved: put the id back, name it in "aliases" there if two clones ran `init`, or move the store away',
      )
    }
  }

  /** A store of 0.1.0 goes over to what its batches say alone; what waited in it for earlier batches counts from now on. */
  #settleForm(db: Db, progress: Progress): void {
    if (!isFirstForm(db)) return // another process was first
    const registry = () => this.registry(db)
    settleFirstForm(db, registry, this.env, progress)
    const waiting = log.allParked(db).filter((l) => log.forkedFrom(db, l.replica) === undefined)
    for (const line of waiting) log.unpark(db, line)
    if (waiting.length > 0) ingest(db, this.env, registry, { lines: waiting, snapshots: [] }, { own: true })
  }

  /** A store whose texts were taken apart in another way, by an older version, has its indexes of them made anew. */
  #settleTexts(): void {
    const db = this.db
    if (db.readOnly || getMeta(db, 'text_version') === TEXT_VERSION) return
    db.write(() => {
      if (getMeta(db, 'text_version') === TEXT_VERSION) return
      projectAll(db, this.#ofRows())
      reindexHeld(db, this.registry())
      setMeta(db, 'text_version', TEXT_VERSION)
    })
  }

  #settle(ids: Iterable<string>): void {
    settleHeld(this.db, () => this.registry(), ids)
  }

  /** Brings what holds here in line with the lines and with whom the person here trusts, where that is due. */
  settleTrust(): void {
    const db = this.db
    if (db.readOnly || getMeta(db, HELD_DUE) === undefined) return
    const erasure = db.write(() => {
      const decides = decidingLines(db)
      const granted = someAsked(db).filter(({ by }) => {
        const [replica = '', seq] = by.split(':')
        return by !== '' && decides(replica, Number(seq))
      })
      const erasure = granted.length > 0 ? this.#erasureOf(erasing.textsToErase(db, granted)) : undefined
      if (erasure) {
        applyPurges(db, this.#ofRows(), granted)
        erasure.mark()
      }
      settleAll(db, () => this.registry())
      dropMeta(db, HELD_DUE)
      return erasure
    })
    if (erasure) this.finishErasure(erasure.gone)
  }

  #erasureOf(said: readonly string[]): erasing.Erasure {
    return new erasing.Erasure(this.db, this.#options.places?.(), { secrets: [], said })
  }

  /** What a clock that was ahead has left is put right by the next one who opens the store. */
  #settleClock(): void {
    const now = leaseTime(this.db, this.env)
    if (!this.db.readOnly && isAheadOf(this.db, now)) this.db.tryWrite(() => clampToNow(this.db, now))
  }

  /** The kinds and relations known now: core and the project's own, as they hold here. */
  registry(db = this.db): Registry {
    return (this.#registry = this.#known(this.#registry, db.here)).registry
  }

  /** The same as the rows have them, which all lines together say. */
  #ofRows(): Registry {
    if (!isAnyHeld(this.db)) return this.registry()
    return (this.#rowRegistry = this.#known(this.#rowRegistry, this.db)).registry
  }

  #known(before: { registry: Registry; key: string } | undefined, from: Queries) {
    const key = rows.versionsOfKinds(from, KIND_KIND, RELATION_KIND)
    return before?.key === key ? before : { key, registry: this.#registryOf(from) }
  }

  #registryOf(from: Queries): Registry {
    const defined = [KIND_KIND, RELATION_KIND]
      .flatMap((kind) => rows.idsOfKind(from, kind))
      .map((id) => entityOf(rows.getRow(from, id)!))
    return this.#withKinds(defined)
  }

  #withKinds(defined: readonly Entity[]): Registry {
    return defined.length === 0 ? this.#core : withProjectKinds(this.#core, this.#core, defined)
  }

  get reader(): Reader {
    this.#mustBeOpen()
    return readNow(this.db, () => this.registry())
  }

  /** Everything that can be asked, as of a moment; a day means its end. */
  asOf(at: string | number | Date): Reader {
    this.#mustBeOpen()
    return readAsOf(this.db, () => this.registry(), momentOf(at))
  }

  /** Everything that can be asked, without what some lines say; for as long as nothing else is written. */
  view({ without }: { without: readonly LineName[] }): Variant {
    this.#mustBeOpen()
    const rowsNow = readNow(this.db, () => this.#ofRows(), this.db)
    return readWithout(this.db, rowsNow, (defined) => this.#withKinds(defined), without)
  }

  /** Writes a batch, entirely or not at all. @throws UserError `refused` with every problem in `details.problems`. */
  act(input: unknown, options: ActOptions = {}): ActResult {
    this.#mustBeOpen()
    const { batch, notes } = parseBatch(input)
    this.#refuseForeign(batch.projects)
    const { redact = false, by, evidence, [SETTLES]: settles = false, ...said } = options
    const { actions, projects: _projects, redact: redactBatch = false, ...ownSaid } = batch
    const redacting = redact || redactBatch
    const author = this.#author({ ...ownSaid, ...said }, redacting)
    const places = this.#options.places?.()
    const carried = actions.map((action) => erasing.proposedErasure(this.reader, action) ?? action)
    if (carried.some(([verb]) => verb === 'purge')) notes.push(...this.finishErasure())
    const erasure = erasing.Erasure.ofActions(this.db, places, () => this.reader, carried)
    const host = {
      db: this.db,
      env: this.env,
      verbs: this.verbs,
      core: this.#core,
      registry: () => this.registry(),
      rowRegistry: () => this.#ofRows(),
      filesHold: (text: string) => erasing.filesHold(this.path, text, places),
    }
    const who = { author, by: by ?? (author.agent === undefined ? 'person' : 'agent'), settles, evidence } as const
    const outcome = this.db.write(() => {
      const done = writeBatch(host, actions, who, redacting)
      this.#settle(done.purged ? [...done.touched, ...heldIds(this.db)] : done.touched)
      if (done.purged) erasure.mark()
      return done
    })
    if (outcome.purged)
      outcome.result.notes.push(
        ...this.finishErasure(erasure.gone),
        ...(this.#options.rewriteShared?.() ?? []),
        ...erasure.proof(),
      )
    if (outcome.claimsChanged || outcome.result.batch !== null) this.tellListeners()
    return { ...outcome.result, notes: [...notes, ...outcome.result.notes] }
  }

  /** What writes would come to: runs them and takes all of them back. Others wait to write meanwhile. */
  attempt<T>(body: () => T): T {
    this.#mustBeOpen()
    let result: { of: T } | undefined
    try {
      this.db.write(() => {
        result = { of: body() }
        throw TAKEN_BACK
      })
    } catch (error) {
      if (error !== TAKEN_BACK) throw error
    } finally {
      this.#registry = this.#rowRegistry = undefined
    }
    return result!.of
  }

  get isErasing(): boolean {
    return erasing.isErasing(this.db)
  }

  /** Cleans the files after an erasure, also one that was interrupted. Says what it did, or why it has to wait. */
  finishErasure(texts?: readonly string[]): string[] {
    if (!erasing.isErasing(this.db)) return []
    try {
      return erasing.finishErasure(this.db, () => this.#ofRows(), this.env.now(), this.#options.places?.(), texts)
    } catch (error) {
      const told = storeError(error, this.path)
      const why = told instanceof UserError ? `${told.message}; ${told.hint}` : String(told)
      return [`the files are not clean yet: ${why}`]
    }
  }

  /** A batch may name its project by id or name; one that is meant for another is not written here. */
  #refuseForeign(projects: readonly string[]): void {
    const { projectId, projectName = projectId, aliases = [] } = this.#options
    const foreign = projects.find((p) => ![projectId, projectName, ...aliases].includes(p))
    if (foreign === undefined) return
    throw new UserError(
      'unknown-project',
      `this is not project "${redact(foreign).slice(0, 80).toWellFormed()}"`,
      `leave projectId out, or give ${projectName} or ${projectId}`,
    )
  }

  #author(said: Author, redacting: boolean): Author {
    const author: Author = {}
    for (const [key, value] of Object.entries({ ...this.#options.author?.(), ...said })) {
      if (typeof value !== 'string' || value === '') continue
      const problems: JsonProblem[] = []
      const screened = screen(normalizeJson(value, problems), true)
      if (problems.length > 0)
        throw new UserError('refused', `${key}: ${problems[0]!.message}`, `give ${problems[0]!.accepted}`)
      const [secret] = screened.secrets
      if (secret && !redacting) {
        const what = `${key} looks like a secret (${secret.category})`
        throw new UserError('secret', what, 'leave it out, or give "redact": true')
      }
      author[key as Exclude<keyof Author, 'undoes' | 'actor'>] = String(screened.value)
    }
    return author
  }

  /** What a session works on: its current task, activity and goal. */
  place(session: string | undefined): Place {
    this.#mustBeOpen()
    return session === undefined ? {} : placeOn(workOf(this.db, session), (id) => this.reader.entity(id))
  }

  /** A session goes on with the work of another one; inside a write. */
  carryWork(from: string, to: string): void {
    const path = workOf(this.db, from)
    if (path.length > 0) keepWork(this.db, to, path, this.env.now())
  }

  tellListeners(): void {
    this.#subscribers.notify()
  }

  history(id: string): (log.LoggedEvent & { author?: Author; received?: number })[] {
    return log.eventsOf(this.db, id).map((e) => {
      const header = log.headerOf(this.db, e.batch)
      return { ...e, ...(header ? { author: header.line.author, received: header.received } : {}) }
    })
  }

  /** Batches, and what happened with sessions and claims, in the order in which they arrived here, after a cursor. */
  newsSince(seq: number, limit?: number): News[] {
    return newsSince(this.db, seq, limit)
  }

  /** What a batch did, in a line; nothing where it is not here. */
  whatDid(batch: string): string | undefined {
    return whatDid(this.db, batch)
  }

  get lastBatch(): News | undefined {
    return lastBatch(this.db)
  }

  /** The cursor after which nothing has arrived yet. */
  get cursor(): number {
    this.#mustBeOpen()
    return log.lastArrival(this.db)
  }

  /** Calls back with every batch committed after `since`, in order, each once. Errors go to `onError`. Returns how to stop. */
  subscribe(onNews: (news: News) => void, options: SubscribeOptions = {}): () => void {
    this.#mustBeOpen()
    return this.#subscribers.add(onNews, options)
  }

  /** What a replica that has seen up to `cursor` lacks, for its `applyUpdates`. A cursor from before a restore gives everything. */
  updatesSince(cursor = ''): { bytes: Uint8Array; cursor: string } {
    this.#mustBeOpen()
    return this.db.read(() => {
      const store = getMeta(this.db, 'inode') ?? ''
      const [from, n = '0'] = cursor.split('/')
      const last = this.cursor
      const since = from === store && Number(n) <= last ? Number(n) : 0
      const compacted = since < Number(getMeta(this.db, 'compacted_n') ?? 0) ? this.#snapshotText() : undefined
      const print = this.printer()
      const isOwn = ownLines(this.db)
      // what others ask to erase goes on by its author alone; what stands in for a lost line is taken by nobody
      const leaves = (l: Line) => !isStandIn(l) && (isOwn(l.replica, l.seq) || !isAsked(this.db, l))
      const after = log.linesAfter(this.db, since).filter(leaves)
      const lines = [...(compacted === undefined ? [] : [compacted]), ...after.map((line) => print(line))]
      return { bytes: printDelivery(this.projectId, lines), cursor: `${store}/${last}` }
    })
  }

  printer(): (line: Line, names?: boolean) => string {
    return leaving(this.projectId, (replica) => log.keyOf(this.db, replica))
  }

  /** Own lines that others would not take are written again so that they do, but for those that have left. */
  signAnew(left: (replica: string) => readonly Range[] = () => []): void {
    const [db, key] = [this.db, publicKey(this.projectId)]
    const remade = new Set(remadeLines(db).map((l) => l.replica))
    const isOfOther = (replica: string) => key !== undefined && isKeyed(replica) && !isKeyOf(key, replica)
    const due = ownIdentities(db).filter(({ replica }) => isOfOther(replica) || remade.has(replica))
    if (due.length === 0) return
    db.write(() => {
      for (const { replica } of due) keepLeft(db, replica, left(replica))
      signAnew(db, this.env, () => this.#ofRows(), key)
    })
  }

  #snapshotText(): string | undefined {
    const snapshot = snapshotOf(this.db)
    return snapshot && printSnapshot(snapshot, sign(this.projectId, JSON.stringify(snapshot)))
  }

  applyUpdates(bytes: Uint8Array, options: IngestOptions = {}): Ingested {
    this.#mustBeOpen()
    const delivery = parseDelivery(bytes, options.own)
    if (![this.projectId, ...(this.#options.aliases ?? [])].includes(delivery.project))
      throw new UserError(
        'other-project',
        `these updates are of project ${delivery.project}, this is ${this.#options.projectId}`,
        'replicas meet within one project; import takes over knowledge from another',
      )
    return this.applyLines(delivery, options)
  }

  /** The same with lines that have been read. */
  applyLines(delivery: Omit<Delivery, 'project'>, options: IngestOptions = {}): Ingested {
    this.settleTrust()
    const { result, erasure } = this.db.write(() => {
      const result = ingest(this.db, this.env, () => this.#ofRows(), delivery, options)
      this.#settle(result.touched)
      const erasure = result.erased && this.#erasureOf(result.erased)
      erasure?.mark()
      return { result, erasure }
    })
    if (erasure && !options.unfinished) this.finishErasure(erasure.gone)
    if (result.applied > 0 || delivery.snapshots.length > 0) this.tellListeners()
    return result
  }

  /** Hides batches in this store, and keeps them from others; `admit` takes that back. @throws UserError `unknown-batch`. */
  decline(batches: readonly string[], { admit = false } = {}): number {
    this.#mustBeOpen()
    const n = this.db.write(() => {
      const done = settleDeclined(this.db, () => this.#ofRows(), batches, admit, this.env.now())
      if (done.touched.size > 0) this.#settle(done.touched)
      return done.n
    })
    if (n > 0) this.tellListeners()
    return n
  }

  /** How often a text still stands in the store's files, snapshots included; what a purge proves itself by. */
  occurrences(text: string): { file: string; count: number }[] {
    return erasing.occurrences(this.db.path, text, this.#options.places?.())
  }

  /** Drops every index and makes it again from the log (C5). */
  rebuild(progress?: Progress): { entities: number; lines: number } {
    return this.db.write(() => {
      dropUnreadablePresence(this.db)
      const done = rebuildAll(this.db, () => this.#ofRows(), progress)
      reindexHeld(this.db, this.registry())
      settleAll(this.db, () => this.registry())
      return done
    })
  }

  /** Everything in the store that is not as it was written: each line's hash and chain, and all that is made from lines. */
  faults(): Fault[] {
    return this.db.read(() => faultsOf(this.db, (db) => this.#registryOf(db)))
  }

  /** Folds history before a moment away (C6). */
  compact(before: string | number | Date): { lines: number; events: number; horizon: number; shrunk: boolean } {
    const moment = momentOf(before)
    const total = { lines: 0, events: 0, horizon: 0 }
    // step by step: others write in between
    for (const upTo of [...momentsBefore(this.db, moment, LINES_AT_ONCE), moment]) {
      const step = this.db.write(() => {
        archiveCovered(this.db, coverable(this.db, upTo))
        return compact(this.db, upTo)
      })
      total.lines += step.lines
      total.events += step.events
      total.horizon = step.horizon
      rest()
    }
    // where another process writes: what was folded is folded; the room is used for what comes
    return { ...total, shrunk: unlessRefused(() => vacuum(this.db), undefined, 'store-busy') ?? false }
  }

  /** Takes the daily snapshot, rotates events, checks some lines. Returns what is wrong. Surfaces call it after the answer. */
  maintain(): string[] {
    const now = this.env.now()
    const wrong = sampleFaults(this.db, (n) => this.env.random(n))
    // a snapshot of a damaged store would put a sound one out of its place
    if (wrong.length > 0)
      return wrong.map((fault) => `the store is damaged: ${fault}; \`tidemark doctor\` says what to do`)
    for (const [what, body] of [
      ['the daily snapshot', () => snapshotIfDue(this.db, now)],
      ['putting old events away', () => rotatePresence(this.db, now)],
      ['compressing old lines', () => void (this.db.readOnly || this.#packSome())],
      [
        'forgetting old sessions and claims',
        () => void (this.db.readOnly || this.db.tryWrite(() => forgetOld(this.db, now))),
      ],
    ] as const)
      try {
        body()
      } catch (error) {
        const told = storeError(error, this.path)
        wrong.push(`${what} failed: ${told instanceof Error ? told.message : String(told)}`)
      }
    if (!this.db.readOnly) this.finishErasure() // doctor says what still holds it up
    return wrong
  }

  #packSome(): void {
    for (let i = 0; i < PACKS_AT_ONCE && this.db.tryWrite(() => log.packDue(this.db, Number.POSITIVE_INFINITY)); i++);
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#subscribers.close()
    this.db.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  get isOpen(): boolean {
    return this.#open
  }

  #mustBeOpen(): void {
    if (!this.#open) throw new UserError('closed', 'this memory is closed', 'open it again with openMemory')
  }
}
