import { unlessRefused } from '../../base/errors.ts'
import { keptIn } from '../../base/lookup.ts'
import type { ActOptions, Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { MAX_ACTIONS } from '../../engine/write/batch.ts'
import { type Entity, linkId } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { stemsOf } from '../recall/word-overlap.ts'

/** What can be named in a text. A rule or a question is said, not named. */
const NAMED = ['concept', 'person', 'decision', 'principle', 'pattern', 'goal', 'hypothesis'] as const
/** A single word shorter than this names nothing. */
const MIN_WORD = 4
/** Of one run: more would not be looked at. */
const MAX_BRIDGES = 20

/** Names of entities, found in a text by their words in a row. */
export class NameIndex {
  /** First word → the names that begin with it. */
  readonly #names = new Map<string, { words: readonly string[]; id: string }[]>()

  constructor(reader: Reader, kinds: readonly string[] = NAMED) {
    for (const kind of kinds) {
      if (!reader.registry().kind(kind)) continue
      for (const e of reader.list(kind)) if (e.fields.standing !== 'proposed') this.#add(e)
    }
  }

  #add({ id, kind, name }: Entity): void {
    const words = stemsOf(name.replaceAll('-', ' '))
    const isTelling =
      words.length > 1 || ((kind === 'concept' || kind === 'person') && (words[0]?.length ?? 0) >= MIN_WORD)
    if (words.length === 0 || !isTelling) return
    keptIn(this.#names, words[0]!, () => []).push({ words, id })
  }

  /** Ids of what the text names, each once, in the order of the text. */
  in(text: string): string[] {
    const words = stemsOf(text)
    const found = new Set<string>()
    for (const [i, word] of words.entries())
      for (const name of this.#names.get(word) ?? [])
        if (name.words.every((w, k) => words[i + k] === w)) found.add(name.id)
    return [...found]
  }
}

/** Whether the two were linked so before; a link that was taken away or rejected counts. */
const wasLinked = (reader: Reader, from: string, type: string, to: string): boolean =>
  reader.entity(linkId(from, type, to)) !== undefined

type Action = [verb: string, args: { [arg: string]: Json }]

type Linked = { readonly links: number; readonly batches: readonly string[] }

function actAll(memory: Memory, actions: readonly Action[], options: ActOptions): Linked {
  const batches: string[] = []
  for (let i = 0; i < actions.length; i += MAX_ACTIONS) {
    const { batch } = memory.act(actions.slice(i, i + MAX_ACTIONS), options)
    if (batch !== null) batches.push(batch)
  }
  return { links: actions.length, batches }
}

/** Links documents to what they name. */
export function linkMentions(memory: Memory, options: ActOptions): Linked {
  const { reader } = memory
  const names = new NameIndex(reader)
  const actions = reader.list('chunk').flatMap(({ id: from, fields }) => {
    const named = names.in(String(fields.content)).filter((to) => !wasLinked(reader, from, 'mentions', to))
    return named.map((to): Action => ['link-entities', { from, to, type: 'mentions' }])
  })
  return actAll(memory, actions, options)
}

const KINDS_OF_METHOD = /\b(?:framework|method|methodology|model|technique|practice|principle|theory|heuristic)s?\b/i
const KINDS_OF_ADVICE = /\b(?:advice|guideline|best practice|recommendation|rule|principle|practice)s?\b/i

const textOf = ({ name, fields: { status: _status, standing: _standing, ...fields } }: Entity): string =>
  [name, ...Object.values(fields).filter((v) => typeof v === 'string')].join('\n')

/** How something of one's own relates to general knowledge that it names (concept paper 4, bridge layer). */
function bridgeOf(kind: string, concept: Entity): string | undefined {
  const type = `${String(concept.fields.type ?? '')} ${String(concept.fields.definition ?? '')}`
  if (kind === 'decision') return KINDS_OF_METHOD.test(type) ? 'applies-framework' : undefined
  if (kind === 'exception') return KINDS_OF_ADVICE.test(type) ? 'contradicts-general-advice' : undefined
  return 'may-be-instance-of'
}

const OWN = ['decision', 'exception', 'observation', 'measurement', 'event-note', 'insight', 'correction', 'failed-approach'] // biome-ignore format: a list

/** A link that may hold, and why: words of the text, or what both have. */
export type Bridge = Readonly<{ from: string; type: string; to: string; evidence: string }>

/** How what was lived relates to the concepts it names, so many at most; none that was linked or proposed before. */
export function bridgesIn(reader: Reader, most = MAX_BRIDGES): Bridge[] {
  const concepts = new NameIndex(reader, ['concept'])
  const found: Bridge[] = []
  for (const kind of OWN)
    for (const e of reader.list(kind))
      for (const to of concepts.in(textOf(e))) {
        if (found.length >= most) return found
        const concept = reader.entity(to)!
        const type = bridgeOf(kind, concept)
        if (type === undefined || wasLinked(reader, e.id, type, to) || wasLinked(reader, e.id, 'instance-of', to))
          continue
        found.push({ from: e.id, type, to, evidence: `names "${concept.name}"` })
      }
  return found
}

/** Proposes links; one that is refused, because it would close a cycle, say, is left out. */
export function proposeLinks(
  memory: Memory,
  links: readonly Bridge[],
  options: ActOptions,
): { made: readonly Bridge[]; batches: readonly string[] } {
  const actions = links.map(
    ({ evidence, ...link }): Action => ['propose', { action: ['link-entities', { ...link }], evidence }],
  )
  const all = unlessRefused(() => actAll(memory, actions, options))
  if (all) return { made: links, batches: all.batches }
  if (links.length === 1) return { made: [], batches: [] }
  const done = links.map((link) => proposeLinks(memory, [link], options))
  return { made: done.flatMap((d) => d.made), batches: done.flatMap((d) => d.batches) }
}
