import { keptIn } from '../../base/lookup.ts'
import { type ListOptions, newestFirst, type Reader } from '../../engine/read/reader.ts'
import { isStopWord, tokensIn } from '../../engine/store/terms.ts'
import { cleanPath, type Edge, type Entity, importedFrom, isAgreed, provenanceOf } from '../../model/entity.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import { slug } from '../../model/names.ts'
import { shippedWords, type TopicVocabulary } from '../recall/topic-vocabulary.ts'

/** How a topic was found: said in `topics` or `tags`, "for the … pipeline", a folder, a word, or only in what is linked. */
type TopicSource = 'topics' | 'tags' | 'mention' | 'path' | 'keyword' | 'neighbour'

export interface Topic {
  readonly topic: string
  readonly from: TopicSource
  /** The label, words or path that told; for a neighbour its id. */
  readonly by: string
}

/** Folders that say where code lies, and nothing of what it is about. */
const SILENT_FOLDERS = new Set(
  `src lib libs app apps packages package pkg cmd internal source sources main java kotlin com org net io test tests spec specs
  __tests__ e2e fixtures utils util common shared core helpers types modules components services bin dist build out public vendor
  node_modules assets static scripts tools examples include crates plugins features index code workspace home users log`.split(
    /\s+/,
  ),
)
/** "for the deployment pipeline": what stands between the article and one of these is a part of the work. */
const PARTS =
  'pipeline service module component layer subsystem package area team workflow flow stack feature plugin worker'.split(
    ' ',
  )
const ARTICLES = new Set(['the', 'our', 'this', 'my'])
const PREPOSITIONS = new Set('for in of on to within into from across inside by with about regarding'.split(' '))
/** They tell which one, not what it is. */
const SILENT_ADJECTIVES = new Set(
  'new old whole entire main first second next last current other existing legacy local same'.split(' '),
)
const MOST_WORDS_OF_A_NAME = 3
/** A text field with this weight says what the entity is; a lesser one why, or from where. */
const TELLING_WEIGHT = 1.2
/** Keywords give so many topics at most, those with the most words first. */
const MOST_BY_KEYWORDS = 3
const MOST_NEIGHBOURS = 50

/** The topics of an entity, each with how it was found. Neighbours count as a last resort. */
export const topicsOf = (reader: Reader, entity: Entity, vocabulary = shippedWords()): Topic[] =>
  topicsOfAll(reader, [entity], vocabulary).get(entity.id)!

export function topicsOfAll(reader: Reader, entities: readonly Entity[], vocabulary = shippedWords()) {
  const topics = new Map(entities.map((e) => [e.id, ownTopics(reader, e, vocabulary)]))
  const without = [...topics].flatMap(([id, own]) => (own.length === 0 ? [id] : []))
  for (const [id, found] of neighboursTopics(reader, without, vocabulary)) topics.set(id, found)
  return topics
}

export function ownTopics(reader: Reader, entity: Entity, vocabulary = shippedWords()): Topic[] {
  const { fields, kind, name } = entity
  const found = new Map<string, Topic>()
  const add = (from: TopicSource, by: string, topic: string) => {
    if (topic !== '' && !found.has(topic)) found.set(topic, { topic, from, by })
  }
  for (const from of ['topics', 'tags'] as const)
    for (const label of textsIn(fields[from])) add(from, label, vocabulary.nameOf(label))
  const { telling, other } = proseOf(reader, entity)
  for (const by of mentionsIn(telling))
    add('mention', by, vocabulary.known(by) ?? vocabulary.known(by.split(' ').at(-1)!) ?? slug(by))
  // where the words stand that an import read is not what they are about
  const isRead = kind !== 'file' && provenanceOf(entity).some((p) => importedFrom(p.source) !== undefined)
  const places = textsIn(fields.locations).filter((path) => !isRead || !isDocument(path))
  const paths = [...places, ...(kind === 'file' ? [name] : []), ...pathsIn(telling)]
  for (const path of paths) for (const topic of topicsOfPath(path, vocabulary)) add('path', path, topic)
  if (textsIn(fields.topics).length > 0) return [...found.values()]
  const inTelling = vocabulary.in(spoken(telling))
  const words = inTelling.size > 0 || found.size > 0 ? inTelling : vocabulary.in(spoken(other))
  const most = [...words].sort((a, b) => b[1].length - a[1].length).slice(0, MOST_BY_KEYWORDS)
  // each word once, without the parts of another
  for (const [topic, by] of most)
    add('keyword', [...new Set(by)].filter((w) => !by.some((b) => b !== w && b.includes(w))).join(', '), topic)
  return [...found.values()]
}

