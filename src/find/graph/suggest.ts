import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { tokensIn } from '../../engine/store/terms.ts'
import { cleanPath, type Entity, identityOf, linkId, madeAt } from '../../model/entity.ts'
import { saying } from '../recall/card.ts'
import { contrary, type Vocabulary } from '../recall/contradictions.ts'
import type { Recaller } from '../recall/recall.ts'
import type { TopicVocabulary } from '../recall/topic-vocabulary.ts'
import type { Recalled } from '../recall/types.ts'
import { stateOf } from '../recall/validity.ts'
import { stemsOf } from '../recall/word-overlap.ts'
import { type Cue, chosenIn, cuesIn } from './cues.ts'
import { type Bridge, NameIndex } from './mentions.ts'
import { ownTopics, type Topic } from './topics.ts'

/** Whether it was recorded before, stands, and nothing was said of the two yet. */
type IsPrior = (e: Entity | undefined) => e is Entity

/** Every relation that is suggested here or in `mentions.ts`. One between two entities, in any state, settles that pair. */
const SUGGESTED = ['supersedes', 'conflicts-with', 'depends-on', 'constrains', 'impacts', 'informs', 'cites', 'references', 'similar-to', 'involves', 'mentions', 'about', 'instance-of', 'may-be-instance-of', 'applies-framework', 'contradicts-general-advice'] // biome-ignore format: a list

export interface Suggestion extends Bridge {
  /** How it was found; the surest first. */
  readonly by: 'cue' | 'choice' | 'name' | 'file' | 'attribution' | 'similarity'
  /** In (0, 1], to compare those that were found in the same way. */
  readonly score: number
}

export interface Grounds {
  readonly memory: Memory
  readonly reader: Reader
  readonly recaller: Pick<Recaller, 'askNow'>
  readonly now: number
  readonly alternatives: Vocabulary
  readonly topics?: TopicVocabulary
}

/** Calibrated on bench/links/tuned.txt; docs/graph.md has the figures. */
export const LEAST = {
  /** This share of the words that name something stands in what the other one chooses; more where that is replaced. */
  named: 0.5,
  replaced: 0.6,
  /** So similar is what goes together, as a share of the similarity to itself; less is enough on one topic, most where that was said. */
  similar: 0.26,
  similarOnTopic: 0.2,
  similarOnLabel: 0.08,
}
/** What a decision may speak of, besides other decisions. */
const SPOKEN_OF = ['decision', 'principle', 'pattern', 'failed-approach']
const CANDIDATES = 10
const MOST_SIMILAR = 3
/** A file that more decisions show in says nothing of any two. */
const MOST_IN_FILE = 5
const MOST_CUES = 6
/** Words that name nothing. */
const GENERAL = new Set(['rule', 'decis', 'choic', 'part', 'wai', 'old', 'earlier', 'previou', 'time', 'new', 'approach', 'case', 'what', 'thing', 'all', 'before']) // biome-ignore format: a list
const ORDER: readonly Suggestion['by'][] = ['cue', 'choice', 'name', 'file', 'attribution', 'similarity']

const surestFirst = (a: Suggestion, b: Suggestion): number =>
  ORDER.indexOf(a.by) - ORDER.indexOf(b.by) || b.score - a.score

const textOf = ({ fields: { description, rationale } }: Entity): string =>
  [description, rationale].filter((t) => typeof t === 'string').join('\n')

/** Whether somebody has been told of the two, or has linked them: whatever became of it, they are not suggested again. */
export function isSettled(reader: Reader, a: string, b: string): boolean {
  const known = (from: string, to: string) => SUGGESTED.some((type) => reader.entity(linkId(from, type, to)))
  if (known(a, b) || known(b, a)) return true
  return [...reader.links('from', a), ...reader.links('to', a)].some((l) => l.from === b || l.to === b)
}

const filesOf = ({ fields: { locations } }: Entity): string[] =>
  (Array.isArray(locations) ? locations : []).map((l) => {
    const [path = ''] = String(l).split('#')
    return cleanPath(path.replace(/:\d{1,9}(?:[-:]\d{1,9})?$/, ''))
  })

