import { keptIn } from '../../../base/lookup.ts'
import type { Event } from '../../../engine/log/events.ts'
import type { Memory } from '../../../engine/memory.ts'
import { type Entity, identityOf, nameKey, provenanceOf } from '../../../model/entity.ts'
import type { Kind } from '../../../model/kind.ts'
import { foldName } from '../../../model/names.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import type { Item } from './types.ts'

const sourcesOf = (e: Entity): unknown[] => provenanceOf(e).map((p) => p.source)

/** Recognises the entities that an import is about: by id, by the mark of an earlier import, by name or content. */
export class Finder {
  readonly #memory: Memory
  readonly #source: string
  /** Ids by a mark in attrs, per kind and attribute; read once. */
  readonly #marks = new Map<string, Map<string, string>>()

  constructor(memory: Memory, source: string) {
    this.#memory = memory
    this.#source = source
  }

  isFrom(e: Entity): boolean {
    return sourcesOf(e).includes(this.#source)
  }

  /** Nobody but this source has said anything of it; a yes says nothing new. */
  isFromAlone(e: Entity): boolean {
    const own = (source: unknown) => source === this.#source
    const says = ({ field, value }: Event) =>
      field !== 'standing' && !(field === 'provenance' && isObject(value) && value.confirms !== undefined)
    return (
      sourcesOf(e).every(own) ||
      this.#memory.history(e.id).every(({ event, author }) => !says(event) || own(author?.source))
    )
  }

  target(item: Item, kind: Kind, values: JsonObject, known: string | undefined): Entity | undefined {
    const { reader } = this.#memory
    const home = `${this.#memory.projectId}/`
    for (const id of [known, item.origin?.startsWith(home) ? item.origin.slice(home.length) : undefined]) {
      const found = id === undefined ? undefined : reader.entity(id)
      if (found?.kind === kind.name) return found
    }
    const mark = item.origin !== undefined ? (['origin', item.origin] as const) : item.same
    const marked = mark && this.marked(kind.name, mark[0]).get(mark[1])
    if (marked !== undefined) return reader.entity(marked)
    const id = identityOf(kind, values)
    if (id === undefined) return undefined
    let there = reader.entity(id)
    for (let n = 1; !there?.live; n++) {
      const next = reader.entity(`${id}~${n}`) // where an erased one had the id
      if (!next) break
      there = next
    }
    const name = String(values[kind.key[0]])
    if (kind.identity !== 'name' || (there?.live && foldName(there.name) === foldName(name))) return there
    const called = this.#called(kind, name)
    return called.length === 1 ? called[0] : there
  }

  #called(kind: Kind, name: string): Entity[] {
    return this.#memory.reader.byName(nameKey(name)).filter((e) => e.kind === kind.name && e.live)
  }

  /** Entities by a mark in their attrs: an origin and the file of a record mean one thing everywhere, any other only within its source. */
  marked(kind: string, attr: string): Map<string, string> {
    return keptIn(this.#marks, `${kind} ${attr}`, () => {
      const found = new Map<string, string>()
      for (const e of this.#memory.reader.list(kind, { all: true })) {
        const value = isObject(e.fields.attrs) ? e.fields.attrs[attr] : undefined
        if (typeof value === 'string' && (attr === 'origin' || attr === 'adr' || this.isFrom(e))) found.set(value, e.id)
      }
      return found
    })
  }

  remember(item: Item, kind: string, id: string): void {
    if (item.same) this.marked(kind, item.same[0]).set(item.same[1], id)
    if (item.origin !== undefined) this.marked(kind, 'origin').set(item.origin, id)
  }

  /** What an entity was called when it got this id, if that can be told from the id and the name is free. */
  firstName(kind: Kind, id: string): string | undefined {
    const name = id.slice(kind.name.length + 1)
    if (kind.identity === 'event' || kind.key.length > 1 || identityOf(kind, { [kind.key[0]]: name }) !== id)
      return undefined
    return this.#called(kind, name).length > 0 ? undefined : name
  }
}
