import { basename } from 'node:path'
import { isStopWord, questionTerms } from '../../engine/store/terms.ts'
import { knownOn, placedIn } from '../../find/code/known.ts'
import { looksLikeFile } from '../../find/code/location.ts'
import { storeCorpus } from '../../find/recall/corpus.ts'
import { type Ranked, rank } from '../../find/recall/rank.ts'
import { statesOf } from '../../find/recall/validity.ts'
import type { Entity } from '../../model/entity.ts'
import { isRead } from '../briefing/sections/rules.ts'
import { deliveredSince } from './delivery.ts'
import { tell } from './file-knowledge.ts'
import type { Hook } from './hook.ts'
import { inTree, notable } from './paths.ts'

/** What answers a prompt: choices, rules, notes, what did not work, what turned out wrong. What the briefing told is left out. */
const KINDS = [
  'decision', 'fact', 'failed-approach', 'correction', 'exception', 'file', 'insight', 'learning', 'pattern', 'principle',
] // biome-ignore format: a list

/** An item is told if it answers so much of a prompt: docs/recall.md has the figures. */
const ENOUGH = 0.25
/** What an item counts for whose name shares no word with the prompt; one whose name is in it whole counts 1 more. */
const UNNAMED = 0.3
/** So much is enough of what lies in a file that the prompt names, and a prompt of so few words speaks of the file. */
const ENOUGH_THERE = 0.08
const FEW_WORDS = 12
/** In a smaller memory each word would count as common. */
const LEAST_TEXTS = 20
const MAX_RECALLED = 4
const MOST_PLACED = 2
/** Words that tell nothing: of asking, and of French, Spanish, Portuguese, Italian and German, which are rare beside English. */
const TELLS_NOTHING = new Set(
  `again al alle aller alors als ao aos aqui aquí assim au auf aus aussi autre autres aux avec avez avoir avons bei bien bis
  bist cada ce cela celle celui ces cet cette ceux che chez ci com como con così cual cuando cuál cuándo cómo da dal dans das
  dass de debe deben dei del della delle dem den denn der des desde dessen deux di dia do donc donde dos du durch dónde each
  ein eine einem einen einer eines el ela ele elle elles em en encore entre er era es esa ese eso est esta estar estas este
  esto estos está están et eu fue fuer für gibt ha haben había hace hacer han hasta hat hay hello hey hi há ich ici ihr il ils
  im in isso ist isto je jetzt just kann kein keine können la las le les let leur leurs lo los lui là lá ma mais mas me mein
  mes mi mit moi mon muss muy más même na nach ne nem ni nicht noch non nos nosotros notre nous now num nur não o oder ok okay
  ou où par para pas pero però peut peux please plus por porque porqué pour pourquoi puede qu quand que quel quelle quels qui
  quien quiero quién qué se sein sem ser seu si sich sie sind sino sobre soit sono sont su sua sur sus são sí también também
  te tem thank thanks tiene toda todas todo todos ton tous tout toute toutes tu um uma un una und une uno unos unter us va ver
  veux você vom von votre vous wenn werden wie wir wird y ya zu zum zur à às ça él été être`.split(/\s+/),
)
/** Names of files that are looked up in a prompt. */
const MAX_NAMED = 6
/** Many files are called so: a text means the one of its folder. */
const COMMON_NAME = /^(?:readme|index|main|mod|__init__|conftest|package|setup|license)\./i
/** Paths are looked for in so much of a prompt. */
const LOOKED_AT = 10_000

/**
 * What answers a prompt, best first: the rarity of the words that both have, times their share of the prompt's, times the share of
 * the item's name that is among them. By words alone: a hook has no time for vectors, and on real prompts they did not help.
 */
function hitsFor({ memory }: Hook, typed: string, placed: ReadonlySet<string>): Entity[] {
  const { reader } = memory
  // the words of a path say where, and not what
  const prompt = typed
    .split(/\s+/)
    .filter((word) => !/[/@]/.test(word))
    .join(' ')
  const corpus = storeCorpus(memory.db)
  const size = Math.max(LEAST_TEXTS, corpus.size)
  const terms = tellingTerms(prompt)
  const stems = new Set(terms.map((t) => t.stem))
  const rarities = new Map(terms.map((t) => [t.word, rarity(size, Math.min(size, corpus.count(t)))]))
  const rarityOf = (words: Iterable<string>) => [...words].reduce((sum, word) => sum + (rarities.get(word) ?? 0), 0)
  const whole = rarityOf(rarities.keys())
  const worth = ({ entity, lexical }: Ranked) => {
    const name = tellingTerms(entity.name)
    const named = name.filter((t) => stems.has(t.stem)).length / Math.max(1, name.length)
    return (rarityOf(new Set(lexical.words)) ** 2 / whole) * (UNNAMED + named)
  }
  const now = memory.env.now()
  const admitted = (found: readonly Entity[]) =>
    [...statesOf(found, reader, now)].flatMap(([e, state]) => (state === undefined ? [e] : []))
  return rank(prompt, { corpus, reader, vectors: undefined, kinds: KINDS, all: false, isQuick: true, admitted })
    .map((found) => ({ entity: found.entity, worth: worth(found) }))
    .filter((found) => found.worth >= (placed.has(found.entity.id) ? ENOUGH_THERE : ENOUGH))
    .sort((a, b) => b.worth - a.worth || (a.entity.id < b.entity.id ? -1 : 1))
    .slice(0, MAX_RECALLED * 2)
    .map((found) => found.entity)
}

const tellingTerms = (text: string) =>
  questionTerms(text).filter(({ word }) => word.length > 1 && !isStopWord(word) && !TELLS_NOTHING.has(word))

/** Of a word that so many of all texts hold: its weight in BM25 beside that of a word in none, so that the bar fits any memory. */
const rarity = (all: number, texts: number): number =>
  Math.log(1 + (all - texts + 0.5) / (texts + 0.5)) / Math.log(2 + 2 * all)

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

export async function recalledFor(hook: Hook, prompt: string): Promise<string | undefined> {
  const delivered = new Set(deliveredSince(hook).keys())
  // what speaks of the folder around is told before an edit there
  const named = filesNamedIn(prompt)
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
  const states = statesOf(named, hook.memory.reader, hook.memory.env.now())
  const placed = named.filter((e) => states.get(e) === undefined && !delivered.has(e.id))
  const reader = { client: hook.call.client, project: hook.project }
  const isOfFile = prompt.trim().split(/\s+/).length <= FEW_WORDS
  const hits = [
    ...(isOfFile ? placed.slice(0, MOST_PLACED) : []),
    ...hitsFor(hook, prompt, new Set(placed.map((e) => e.id))),
  ]
    .filter((e) => !delivered.has(e.id) && !(e.kind === 'fact' && isRead(e, reader)) && delivered.add(e.id))
    .slice(0, MAX_RECALLED)
  if (hits.length === 0) return undefined
  return tell(hook, hits, 'Known about this (Tidemark; information, no instructions):')
}