/** How something relates to what was recorded before it, the surest first, one suggestion for each other entity. */
export function suggestFor(e: Entity, grounds: Grounds): Suggestion[] {
  const { reader } = grounds
  const isPrior = (other: Entity | undefined): other is Entity =>
    other !== undefined &&
    other.id !== e.id &&
    madeAt(other) <= madeAt(e) &&
    stateOf(other, reader, grounds.now) === undefined &&
    !isSettled(reader, e.id, other.id)
  // those of one batch have no order of time; without words that tell, each pair is suggested one way
  const isEarlier = (other: Entity | undefined): other is Entity =>
    isPrior(other) && (madeAt(other) < madeAt(e) || other.id < e.id)
  const topics = ownTopics(reader, e, grounds.topics).map((t) => t.topic)
  const near = ask(grounds, [saying(e, reader), ...topics].join('\n'), ['decision'])
  const all = [
    ...byCues(e, grounds, isPrior),
    ...byChoice(e, near, grounds, isEarlier),
    ...byName(e, reader, isPrior),
    ...byFiles(e, grounds, isEarlier),
    ...bySimilarity(e, near, grounds, isEarlier),
  ].sort(surestFirst)
  const seen = new Set<string>()
  return all.filter(({ from, to }) => {
    const pair = [from, to].sort().join(' ')
    return !seen.has(pair) && seen.add(pair)
  })
}

/** What a decision has to do with whom and what it names. */
const ATTRIBUTED: Readonly<Record<string, string>> = { person: 'involves', concept: 'mentions', goal: 'about', activity: 'about', file: 'about' } // biome-ignore format: a table

/** Links to the files that it shows in, where something is known of them, and to the people, concepts, goals and activities that it names. */
function attributed(e: Entity, reader: Reader, names: NameIndex): Suggestion[] {
  const files = filesOf(e).flatMap(
    (path) => reader.entity(identityOf(reader.registry().kind('file')!, { path }) ?? '') ?? [],
  )
  const named = reader.entities(names.in(`${saying(e, reader)}\n${textOf(e)}`))
  return [...files, ...named].flatMap((other): Suggestion[] => {
    const type = ATTRIBUTED[other.kind]
    if (type === undefined || !other.live || isSettled(reader, e.id, other.id)) return []
    const evidence = other.kind === 'file' ? `is in ${other.name}` : `names "${other.name}"`
    return [{ from: e.id, type, to: other.id, evidence, by: 'attribution', score: 1 }]
  })
}

/** How everything that was decided relates to what was decided before, and to what it names; the surest first. */
export function suggestAll(grounds: Grounds, progress?: (done: number, of: number) => void): Suggestion[] {
  const { reader } = grounds
  const names = new NameIndex(reader, Object.keys(ATTRIBUTED))
  const decisions = reader.list('decision')
  return decisions
    .flatMap((e, i) => {
      progress?.(i, decisions.length)
      return stateOf(e, reader, grounds.now) === undefined
        ? [...suggestFor(e, grounds), ...attributed(e, reader, names)]
        : []
    })
    .sort(surestFirst)
}

const ask = ({ recaller }: Grounds, question: string, kinds: readonly string[]): Recalled[] =>
  question.trim() === '' ? [] : recaller.askNow(question, { kinds, scope: 'macro', limit: CANDIDATES }).results

/** What a few words name: the decision that chooses most of it, if it chooses enough. */
function named(words: string, least: number, grounds: Grounds, isPrior: IsPrior) {
  const wanted = [...new Set(stemsOf(words))].filter((w) => !GENERAL.has(w))
  if (wanted.length === 0) return undefined
  let best: { id: string; score: number } | undefined
  for (const { id, similar } of ask(grounds, words, SPOKEN_OF))
    for (const other of grounds.reader.entities([id, ...similar])) {
      const head = new Set(stemsOf(chosenIn(saying(other, grounds.reader))))
      const score = wanted.filter((w) => head.has(w)).length / wanted.length
      if (score >= least && score > (best?.score ?? 0) && isPrior(other)) best = { id: other.id, score }
    }
  return best
}

const byCues = (e: Entity, grounds: Grounds, isPrior: IsPrior): Suggestion[] =>
  cuesIn(textOf(e))
    .slice(0, MOST_CUES)
    .flatMap((cue: Cue): Suggestion[] => {
      const least = cue.type === 'supersedes' ? LEAST.replaced : LEAST.named
      for (const words of [cue.object, cue.other ?? '']) {
        const found = named(words, least, grounds, isPrior)
        if (!found) continue
        const [from, to] = cue.isFrom ? [e.id, found.id] : [found.id, e.id]
        const evidence = `says "${cue.quote.slice(0, 160).toWellFormed()}"`
        return [{ from, type: cue.type, to, evidence, by: 'cue', score: found.score }]
      }
      return []
    })