/** Without the folders of its paths that say nothing: `src/log/` is no word of its. */
const spoken = (text: string): string => text.split(/(\s)/).map(telling).join('')
function telling(word: string): string {
  const parts = word.split('/')
  return parts.length === 1 ? word : parts.filter((p) => !SILENT_FOLDERS.has(p.toLowerCase())).join('/')
}

const isDocument = (path: string): boolean => /\.(?:mdx?|mdc|markdown|rst|adoc|txt)(?::\d{1,9})?$/i.test(path)

const textsIn = (v: unknown): string[] => (Array.isArray(v) ? v.filter((x) => typeof x === 'string') : [])

/** The text fields of a kind: those that say what an entity is, and the rest. */
const textFields = (kind: Kind): { readonly telling: readonly string[]; readonly other: readonly string[] } =>
  keptIn(TEXT_FIELDS, kind, () => {
    const texts = Object.entries(fieldsOf(kind)).filter(([name, f]) => f.type === 'text' && f.weight && name !== 'path')
    const { telling = [], other = [] } = Object.groupBy(texts, ([, f]) =>
      f.weight! >= TELLING_WEIGHT ? 'telling' : 'other',
    )
    return { telling: telling.map(([name]) => name), other: other.map(([name]) => name) }
  })

const TEXT_FIELDS = new WeakMap<Kind, ReturnType<typeof textFields>>()

/** What an entity says in words: what it is, and apart from that the rest. */
function proseOf(reader: Reader, { kind, fields }: Entity): { telling: string; other: string } {
  const spec = reader.registry().kind(kind)
  if (!spec) return { telling: '', other: '' }
  const { telling, other } = textFields(spec)
  const said = (names: readonly string[]) =>
    names.flatMap((n) => (typeof fields[n] === 'string' ? fields[n] : [])).join('\n')
  return { telling: said(telling), other: said(other) }
}

/** "for the deployment pipeline" → "deployment". */
function mentionsIn(text: string): string[] {
  const said = text.toLowerCase()
  if (!PARTS.some((part) => said.includes(part))) return []
  const words = said.split(/[^\p{L}\p{N}_-]+/u)
  return words.flatMap((head, at) => {
    if (!PARTS.includes(head)) return []
    for (let n = 1; n <= MOST_WORDS_OF_A_NAME; n++) {
      if (!ARTICLES.has(words[at - n - 1] ?? '')) continue
      if (!PREPOSITIONS.has(words[at - n - 2] ?? '')) return []
      const name = words.slice(at - n, at).filter((w) => !SILENT_ADJECTIVES.has(w) && !isStopWord(w))
      return name.length > 0 ? [name.join(' ')] : []
    }
    return []
  })
}

/** Paths that stand in a text: with a folder and an extension. What begins with a host's name is none. */
const pathsIn = (text: string): string[] =>
  text.includes('/')
    ? tokensIn(text).filter((t) => {
        const [first = '', ...rest] = t.split('/')
        return rest.length > 0 && !first.includes('.', 1) && rest.at(-1)!.includes('.', 1)
      })
    : []

