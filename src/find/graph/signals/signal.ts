import { keptIn } from '../../../base/lookup.ts'
import type { Memory } from '../../../engine/memory.ts'
import type { ListOptions, Reader } from '../../../engine/read/reader.ts'
import { sha256 } from '../../../model/digest.ts'
import { type Edge, type Entity, isAgreed } from '../../../model/entity.ts'
import { oneLine } from '../../../model/text.ts'
import type { Vocabulary } from '../../recall/contradictions.ts'
import type { TopicVocabulary } from '../../recall/topic-vocabulary.ts'
import { upheldLinks } from '../../recall/unverified.ts'
import { topicsOfAll } from '../topics.ts'

/** Of more of a kind the newest count: so many are read in some tenths of a second. */
export const NEWEST = 2_000

export const SEVERITIES = ['high', 'medium', 'low'] as const

export interface Signal {
  /** The same for the same finding on every replica. */
  readonly id: string
  readonly type: string
  readonly severity: (typeof SEVERITIES)[number]
  /** One line for "Patterns Noticed". */
  readonly line: string
  /** Their ids, oldest first. */
  readonly entities: readonly string[]
  /** What it rests on, a line each. */
  readonly evidence: readonly string[]
  /** A command that is ready to run. */
  readonly next: string
}

/** Decisions of another project of the same user. */
export type OtherProject = Readonly<{ id: string; name: string; decisions: readonly Entity[] }>

/** What detectors look at. */
interface LookOptions {
  readonly reader: Reader
  readonly memory: Memory
  /** The moment that the reader is of. */
  readonly now: number
  readonly topics: TopicVocabulary
  readonly alternatives: Vocabulary
  /** The newest facts that bind. */
  binding(): readonly Entity[]
  others?(): readonly OtherProject[]
}

type Ends = Pick<Edge, 'id' | 'from' | 'to'>

/** The same, with what several detectors read, read once. */
export class Look {
  #decisions: readonly Entity[] | undefined
  readonly options: LookOptions

  constructor(options: LookOptions) {
    this.options = options
  }

  /** Everything of a kind that somebody stands by and that nothing replaced, oldest first; of many the newest. */
  agreed(kind: string, options: ListOptions = {}): readonly Entity[] {
    const { reader } = this.options
    const all = reader.registry().kind(kind) ? reader.list(kind, { limit: NEWEST, ...options }) : []
    return all.filter(isAgreed).reverse()
  }

  /** Decisions that somebody stands by, oldest first. Their status says which were replaced, so that links need no look. */
  get decisions(): readonly Entity[] {
    return (this.#decisions ??= this.agreed('decision', { limit: Number.MAX_SAFE_INTEGER, all: true }))
  }

  /** Of links that were read without their entities those that somebody stands by; their ends may be gone. */
  standing(links: readonly Ends[]): Ends[] {
    const said = this.options.reader.entities(links.map((l) => l.id))
    const agreed = new Set(said.flatMap((e) => (e.live && isAgreed(e) ? [e.id] : [])))
    return links.filter((l) => agreed.has(l.id))
  }

  /** Links of some relations at any of several entities. */
  edgesAt(entities: readonly Entity[], ...types: readonly string[]): Edge[] {
    const ids = entities.map((e) => e.id)
    const links = upheldLinks(this.options.memory, this.options.reader)
    return (['from', 'to'] as const).flatMap((end) => links.edges(end, ids, types))
  }

  topicsOf(entities: readonly Entity[]): Map<string, string[]> {
    const all = topicsOfAll(this.options.reader, entities, this.options.topics)
    return new Map([...all].map(([id, topics]) => [id, topics.map((t) => t.topic)]))
  }
}

export type Detector = (look: Look) => Signal[]

/** A signal is recognised by what it is about, which stays while more of the same is added. */
export function signalOn(type: string, severity: Signal['severity'], ...about: readonly string[]) {
  return { id: `${type}-${sha256(JSON.stringify(about)).slice(0, 8)}`, type, severity }
}

export const said = (text: string, max = 60): string => oneLine(text, max)

/** A name with hyphens, as people say it. */
export const spoken = ({ name }: Entity): string => said(name.includes(' ') ? name : name.replaceAll('-', ' '))

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1).replaceAll('-', ' ')

export const times = (n: number): string => (n === 2 ? 'twice' : `${n} times`)

export const fieldOf = ({ fields }: Entity, name: string): string => {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** What is said of these, in short. */
export const joined = (texts: readonly string[], by: string): string =>
  texts.flatMap((t) => (t === '' ? [] : said(t, 80))).join(by)

export const inCommon = (topics: readonly (readonly string[])[]): string[] =>
  (topics[0] ?? []).filter((t) => topics.every((all) => all.includes(t)))

/** Topics that so many of several entities have, with these; those with most first. */
export function byTopic(look: Look, entities: readonly Entity[], least: number): [topic: string, Entity[]][] {
  const topics = look.topicsOf(entities)
  const groups = new Map<string, Entity[]>()
  for (const e of entities) for (const topic of topics.get(e.id) ?? []) keptIn(groups, topic, () => []).push(e)
  const found = [...groups].filter(([, all]) => all.length >= least)
  return found.sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1))
}
