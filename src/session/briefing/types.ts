import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import type { Project } from '../../engine/store/project.ts'
import type { WideStatement } from '../../find/recall/overridden.ts'
import type { Holds } from '../../find/recall/told.ts'
import type { Entity } from '../../model/entity.ts'
import type { Focus, foundBy } from './focus.ts'

export interface Item {
  readonly id?: string
  /** One line, or several where the first says what they are; safe to stand where its section stands. */
  readonly text: string
  readonly short?: string
  readonly under?: string
  /** The least is told first where not all fit; its place in the list unless given. */
  readonly rank?: number
}

export interface Built {
  readonly items: readonly Item[]
  /** Found, and not even looked at: counted as left out. */
  readonly beyond?: number
  readonly see?: string
  /** Said after the items whatever is left out. */
  readonly note?: string
  readonly says?: string
}

export interface Section {
  readonly name: string
  readonly title: string
  /** The part of the budget that it may take before the others have had theirs, of 100. */
  readonly share: number
  /** Its items stand as instructions. All others stand behind the fence. */
  readonly binding?: true
  build(about: About): Built | undefined
}

export interface About {
  readonly memory: Memory
  readonly reader: Reader
  readonly project: Project
  readonly session: string | undefined
  readonly client: string | undefined
  readonly user: string | undefined
  /** ms since the epoch: what holds now, and how old things are. */
  readonly moment: number
  /** Times are told in the zone of this machine, for a person; else in UTC. */
  readonly local?: boolean | undefined
  readonly wider: readonly WideStatement[]
  readonly focus: Focus
  readonly found: ReturnType<typeof foundBy>
  /** Of these, the ones that somebody in this store stands by. */
  vouched(ids: readonly string[]): ReadonlySet<string>
  /** The newest of a kind; however many came from others, those that somebody here stands by are among them. */
  newest(kind: string, limit: number, standing?: string): Entity[]
  /** The newest facts that count, and how many older ones were not looked at. */
  readonly facts: readonly Entity[]
  readonly olderFacts: number
  /** Without those that something took the place of, where there are not thousands. */
  howMany(kind: string): number
  /** Why what it says of the code may hold no more, as far as its files show; nothing where it holds. */
  stale(id: string): string | undefined
  /** What is said beside an entity that counts. */
  holds(e: Entity): Holds
  /** Another branch that it belongs to, as long as that one is not merged here. */
  branch(e: Entity): string | undefined
  /** Entities that a section has told: no other repeats them. */
  readonly delivered: Set<string>
  /** Whether it counts: live, agreed to, not taken out, not replaced, true at the moment. */
  counts(e: Entity): boolean
}
