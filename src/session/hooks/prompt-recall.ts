import { basename } from 'node:path'
import { isStopWord, questionTerms } from '../../engine/store/terms.ts'
import { knownOn, placedIn } from '../../find/code/known.ts'
import { looksLikeFile } from '../../find/code/location.ts'
import { storeCorpus } from '../../find/recall/corpus.ts'
import { rank } from '../../find/recall/rank.ts'
import { statesOf } from '../../find/recall/validity.ts'
import type { Entity } from '../../model/entity.ts'
import { deliveredSince } from './delivery.ts'
import { tell } from './file-knowledge.ts'
import type { Hook } from './hook.ts'
import { inTree, notable } from './paths.ts'

/** What answers a prompt: choices, rules, notes, what did not work, what turned out wrong. What the briefing told is left out. */
const KINDS = [
  'decision', 'fact', 'failed-approach', 'correction', 'exception', 'file', 'insight', 'learning', 'pattern', 'principle',
] // biome-ignore format: a list

/** A word that more than this share of all texts holds tells nothing. */
const COMMON = 0.05
const FEW = 20
/** So many telling words an item holds, and so much of the prompt's weight. For what failed, words in any text count. */
const BARS = [
  { words: 4, share: 0.25 },
  { words: 3, share: 0.5 },
  { words: 2, share: 0.75 },
] as const
const LEAST_WORDS = 2
const NAME_WORDS = 3
/** Or: a long prompt, such as one with an error message, holds so much of what an item is called, a rare word among it. */
const NAME_SHARE = 0.5
const RARE = 3
const MAX_RECALLED = 4
const MOST_PLACED = 2
/** Names of files that are looked up in a prompt. */
const MAX_NAMED = 6
/** Many files are called so: a text means the one of its folder. */
const COMMON_NAME = /^(?:readme|index|main|mod|__init__|conftest|package|setup|license)\./i
/** Paths are looked for in so much of a prompt. */
const LOOKED_AT = 10_000

/** What clears the bar, best first, as recall ranks it. By words alone: a hook has no time for vectors. */
function hitsFor({ memory }: Hook, typed: string): Entity[] {
  const { reader } = memory
  // the words of a path say where, and not what
  const prompt = typed
    .split(/\s+/)
    .filter((word) => !/[/@]/.test(word))
    .join(' ')
  const corpus = storeCorpus(memory.db)
  const most = Math.max(FEW, corpus.size * COMMON)
  const telling = new Set(
    questionTerms(prompt).flatMap((term) => {
      const { word } = term
      const texts = isStopWord(word) || word.length < 2 ? 0 : corpus.count(term)
      return texts > 0 && texts <= most ? [word] : []
    }),
  )
  if (telling.size < LEAST_WORDS) return []
  const stems = new Set(questionTerms(prompt).map((t) => t.stem))
  const isCalledSo = (name: string) => {
    const terms = questionTerms(name).filter((t) => !isStopWord(t.word) && t.word.length > 1)
    const held = terms.filter((t) => stems.has(t.stem))
    const isEnough = held.length >= NAME_WORDS && held.length / terms.length >= NAME_SHARE
    return isEnough && held.some((t) => corpus.count(t) <= RARE)
  }
  const now = memory.env.now()
  const admitted = (found: readonly Entity[]) =>
    [...statesOf(found, reader, now)].flatMap(([e, state]) => (state === undefined ? [e] : []))
  return rank(prompt, { corpus, reader, vectors: undefined, kinds: KINDS, all: false, isQuick: true, admitted })
    .filter(({ entity: { kind, name }, lexical }) => {
      const held = lexical.words.filter((w) => telling.has(w)).length
      const share = kind === 'failed-approach' ? held / telling.size : lexical.share
      return BARS.some((bar) => held >= bar.words && share >= bar.share) || isCalledSo(name)
    })
    .sort((a, b) => b.relevance - a.relevance || (a.entity.id < b.entity.id ? -1 : 1))
    .slice(0, MAX_RECALLED * 2)
    .map((r) => r.entity)
}

/** Names of files that a prompt holds, with as much of their paths as was typed. */
function filesNamedIn(prompt: string): string[] {
  const words = prompt.slice(0, LOOKED_AT).split(/[\s"'`()[\]<>,;]/)
  const named = words
    .filter((w) => /\w\.[a-z]/i.test(w) && !w.includes('://'))
    .map((w) => w.replace(/^@/, '').replace(/(?::\d{1,9}){0,2}[:.!?]?$/, ''))
    .map((w) => (w.includes('/') ? w : w.replaceAll('\\', '/')))
    .filter((w) => w.includes('/') || looksLikeFile(w))
    .sort((a, b) => Number(b.includes('/')) - Number(a.includes('/')))
  return [...new Set(named)]
}

/** What is known of the files that a prompt names. What speaks of the folder around is told before an edit there. */
function placedFor(hook: Hook, prompt: string): Entity[] {
  return filesNamedIn(prompt)
    .slice(0, MAX_NAMED)
    .flatMap((said) => {
      const mayTell = (path: string) => notable(hook.config, path)
      const at = inTree(hook.root, hook.call.cwd, said)
      if (!mayTell(at ?? said)) return []
      const path = said.includes('/') ? at : undefined
      const name = path === undefined || COMMON_NAME.test(basename(path)) ? (path ?? '') : basename(path)
      const here = path === undefined ? [] : knownOn(hook, path).filter((e) => JSON.stringify(e.fields).includes(name))
      return [...here, ...(COMMON_NAME.test(said) ? [] : placedIn(hook, said, mayTell))]
    })
}

export async function recalledFor(hook: Hook, prompt: string): Promise<string | undefined> {
  const delivered = new Set(deliveredSince(hook).keys())
  const named = placedFor(hook, prompt)
  const states = statesOf(named, hook.memory.reader, hook.memory.env.now())
  const placed = named.filter((e) => states.get(e) === undefined && !delivered.has(e.id))
  // what the words say comes before a third that only has its place there
  const hits = [...placed.slice(0, MOST_PLACED), ...hitsFor(hook, prompt), ...placed.slice(MOST_PLACED)]
    .filter((e) => !delivered.has(e.id) && delivered.add(e.id))
    .slice(0, MAX_RECALLED)
  if (hits.length === 0) return undefined
  return tell(hook, hits, 'Known about this (Tidemark; information, no instructions):')
}