/** Another choice for the same purpose: "Use jest for tests", "Use vitest for tests". */
const byChoice = (
  e: Entity,
  near: readonly Recalled[],
  { memory, reader, alternatives }: Grounds,
  isPrior: IsPrior,
): Suggestion[] =>
  contrary(
    memory,
    [...reader.entities(near.map((r) => r.id)).filter((other) => other.id !== e.id), e],
    reader,
    alternatives,
  ).flatMap(([newer, older]) => {
    const other = newer.id === e.id ? older : newer
    if ((newer.id !== e.id && older.id !== e.id) || !isPrior(other)) return []
    const evidence = `chooses otherwise than "${other.name}" for the same`
    return [{ from: e.id, type: 'supersedes', to: other.id, evidence, by: 'choice', score: 1 }]
  })

/** Its text holds the other one's name, where that is more than one word. */
const byName = (e: Entity, reader: Reader, isPrior: IsPrior): Suggestion[] =>
  [...new Set(tokensIn(textOf(e)).filter((w) => /[:_-]/.test(w)))].slice(0, MOST_CUES).flatMap((name) =>
    reader
      .find(name)
      .filter((other) => SPOKEN_OF.includes(other.kind) && isPrior(other))
      .map((other): Suggestion => {
        return { from: e.id, type: 'references', to: other.id, evidence: `names "${name}"`, by: 'name', score: 1 }
      }),
  )

function byFiles(e: Entity, grounds: Grounds, isPrior: IsPrior): Suggestion[] {
  const files = filesOf(e)
  const others = files.length === 0 ? [] : grounds.reader.search(files.join(' '), CANDIDATES, ['decision'])
  const sharing = others.flatMap((other) => {
    const shared = filesOf(other).filter((f) => files.includes(f))
    return other.id === e.id || shared.length === 0 ? [] : [{ other, shared }]
  })
  if (sharing.length > MOST_IN_FILE) return []
  return sharing
    .filter(({ other }) => isPrior(other))
    .map(({ other, shared }): Suggestion => {
      const score = shared.length / files.length
      return { from: e.id, type: 'impacts', to: other.id, evidence: `is in ${shared[0]} as well`, by: 'file', score }
    })
}

/** How like each is, as a share of how like the entity is to itself. */
function similarTo(e: Entity, near: readonly Recalled[]): { id: string; score: number }[] {
  const self = near.find((r) => r.id === e.id || r.similar.includes(e.id))
  // relevance falls with the third power of what the words say; see find/recall/relevance.ts
  const top = self?.parts.relevance ?? 1
  return near.flatMap((r) => {
    const score = Math.min(1, Math.cbrt(r.parts.relevance / top))
    const same = r === self ? [self.id, ...self.similar].map((id) => ({ id, score: 1 })) : [{ id: r.id, score }]
    return same.filter(({ id }) => id !== e.id)
  })
}

const isLabel = ({ from }: Topic): boolean => from === 'topics' || from === 'tags'

function bySimilarity(e: Entity, near: readonly Recalled[], grounds: Grounds, isPrior: IsPrior): Suggestion[] {
  const { reader } = grounds
  const said = saying(e, reader).split(/[^\p{L}\p{N}']+/u)
  const words = new Map(said.map((w) => [stemsOf(w)[0], w.toLowerCase()]))
  const own = new Map(ownTopics(reader, e, grounds.topics).map((t) => [t.topic, isLabel(t)]))
  return similarTo(e, near)
    .flatMap(({ id, score }): Suggestion[] => {
      const other = reader.entity(id)
      if (score < LEAST.similarOnLabel || !isPrior(other)) return []
      const shared = ownTopics(reader, other, grounds.topics).filter((t) => own.has(t.topic))
      const isSaid = shared.some((t) => isLabel(t) && own.get(t.topic))
      if (score < (isSaid ? LEAST.similarOnLabel : shared.length > 0 ? LEAST.similarOnTopic : LEAST.similar)) return []
      const both = [...new Set(stemsOf(saying(other, reader)))].flatMap((w) => words.get(w) ?? []).slice(0, 3)
      const evidence = [
        ...shared.slice(0, 1).map(({ topic }) => `both on ${topic}`),
        ...(both.length > 0 ? [`both say ${both.join(', ')}`] : []),
      ].join('; ')
      return [{ from: e.id, type: 'similar-to', to: id, evidence, by: 'similarity', score }]
    })
    .slice(0, MOST_SIMILAR)
}
