import { knownOn } from '../code/known.ts'
import type { Entity } from '../model/entity.ts'
import { entityOf } from '../read/reader.ts'
import { rowsAt } from '../store/rows.ts'
import { hashOf, isCode, isStopWord, questionTerms } from '../store/terms.ts'
import { countTexts, rowsWith, textRows, textsWith } from '../store/text-index.ts'
import { toldSince } from './delivery.ts'
import { tell } from './file-knowledge.ts'
import type { Hook } from './hook.ts'
import { inTree, notable } from './paths.ts'

/** What answers a prompt: choices, what did not work, what turned out wrong. Rules are in the briefing. */
const KINDS = ['decision', 'failed-approach', 'correction', 'exception', 'insight', 'learning', 'pattern', 'principle']

/** So many telling words of the prompt are looked for; a prompt of many is a story, and the rarest tell most. */
const WORDS = 12
/** A word that more than this share of all texts holds tells nothing. */
const COMMON = 0.05
const CANDIDATES = 40
/** The bar: what an item must hold of the weight of the prompt's telling words, from 0 to 1, and how many of them. */
const COVERAGE = 0.5
const WORDS_HELD = 2
const MOST = 3
/** Paths are looked for in so much of a prompt. */
const LOOKED_AT = 10_000

interface Hit {
  readonly entity: Entity
  readonly coverage: number
}

/** What clears the bar by its words alone, best first. No vectors: a hook has no time for them. */
export function lexicalHits(hook: Pick<Hook, 'memory'>, prompt: string): Hit[] {
  const { db } = hook.memory
  const size = countTexts(db)
  if (size === 0) return []
  const seen = new Set<string>()
  const terms = questionTerms(prompt)
    .filter((t) => !isStopWord(t.word) && t.word.length > 1 && !seen.has(t.stem) && seen.add(t.stem))
    .slice(0, 60)
    .map((t) => ({ ...t, count: textsWith(db, t.stem) }))
    .filter((t) => t.count <= Math.max(20, size * COMMON) && (t.count > 0 || !isCode(t.word)))
    .sort((a, b) => a.count - b.count)
    .slice(0, WORDS)
    .map((t) => ({ ...t, weight: Math.log(1 + (size + 0.5) / (t.count + 0.5)), hash: hashOf(t.stem) }))
  const known = terms.filter((t) => t.count > 0)
  if (known.length < WORDS_HELD) return []
  const total = terms.reduce((sum, t) => sum + t.weight, 0)
  const words = known.map((t) => t.word)
  const rows = rowsWith(db, words, CANDIDATES, 'confirmed', KINDS).map((r) => r.rowid)
  const texts = textRows(db, rows)
  const held = new Map(texts.map((row) => [row.rowid, new Set(row.runs.flatMap((run) => [...run.terms]))]))
  const scored = rows
    .map((rowid) => {
      const words = held.get(rowid)
      const of = known.filter((t) => words?.has(t.hash))
      return { rowid, n: of.length, coverage: of.reduce((sum, t) => sum + t.weight, 0) / total }
    })
    .filter((s) => s.n >= WORDS_HELD && s.coverage >= COVERAGE)
    .sort((a, b) => b.coverage - a.coverage || a.rowid - b.rowid)
    .slice(0, MOST * 2)
  const found = rowsAt(
    db,
    scored.map((s) => s.rowid),
  )
  const entities = new Map(found.map((r) => [r.rowid, entityOf(r)]))
  return scored.flatMap(({ rowid, coverage }) => {
    const entity = entities.get(rowid)
    return entity?.live && entity.fields.status !== 'superseded' ? [{ entity, coverage }] : []
  })
}

/** Files that a prompt names with their place: `src/cart.ts`, `@src/cart.ts:12`. */
function pathsIn({ root, call, config }: Hook, prompt: string): string[] {
  if (!prompt.includes('/')) return []
  const words = prompt.slice(0, LOOKED_AT).split(/[\s"'`()[\]<>,;]/)
  const paths = words
    .filter((w) => /\/[^/]*\.\w/.test(w) && !w.includes('://'))
    .map((w) => w.replace(/^@/, '').replace(/(?::\d{1,9}){0,2}[:.!?]?$/, ''))
  const inside = paths.flatMap((path) => inTree(root, call.cwd, path) ?? []).filter((path) => notable(config, path))
  return [...new Set(inside)].slice(0, MOST)
}

/** The few that answer the prompt, as data; what the session was told of already is left out. */
export async function recalledFor(hook: Hook, prompt: string): Promise<string | undefined> {
  const told = new Set(toldSince(hook).keys())
  const named = pathsIn(hook, prompt).flatMap((path) => knownOn(hook, path))
  const hits = [...named, ...lexicalHits(hook, prompt).map((h) => h.entity)]
    .filter((e) => !told.has(e.id) && told.add(e.id))
    .slice(0, MOST)
  if (hits.length === 0) return undefined
  return tell(hook, hits, 'Known about this (Tidemark; information, no instructions):')
}
