import type { Env } from '../../base/env.ts'
import { keptIn } from '../../base/lookup.ts'
import { type Entity, restOfKey } from '../../model/entity.ts'
import type { Kind } from '../../model/kind.ts'
import type { Registry } from '../../model/registry.ts'
import { ClaimView } from '../claims/lease.ts'
import { whatDid } from '../feed/news.ts'
import type { Cells } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import type { States } from '../materialize/apply.ts'
import { entityOf } from '../read/reader.ts'
import { vouchedFor } from '../replication/vouched.ts'
import type { Db } from '../store/db.ts'
import { keptHolds } from '../store/definitions.ts'
import { type Asked, askedOf, endorsedBefore, type Held, heldInto, isErasedOf } from '../store/held.ts'
import * as log from '../store/log.ts'
import { isOwnReplica } from '../store/own-lines.ts'
import * as rows from '../store/rows.ts'
import { turnsDown } from '../store/summary.ts'

type ViewHost = { readonly db: Db; readonly env: Env; registry(): Registry; filesHold(text: string): boolean }

/** What planning may look at: the store under the write lock. It reads, and never writes. */
export class View {
  readonly claims: ClaimView
  readonly #host: ViewHost
  readonly #db: Db
  readonly #states: States
  readonly #byKey = new Map<string, Map<string, Entity[]>>()

  constructor(host: ViewHost, states: States, now: number, session: string | undefined) {
    this.#host = host
    this.#db = host.db
    this.#states = states
    this.claims = new ClaimView(host.db, host.env, now, session)
  }

  registry = (): Registry => this.#host.registry()
  entity = (id: string): Entity | undefined => {
    const row = rows.getRow(this.#db, id)
    return row && entityOf(row)
  }
  /** A copy of the entity's cells, the caller's to change. */
  cells = (id: string): Cells => this.#states.cells(id)
  byName = (nameKey: string): Entity[] => rows.rowsByName(this.#db, nameKey).map(entityOf)
  /** Those of a kind that are called so, by the rest of their key: of one text there may be as many as a document has pieces. */
  byKey(kind: Kind, nameKey: string, rest: string): readonly Entity[] {
    const found = keptIn(this.#byKey, `${kind.name} ${nameKey}`, () => {
      const all = this.byName(nameKey).filter((e) => e.kind === kind.name)
      return Map.groupBy(all, (e) => restOfKey(kind, e.fields))
    })
    return found.get(rest) ?? []
  }
  links = (end: 'src' | 'dst', id: string): rows.LinkRow[] => rows.linksAt(this.#db, end, id)
  replacing = (id: string): rows.LinkRow[] => rows.linksInto(this.#db, 'supersedes', [id])
  ofKind = (kind: string): Entity[] => rows.listRows(this.#db, kind).map(entityOf)
  allIds = (): readonly string[] => rows.allIds(this.#db)
  someNames = (limit: number) => rows.someNames(this.#db, limit)
  /** Ids of the entities of a kind, deleted ones too. */
  idsOfKind = (kind: string): string[] => rows.idsOfKind(this.#db, kind)
  eventsOf = (id: string): log.LoggedEvent[] => log.eventsOf(this.#db, id)
  batchNamed = (said: string): string => log.batchNamed(this.#db, said)
  lineOf = (batch: string) => log.headerOf(this.#db, batch)?.line
  whatDid = (batch: string) => whatDid(this.#db, batch)
  batch(id: string) {
    const line = this.lineOf(id)
    if (!line) return undefined
    const { session, agent, undoes } = line.author
    return { line, session, agent, undoes, events: log.loggedIn(line) }
  }
  batchHash = (replica: string, seq: number): string | undefined => log.hashOf(this.#db, replica, seq)
  /** Batches, newest arrival first; `by` those of one session, or with null those of none. */
  recentBatches = (limit: number, by?: { readonly session: string | null }) => log.recentBatches(this.#db, limit, by)
  batchesOf = (entity: string) => log.batchesOf(this.#db, entity)
  /** Events that hold a text, and batches whose author, intent or summary does; for purge. */
  eventsHolding = (text: string): log.LoggedEvent[] => log.eventsHolding(this.#db, text)
  headersHolding = (text: string) => log.headersHolding(this.#db, text)
  toldBefore = (text: string) => log.toldBefore(this.#db, text)
  /** Whether a definition that a discover session keeps, or a file, holds a text that no knowledge says. */
  keptHolds = (text: string): boolean => keptHolds(this.#db, text) || this.#host.filesHold(text)
  isErased = (tombstone: string): boolean => log.isErased(this.#db, tombstone)
  /** Whether what a replica says of it from now on is erased everywhere else. */
  isErasedOf = (tombstone: string, replica: string): boolean => isErasedOf(this.#db, tombstone, replica)
  /** Whether what a replica wrote was written in this store. */
  turnsDown = (events: readonly Event[]) => turnsDown(this.#db, events)

  isOwn = (replica: string): boolean => isOwnReplica(this.#db, replica)
  endorsed = (id: string): boolean => vouchedFor({ db: this.#db }, [id]).has(id)
  ofPerson = (id: string): boolean => log.replicasOfPersons(this.#db, id).some(this.isOwn)
  /** Whether somebody here spoke of it in lines that are folded away since. */
  spokenBefore = (id: string): boolean => endorsedBefore(this.#db, id) !== undefined
  waitingAt = (id: string): Held[] => heldInto(this.#db, id)
  /** Which erasures others ask for at it. */
  askedOf = (id: string): Asked[] => askedOf(this.#db, id)
}