/** The first folder that says something, those below it that the vocabulary knows, and such a name of the file. */
export function topicsOfPath(path: string, vocabulary = shippedWords()): string[] {
  const parts = cleanPath(path.split(':')[0]!).split('/')
  const file = parts.pop() ?? ''
  const folders = parts.filter((p) => !SILENT_FOLDERS.has(p.toLowerCase()) && !p.startsWith('.') && /\p{L}/u.test(p))
  const known = [...folders.slice(1), file.split('.')[0]!].flatMap((p) => vocabulary.known(p) ?? [])
  return [...new Set([...folders.slice(0, 1).map((p) => vocabulary.nameOf(p)), ...known])]
}

/** Of each what at least half of those with topics among its neighbours are about. */
function neighboursTopics(reader: Reader, ids: readonly string[], vocabulary: TopicVocabulary): Map<string, Topic[]> {
  const near = new Map(ids.map((id) => [id, new Set<string>()]))
  if (ids.length === 0) return new Map()
  for (const { from, to } of reader.edges('from', ids)) near.get(from)!.add(to)
  for (const { from, to } of reader.edges('to', ids)) near.get(to)!.add(from)
  for (const [id, all] of near) near.set(id, new Set([...all].slice(0, MOST_NEIGHBOURS)))
  const others = new Set([...near.values()].flatMap((all) => [...all]))
  const known = new Map(reader.entities([...others]).map((e) => [e.id, ownTopics(reader, e, vocabulary)]))
  return new Map(
    [...near].map(([id, all]) => {
      const telling = [...all].filter((other) => known.get(other)?.length)
      const byTopic = new Map<string, string[]>()
      for (const other of telling)
        for (const { topic } of known.get(other)!) byTopic.set(topic, [...(byTopic.get(topic) ?? []), other])
      const found = [...byTopic].filter(([, by]) => by.length * 2 >= telling.length)
      return [id, found.map(([topic, by]) => ({ topic, from: 'neighbour', by: by.sort()[0]! }))]
    }),
  )
}

/** Of what several kinds list those on a topic or an alias of it, newest first. */
export function onTopic(
  reader: Reader,
  kinds: readonly string[],
  said: string,
  { limit, offset = 0, ...asked }: ListOptions,
  vocabulary = shippedWords(),
): Entity[] {
  const all = kinds.flatMap((kind) => reader.list(kind, asked)).sort(newestFirst)
  const topics = topicsOfAll(reader, all, vocabulary)
  const topic = vocabulary.nameOf(said)
  const found = all.filter((e) => topics.get(e.id)!.some((t) => t.topic === topic))
  return found.slice(offset, limit === undefined ? undefined : offset + limit)
}

/** The agreed decisions, replaced ones too: a trace tells how they came about. Newest first. */
const decisionsOf = (reader: Reader): Entity[] => reader.list('decision').filter(isAgreed)

export const decisionsByTopic = (reader: Reader, topic: string, vocabulary = shippedWords()): Entity[] =>
  onTopic(reader, ['decision'], topic, {}, vocabulary).filter(isAgreed)

/** The decisions of each topic, oldest first; the longest trace first. A decision with several topics is in several. */
export function tracesByTopic(reader: Reader, vocabulary = shippedWords()): { topic: string; decisions: Entity[] }[] {
  const traces = new Map<string, Entity[]>()
  const all = decisionsOf(reader).toReversed()
  const topics = topicsOfAll(reader, all, vocabulary)
  for (const e of all) for (const { topic } of topics.get(e.id)!) keptIn(traces, topic, () => []).push(e)
  return [...traces]
    .map(([topic, decisions]) => ({ topic, decisions }))
    .sort((a, b) => b.decisions.length - a.decisions.length || (a.topic < b.topic ? -1 : 1))
}

/** Links between decisions that have topics, but none in common. */
export function crossTraceLinks(reader: Reader, vocabulary = shippedWords()): Edge[] {
  const topics = new Map(
    decisionsOf(reader).map((e) => [e.id, new Set(ownTopics(reader, e, vocabulary).map((t) => t.topic))]),
  )
  return reader.edges('from', [...topics.keys()]).filter(({ from, to }) => {
    const [here, there] = [topics.get(from), topics.get(to)]
    return here && there && here.size > 0 && there.size > 0 && ![...here].some((t) => there.has(t))
  })
}
