import { isDeepStrictEqual } from 'node:util'
import type { Doc, Map as Shared, Transaction, YEvent } from 'yjs'
import { messageOf, UserError } from '../../base/errors.ts'
import { STATE } from '../../engine/log/cells.ts'
import type { ActOptions, ActResult, Memory, News } from '../../engine/memory.ts'
import { travelsFrom } from '../../engine/read/travels.ts'
import { tombstoneOf } from '../../engine/store/line.ts'
import { isErased } from '../../engine/store/log.ts'
import { OF_PEERS } from '../../engine/store/own-lines.ts'
import { linksAt } from '../../engine/store/rows.ts'
import { KIND_KIND, kindOf, LINK_KIND } from '../../model/entity.ts'
import type { JsonObject } from '../../model/object.ts'
import { documentOf, entityIn, linkIn } from './export/json.ts'
import type { DocumentEntity, DocumentLink } from './import/document.ts'
import { Queue } from './import/queue.ts'
import { entityActions, FIELD, linkActions } from './yjs-change.ts'

/** What became of a peer's change that did not go in as it was made. The document says again what the memory says. */
export interface YjsReport {
  /**
   * `proposed`: it waits for a person. `malformed`, `stale`, `erased`: nothing that could be written. `taken-over`: another memory
   * serves the document now, and this one has let go of it. Else the code with which `act` refused it.
   */
  readonly code: string
  readonly message: string
  readonly hint: string
  /** The key in `entities` or `links`. */
  readonly id?: string
  readonly peer?: string
}

export interface YjsOptions {
  /** What a client of Yjs is called, by its number. It is a claim, as every author is. */
  peer?(client: number): string | undefined
  /** Told of each change that was refused, or waits; else the log of `env`. */
  onReport?(report: YjsReport): void
}

/** A Yjs document that says what the memory says, and takes what peers change, until it is closed. */
export interface LiveDocument {
  readonly doc: Doc
  /** The document stays as it is from here on. */
  close(): void
  [Symbol.dispose](): void
}

type Write = (batch: unknown, options?: ActOptions) => ActResult
type Root = 'entities' | 'links'
type Said = DocumentEntity | DocumentLink
/** What peers changed of entries, by id: all of one, or some of its keys. */
type Touched = Record<Root, Map<string, Set<string> | 'whole'>>

const ROOTS = ['entities', 'links'] as const
const untouched = (): Touched => ({ entities: new Map(), links: new Map() })
const rootOf = (id: string): Root => (kindOf(id) === LINK_KIND ? 'links' : 'entities')
const plain = (value: unknown): unknown => {
  const shared = value as Shared<unknown> | undefined
  return typeof shared?.toJSON === 'function' ? shared.toJSON() : value
}

/** When a memory began to serve a document, and as which client. */
const servedSince = (value: unknown): readonly number[] =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger) ? value : [0, 0]

class Live implements LiveDocument {
  readonly doc: Doc
  readonly #memory: Memory
  readonly #act: Write
  readonly #options: YjsOptions
  readonly #head: Shared<unknown>
  readonly #roots: Record<Root, Shared<unknown>>
  readonly #served: readonly number[]
  #touched = untouched()
  #stops: (() => void)[] = []

