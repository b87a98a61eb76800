import { keptIn } from '../../../base/lookup.ts'
import type { ActOptions, Memory } from '../../../engine/memory.ts'
import type { Actor } from '../../../engine/write/plan.ts'
import { type Entity, identityOf } from '../../../model/entity.ts'
import { defined } from '../../../model/object.ts'
import type { Problem } from '../../../model/validate.ts'
import type { Stated } from './compare.ts'
import { Finder } from './find.ts'
import { asList } from './json-values.ts'
import { Queue, type QueueEvents, type Unit } from './queue.ts'
import { addReading, count, type ImportReport, shown } from './report.ts'
import type { Item, Reading } from './types.ts'

export interface ImportOptions extends Pick<ActOptions, 'session' | 'agent'> {
  /** Where the knowledge comes from, e.g. `import add .add`: kept in every provenance, and recognised by it. */
  readonly source: string
  /** Of the project whose files are read. */
  readonly root?: string
  /** The standing of what is new, where the source says none. */
  readonly standing?: 'proposed' | 'confirmed'
  /** Who says that its rules bind: with an agent, or whoever only takes a file in, they are proposals. */
  readonly by?: Actor
  progress?(line: string): void
}

/** One import under way: what its steps share. */
export class ImportRun implements QueueEvents {
  readonly memory: Memory
  readonly reading: Reading
  readonly options: ImportOptions
  readonly report: ImportReport
  readonly queue: Queue
  readonly finder: Finder
  /** Names of items that are still to come. */
  readonly announced = new Set<string>()
  readonly touched = new Set<string>()
  /** Items that have to wait until all others are written. */
  readonly deferred: Item[] = []
  /** What items call an entity → its id. */
  readonly #ids = new Map<string, string>()
  readonly #stated = new Map<string, Stated>()
  readonly #locations = new Map<string, Set<string>>()

  constructor(memory: Memory, reading: Reading, options: ImportOptions, report: ImportReport) {
    const { source, session, agent, by } = options
    this.memory = memory
    this.reading = reading
    this.options = options
    this.report = report
    addReading(report, reading)
    this.queue = new Queue(memory, defined({ source, session, agent, by, redact: true }), this)
    this.finder = new Finder(memory, source)
    for (const item of reading.items) {
      if (item.as !== undefined) this.announced.add(item.as)
      this.#noteLocations(item)
    }
  }

  get reader() {
    return this.memory.reader
  }

  get registry() {
    return this.memory.registry()
  }

  /** The id of what items call by a name; the name itself where no item does. */
  idOf(name: string): string {
    return this.#ids.get(name) ?? name
  }

  isKnown(name: string): boolean {
    return this.#ids.has(name)
  }

  isAbout({ as }: Item, id: string): void {
    this.touched.add(id)
    if (as !== undefined) this.#ids.set(as, id)
  }

  statedOf(id: string): Stated {
    return keptIn(this.#stated, id, () => new Set())
  }

  #noteLocations({ verb, args }: Item): void {
    const kind = this.registry.recordedBy(verb)
    const id = kind && Array.isArray(args.locations) ? identityOf(kind, args) : undefined
    if (id !== undefined)
      this.#locations.set(id, new Set([...(this.#locations.get(id) ?? []), ...asList(args.locations)]))
  }

  isInFiles(location: string): boolean {
    return (this.reading.files ?? []).some((f) => location.startsWith(`${f}:`) || location.startsWith(`${f}#`))
  }

  /** Locations in the files of this import where the source no longer has it. */
  movedFrom(target: Entity, now: readonly string[]): string[] {
    const all = this.#locations.get(target.id)
    return asList(target.fields.locations).filter((l) => this.isInFiles(l) && !all?.has(l) && !now.includes(l))
  }

  leaveOut({ where }: Item, what: string, why: string): undefined {
    this.report.unplaced.push({ where, what: shown(what), why })
  }

  /** What stays as it was changed here. */
  keep({ where }: Item, what: string, why: string): undefined {
    this.report.kept.push({ where, what: shown(what), why })
  }

  unchanged(kind: string): undefined {
    count(this.report, kind, 'unchanged')
  }

  wrote(batch: string): void {
    this.report.batches.push(batch)
  }

  written({ item, kind, created, id: known }: Unit, written: string): void {
    const id = created ? written : (known ?? written) // an edit that waits for a yes is written to a proposal
    if (kind !== '') count(this.report, kind, created ? 'created' : 'updated')
    this.isAbout(item, id)
    if (created) this.finder.remember(item, kind, id)
  }

  refused({ item, actions: [[, args] = ['', {}]] }: Unit, p: Problem): void {
    const why = `${p.field ? `${p.field}: ` : ''}${p.message}${p.hint ? ` (${p.hint})` : ''}`
    this.leaveOut(item, `${p.verb} ${String(Object.values(args)[0] ?? '')}`, why)
  }
}
