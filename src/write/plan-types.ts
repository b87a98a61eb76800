import type { ClaimChanges, ClaimPlan, ClaimView } from '../claims/lease.ts'
import type { Cells } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import type { Entity } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import type { Registry } from '../model/registry.ts'
import type { Change, Report } from '../model/validate.ts'
import type { Place } from '../read/work-tree.ts'
import type { PurgeMark } from '../store/line.ts'
import type { LoggedEvent } from '../store/log.ts'
import type { LinkRow } from '../store/rows.ts'

/** Who wants a batch. Only a person's yes makes a text bind later sessions, or changes one that binds. */
export type Actor = 'person' | 'agent'

/** What planning may look at: the store under the write lock. */
export interface View {
  registry(): Registry
  entity(id: string): Entity | undefined
  /** A copy of the entity's cells, the caller's to change. */
  cells(id: string): Cells
  byName(nameKey: string): Entity[]
  links(end: 'src' | 'dst', id: string): LinkRow[]
  /** Live entities of a kind. */
  ofKind(kind: string): Entity[]
  allIds(): readonly string[]
  someNames(limit: number): { id: string; name: string }[]
  eventsOf(id: string): LoggedEvent[]
  /** Events of a batch in order, and their summary; nothing if it is not in the log. */
  batch(
    id: string,
  ): { events: LoggedEvent[]; summary: string; session?: string; undoes?: readonly string[] } | undefined
  batchHash(replica: string, seq: number): string | undefined
  /** Batches, newest arrival first; `by` those of one session, or with null those of none. */
  recentBatches(limit: number, by?: { readonly session: string | null }): string[]
  /** Events, titles and lines that hold a text; for purge. */
  eventsHolding(textValue: string): LoggedEvent[]
  /** Whether a definition that a discover session keeps, or a file, holds a text that no knowledge says. */
  keptHolds(textValue: string): boolean
  /** Ids of the entities of a kind, deleted ones too. */
  idsOfKind(kind: string): string[]
  batchesOf(entity: string): { replica: string; seq: number }[]
  /** Batches whose author, intent or summary holds a text; for purge. */
  headersHolding(textValue: string): { replica: string; seq: number }[]
  /** Whether the entity with this tombstone was erased. */
  isErased(tombstone: string): boolean
  /** Whether what a replica wrote was written in this store. */
  isOwn(replica: string): boolean
  /** Whether somebody in this store stands by an entity, whatever others said of it. */
  endorsed(id: string): boolean
  /** Whether the person typed a text in the author's session, or in the prompt from which an entity was captured. */
  typed(sentence: string, entity: string): boolean
  /** Sessions and what they have claimed. */
  claims: ClaimView
}

export interface PlanContext {
  by: Actor
  replica: string
  /** The batch's one clock reading, ms, and its id. */
  ms: number
  batch: string
  /** The replica's event counter before this batch. */
  ctr: number
  /** The provenance that goes onto every entity it touches; empty says nothing. */
  provenance: { [key: string]: Json }
  /** Where in the work tree the author's session stood before this batch; nothing where no session writes. */
  work?: readonly string[]
  /** What it writes is of its current task, as nobody named another. */
  ofCurrentTask?: boolean
  /** Everything the batch's header will say of who wrote it and what for. */
  author: string
  random(n: number): Uint8Array
}

/** What one action did. */
export interface Result {
  verb: string
  id: string
  kind?: string
  name?: string
  /** The entity's version after the batch. */
  version?: number
  created?: boolean
  [extra: string]: Json | undefined
}

export interface Planned {
  /** Documents that go on under another id: new → old. */
  moves: ReadonlyMap<string, string>
  undone: readonly string[]
  /** Something was erased that stands in no batch: the files are to be written anew all the same. */
  scrub: boolean
  events: Event[]
  results: Result[]
  notes: string[]
  purges: PurgeMark[]
  /** Where in the work tree the session stands from now on, if the batch says so. */
  work: readonly string[] | undefined
  claims: ClaimChanges
  summary: string
}

/** What verbs plan with. */
export interface Planning {
  readonly view: View
  readonly ctx: PlanContext
  /** Names of the verbs that are not derived from kinds. */
  readonly verbs: ReadonlySet<string>
  registry(): Registry
  /** The entity as it stands in the plan, deleted ones too. */
  entity(id: string): Entity | undefined
  cells(id: string): Cells
  /** Finds what a reference means; nothing when it means nothing, or several things, which is reported where it matters. */
  resolve(
    ref: unknown,
    field: string,
    report: Report | undefined,
    options?: { deleted?: boolean; kind?: string },
  ): Entity | undefined
  /** Entities called so in the plan, deleted ones too; the argument is folded. */
  byName(nameKey: string): Entity[]
  /** Plans what the body plans, and takes it back: for what must be sound but waits. */
  rehearse<T>(body: () => T): T
  /** Announces an entity whose record was refused, so that later references to it are not reported as well. */
  promise(id: string): void
  isPromised(id: string): boolean
  create(id: string): void
  remove(id: string, reason?: string, purged?: boolean): void
  restore(id: string): void
  /** Clears everything the entity says, before it is recorded anew. */
  wipe(id: string, purged?: boolean): void
  /** Erases the cells of a field that hold a text; the event says nothing of what they held. */
  wipeText(id: string, field: string, textValue: string): void
  apply(id: string, changes: readonly Change[]): boolean
  set(id: string, field: string, value: Json | undefined): boolean
  /** Adds this batch's provenance to the entity. */
  sign(id: string): void
  links(end: 'src' | 'dst', id: string): LinkRow[]
  /** Live entities of a kind in the plan. */
  ofKind(kind: string): Entity[]
  /** What the author's session works on, as it stands in the plan. */
  place(): Place
  /** The session works on this from here on: ids from the goal down. Without a session, a note says that nobody does. */
  workOn(path: readonly string[]): void
  /** Where the session stands after the batch, if that was said. */
  work(): readonly string[] | undefined
  /** Claims as they stand in the plan. */
  readonly claims: ClaimPlan
  note(textValue: string): void
  purge(p: PurgeMark): void
  /** From here on `to` has the document of `from`, which is gone. */
  move(from: string, to: string): void
  eventId(make: (ms: number, chance: number) => string): string
  events(): readonly Event[]
  purges(): readonly PurgeMark[]
  moves(): ReadonlyMap<string, string>
  /** Says that the batch takes another one back. */
  undoes(batch: string): void
  undone(): readonly string[]
  /** Has every file written anew after the batch, although nothing in the log is erased. */
  scrub(): void
  isScrubbing(): boolean
}