  constructor(memory: Memory, act: Write, doc: Doc, options: YjsOptions) {
    this.doc = doc
    this.#memory = memory
    this.#act = act
    this.#options = options
    this.#head = doc.getMap('tidemark')
    this.#roots = { entities: doc.getMap('entities'), links: doc.getMap('links') }
    const hint = 'give each project a document of its own'
    if ((this.#head.get('project') ?? memory.projectId) !== memory.projectId)
      throw new UserError('other-project', 'this document holds the knowledge of another project', hint)
    const [before = 0] = servedSince(this.#head.get('memory'))
    this.#served = [Math.max(memory.env.now(), before + 1), doc.clientID]
    const since = memory.cursor
    this.#guard('a peer', () => this.#take(this.#meanwhile(), 'a peer'))
    this.#fill()
    const settle = (tr: Transaction) => void (tr.origin === this || this.#settle(tr))
    const hear = (root: Root) => {
      const note = (events: YEvent<never>[], tr: Transaction) => void (tr.origin === this || this.#hear(root, events))
      this.#roots[root].observeDeep(note as never)
      this.#stops.push(() => this.#roots[root].unobserveDeep(note as never))
    }
    for (const root of ROOTS) hear(root)
    const close = () => this.close()
    doc.on('afterTransaction', settle)
    doc.on('destroy', close)
    this.#stops.push(
      () => doc.off('afterTransaction', settle),
      () => doc.off('destroy', close),
      memory.subscribe((news) => this.#news(news), { since, onFolded: () => this.#fill() }),
    )
  }

  get #headSaid(): JsonObject {
    return { tidemark: 1, project: this.#memory.projectId, memory: [...this.#served] }
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  readonly [Symbol.dispose] = (): void => this.close()

  /** What peers said while no memory served the document: what it never knew, and changes of what did not change here. */
  #meanwhile(): Touched {
    const touched = untouched()
    const { reader, db } = this.#memory
    const said = this.#sayer()
    for (const root of ROOTS)
      for (const [id, entry] of this.#roots[root]) {
        const { updated } = (plain(entry) ?? {}) as { updated?: unknown }
        const isPeers = reader.entity(id) ? said(id)?.updated === updated : !isErased(db, tombstoneOf(id))
        if (isPeers) touched[root].set(id, 'whole')
      }
    return touched
  }

  /** Notes what peers changed; it is looked at when their transaction is through. */
  #hear(root: Root, events: readonly YEvent<never>[]): void {
    const touched = this.#touched[root]
    const note = (id: string, key?: string) => {
      const keys = touched.get(id) ?? new Set()
      touched.set(id, key === undefined || keys === 'whole' ? 'whole' : keys.add(key))
    }
    for (const event of events) {
      const [id, part, field] = event.path.map(String)
      const keys = [...event.keys.keys()]
      if (id === undefined) for (const key of keys) note(key)
      else if (part === undefined) for (const key of keys) note(id, key === 'fields' ? undefined : key)
      else if (part !== 'fields') note(id, part)
      else for (const key of field === undefined ? keys : [field]) note(id, FIELD + key)
    }
  }

  #settle(tr: Transaction): void {
    const touched = this.#touched
    this.#touched = untouched()
    const isHead = tr.changed.has(this.#head as never)
    const ids = ROOTS.flatMap((root) => [...touched[root].keys()].map((id) => [root, id] as const))
    if (ids.length === 0 && !isHead) return
    if (!this.#memory.isOpen) return void this.close()
    const peer = this.#peerOf(tr)
    if (isHead && this.#isTakenOver(peer)) return
    if (isHead && !isDeepStrictEqual({ ...this.#head.toJSON(), memory: this.#served }, this.#headSaid))
      this.#report({ code: 'malformed', message: 'the map "tidemark" is written by Tidemark itself', hint: '', peer })
    this.#guard(peer, () => this.#take(touched, peer))
    this.#guard(peer, () => this.#write(ids))
  }

  /** One memory serves a document, the one that began last: two would take each other's words for those of peers. */
  #isTakenOver(peer: string): boolean {
    const [[since = 0, client = 0], [own = 0, as = 0]] = [servedSince(this.#head.get('memory')), this.#served]
    if (since < own || (since === own && client <= as)) return false
    this.close()
    const hint = 'let one program serve each document; memories of one project meet by sync'
    this.#report({ code: 'taken-over', message: 'another memory serves this document now', hint, peer })
    return true
  }

  /** Writes what peers did through the gate, entry by entry: what one is refused for does not stop the others. */
  #take(touched: Touched, peer: string): void {
    const { db, reader } = this.#memory
    const registry = this.#memory.registry()
    const said = this.#sayer()
    const ids = new Map<string, string>()
    const unsaid = { session: '', agent: '', branch: '', commit: '', task: '', tree: '' }
    const author: ActOptions = { ...unsaid, user: peer, source: OF_PEERS, by: 'agent' }
    const queue = new Queue({ act: this.#act }, author, {
      wrote() {},
      written: ({ item }, id) => {
        ids.set(item.where, id)
        if (reader.entity(id)?.fields.standing !== 'proposed') return
        const hint = `\`tidemark confirm ${id}\` agrees to it, \`tidemark reject ${id}\` turns it down`
        this.#report({ code: 'proposed', id: item.where, peer, message: `it waits for a person, as ${id}`, hint })
      },
      refused: ({ item }, { code = 'refused', field, message, accepted = '', hint = accepted }) =>
        this.#report({ code, id: item.where, peer, message: field ? `${field}: ${message}` : message, hint }),
    })
    const put = (root: Root, id: string, keys: Set<string> | 'whole') => {
      const change = { id, entry: plain(this.#roots[root].get(id)), keys, known: reader.entity(id), said: said(id) }
      if (change.entry !== undefined && isErased(db, tombstoneOf(id))) {
        this.#report({ code: 'erased', id, peer, message: 'it was erased', hint: 'it is not to come back' })
        return
      }
      const actions =
        root === 'entities' ? entityActions(change, registry) : linkActions(change, (end) => ids.get(end) ?? end)
      if (!Array.isArray(actions)) this.#report({ ...actions, id, peer })
      else if (actions.length > 0)
        queue.add({ item: { verb: '', args: {}, where: id }, actions, kind: '', created: true })
    }
    // links need their ends: they go before them and come after them
    for (const [id, keys] of touched.links) if (!this.#roots.links.has(id)) put('links', id, keys)
    for (const [id, keys] of touched.entities) put('entities', id, keys)
    queue.flush()
    for (const [id, keys] of touched.links) if (this.#roots.links.has(id)) put('links', id, keys)
    queue.flush()
  }

  /** Who wrote in a transaction, as far as Yjs knows: it keeps no word of who deletes. */
  #peerOf({ beforeState, afterState }: Transaction): string {
    const clients = [...afterState].flatMap(([client, n]) => (n > (beforeState.get(client) ?? 0) ? client : []))
    const names = clients.slice(0, 3).map((client) => {
      const name = this.#options.peer?.(client)
      return typeof name === 'string' && /^[\p{L}\p{N} ._@+-]{1,60}$/u.test(name) ? name : `peer ${client}`
    })
    return names.length === 0 ? 'a peer' : [...names, ...(clients.length > 3 ? ['others'] : [])].join(', ')
  }

  /** What fails is told. It stops neither the provider, whose event this is, nor what comes next. */
  #guard(peer: string, body: () => void): void {
    try {
      body()
    } catch (error) {
      if (!(error instanceof UserError))
        this.#memory.env.log(`tidemark: ${error instanceof Error ? error.stack : String(error)}`)
      const { code, hint } = error instanceof UserError ? error : { code: 'failed', hint: 'the log says where' }
      this.#report({ code, message: messageOf(error), hint, peer })
    }
  }

  #report(report: YjsReport): void {
    const { env } = this.#memory
    const { onReport = ({ code, id = '', message }) => env.log(`tidemark: yjs: ${code}: ${id} ${message}`) } =
      this.#options
    try {
      onReport(report)
    } catch (error) {
      env.log(`tidemark: onReport failed: ${messageOf(error)}`)
    }
  }

  #news({ events, erases }: News): void {
    if (erases || events.some(({ event }) => kindOf(event.entity) === KIND_KIND)) return void this.#fill()
    const ids = new Set(events.map(({ event }) => event.entity))
    const { db, reader } = this.#memory
    // what comes back brings its links with it, what goes takes them along
    const gone = new Set<unknown>()
    for (const { entity } of events.map((e) => e.event).filter((e) => e.field === STATE)) {
      if (!reader.entity(entity)?.live) gone.add(entity)
      for (const end of ['src', 'dst'] as const) for (const { id } of linksAt(db, end, entity)) ids.add(id)
    }
    if (gone.size > 0)
      for (const [id, entry] of this.#roots.links) {
        const { from, to } = (plain(entry) ?? {}) as { from?: unknown; to?: unknown }
        if (gone.has(from) || gone.has(to)) ids.add(id)
      }
    if (ids.size > 0) this.#write([...ids].map((id) => [rootOf(id), id]))
  }

  /** What the document is to say of an id: what `export yjs` would, if it may leave this machine. */
  #sayer(): (id: string) => Said | undefined {
    const { db, reader } = this.#memory
    const travels = travelsFrom(db, this.#memory.registry())
    return (id) => {
      const e = reader.entity(id)
      if (!e?.live || !travels(id)) return undefined
      if (e.kind !== LINK_KIND) return entityIn(e)
      const link = linkIn(e)
      return [link.from, link.to].every((end) => reader.entity(end)?.live) ? link : undefined
    }
  }

  /** Brings entries up to the memory. */
  #write(ids: readonly (readonly [Root, string])[]): void {
    const said = this.#sayer()
    this.doc.transact(() => {
      this.#level(this.#head, this.#headSaid)
      for (const [root, id] of ids) this.#say(root, id, rootOf(id) === root ? said(id) : undefined)
    }, this)
  }

  /** Brings all of it up to the memory. */
  #fill(): void {
    const { entities, links } = documentOf(this.#memory, {})
    const there = ROOTS.flatMap((root) => [...this.#roots[root].keys()].map((id) => [root, id] as const))
    this.#write([...there, ...[...entities, ...links].map(({ id }) => [rootOf(id), id] as const)])
  }

  #say(root: Root, id: string, said: Said | undefined): void {
    const entries = this.#roots[root]
    if (!said) {
      if (entries.has(id)) entries.delete(id)
      return
    }
    // maps of the copy of Yjs that the document is of
    const SharedMap = entries.constructor as new () => Shared<unknown>
    const mapAt = (map: Shared<unknown>, key: string): Shared<unknown> => {
      const there = map.get(key)
      if (there instanceof SharedMap) return there
      const made = new SharedMap()
      map.set(key, made)
      return made
    }
    const { fields, ...rest } = said
    const entry = mapAt(entries, id)
    this.#level(entry, rest as unknown as JsonObject, 'fields')
    this.#level(mapAt(entry, 'fields'), fields)
  }

  #level(map: Shared<unknown>, to: { readonly [key: string]: unknown }, beside?: string): void {
    for (const key of map.keys()) if (key !== beside && !Object.hasOwn(to, key)) map.delete(key)
    for (const [key, value] of Object.entries(to))
      if (!isDeepStrictEqual(plain(map.get(key)), value)) map.set(key, value)
  }
}

/** Puts a memory and a Yjs document side by side; `act` is how the memory is written. */
export async function liveYjs(memory: Memory, act: Write, doc?: Doc, options: YjsOptions = {}): Promise<LiveDocument> {
  // Yjs is loaded by those who ask for it alone
  return new Live(memory, act, doc ?? new (await import('yjs')).Doc(), options)
}
