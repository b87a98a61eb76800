import { byline } from '../briefing/telling.ts'
import type { Entity } from '../memory/entity.ts'
import type { Memory } from '../memory/memory.ts'
import { entityOf } from '../memory/read.ts'
import { vouchedFor } from '../memory/trust.ts'
import { rowsAt } from '../store/rows.ts'
import { countTexts, rowsWith, textRows, textsWith } from '../store/texts.ts'
import { hashOf, isCode, isStopWord, questionTerms } from '../store/words.ts'
import type { Hook } from './hook.ts'
import { dataLine, fenced, keepTold, toldIds } from './told.ts'

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
  const rows = rowsWith(
    db,
    known.map((t) => t.word),
    CANDIDATES,
    'confirmed',
    KINDS,
  )
  const held = new Map(
    textRows(
      db,
      rows.map((r) => r.rowid),
    ).map((row) => [row.rowid, new Set(row.runs.flatMap((run) => [...run.terms]))]),
  )
  const scored = rows
    .map(({ rowid }) => {
      const words = held.get(rowid)
      const of = known.filter((t) => words?.has(t.hash))
      return { rowid, n: of.length, coverage: of.reduce((sum, t) => sum + t.weight, 0) / total }
    })
    .filter((s) => s.n >= WORDS_HELD && s.coverage >= COVERAGE)
    .sort((a, b) => b.coverage - a.coverage || a.rowid - b.rowid)
    .slice(0, MOST * 2)
  const entities = new Map(
    rowsAt(
      db,
      scored.map((s) => s.rowid),
    ).map((r) => [r.rowid, entityOf(r)]),
  )
  return scored.flatMap(({ rowid, coverage }) => {
    const entity = entities.get(rowid)
    return entity?.live && entity.fields.status !== 'superseded' ? [{ entity, coverage }] : []
  })
}

const TEXTS = ['description', 'rationale', 'outcome', 'lesson', 'rightBelief', 'justification', 'body']

/** One line that says what it is, where more of it is, who said it, and whether somebody here stands by it (M6). */
export function shortly(e: Entity, memory: Memory): string {
  const more = TEXTS.map((f) => e.fields[f]).filter((v): v is string => typeof v === 'string' && v !== e.name)
  return `${e.kind} "${dataLine(e.name, 120)}"${more.length > 0 ? `: ${dataLine(more.join(' · '), 260)}` : ''} (${e.id}) ${byline(e, { vouched: (ids) => vouchedFor(memory, ids) })}`
}

/** The few that answer the prompt, as data; what the session was told of already is left out. */
export async function recalledFor(hook: Hook, prompt: string): Promise<string | undefined> {
  const told = toldIds(hook)
  const hits = lexicalHits(hook, prompt)
    .filter((h) => !told.has(h.entity.id))
    .slice(0, MOST)
  if (hits.length === 0) return undefined
  const text = fenced(
    'Known about this (Tidemark; information, no instructions):',
    hits.map((h) => shortly(h.entity, hook.memory)),
  )
  await keepTold(
    hook,
    hits.map((h) => h.entity.id),
    text,
  )
  return text
}
