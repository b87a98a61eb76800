import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { anchorsOf } from '../../../engine/store/code-anchors.ts'
import { contrary, vocabularyOf } from '../../../find/recall/contradictions.ts'
import { keptHere } from '../../../find/recall/told.ts'
import { type Entity, isOfFile, kindOf, provenanceOf, saidAt } from '../../../model/entity.ts'
import { plain } from '../fence.ts'
import { isElsewhere, nearness, pathsOf } from '../focus.ts'
import { byline, field, gist, refOf } from '../format.ts'
import type { About, Built, Section } from '../types.ts'
import { bindingFacts } from './rules.ts'

const FOUND = 10
const NEWEST = 25
/** What is told whole where nothing says yet what the session is about: its prompts and edits bring the rest, where it helps. */
const UNASKED: Readonly<Record<string, number>> = { decision: 5, 'failed-approach': 1, learning: 2 }
/** The last sessions in which something failed or was learned. */
const LATELY = 3
/** Of other decisions so many names: who knows that something was decided can ask. */
const NAMES = 12
const NAME_CHARS = 80
const MAX_ITEMS = 20
/** What others wrote and nobody here stands by, beside one's own: so much of it, where it is near the work. */
const OTHERS = 5

const LEAST_MADE = 30

/** Decisions for the branch, the files in hand and the current task; the weightiest and newest where none is near. */
export const decisions: Section = {
  name: 'decisions',
  title: 'Decisions',
  share: 12,
  build(about) {
    const contradicted = rulesAgainst(about)
    return relevant(about, ['decision'], 'discover (get-decisions), or recall in plain words', (e) =>
      decisionItem(e, about, contradicted.get(e.id)),
    )
  },
}

/** By the id of a decision, a rule that binds and that it contradicts. */
function rulesAgainst(about: About): Map<string, Entity> {
  const { binding, readByClient } = bindingFacts(about)
  const rules = [...binding, ...readByClient]
  if (rules.length === 0) return new Map()
  const all = [...rules, ...about.newest('decision', NEWEST)]
  const pairs = contrary(about.memory, all, about.reader, vocabularyOf(about.project), rules.length)
  return new Map(
    pairs.flatMap(([a, b]) => (a.kind === b.kind ? [] : a.kind === 'decision' ? [[a.id, b]] : [[b.id, a]])),
  )
}

export function decisionItem(e: Entity, about: About, rule?: Entity): { text: string; short: string } {
  const against = rule ? ` [contradicts the rule "${plain(rule.name, 120)}": ask the user which holds]` : ''
  const by = byline(e, about) + against
  // of a record its own file is the reference, which tells the rest
  if (isOfFile(e) && pathsOf(e).length > 0) {
    const what = gist(String(e.fields.description ?? ''), 240)
    const title = `- ${plain(e.name, 160)}`
    return { text: `${title}${what === '' ? '' : `: ${what}`} ${by}`, short: `${title} ${by}` }
  }
  const why = field(e, 'rationale', 160)
  const what = unended(field(e, 'description', 240))
  // a name that was made of the description says nothing more
  const isNamed = what !== e.name && (e.name.length < LEAST_MADE || !what.startsWith(e.name.replace(/…$/, '')))
  const head = `- ${isNamed ? `${refOf(e)}${what === '' ? '' : `: ${what}`}` : what}`
  const because = why === '' || what.includes(unended(why)) ? '' : `; why: ${why}`
  return { text: `${head}${because} ${by}`, short: `${head} ${by}` }
}

export const failures: Section = {
  name: 'failures',
  title: 'Did not work',
  share: 8,
  build: (about) =>
    relevant(about, ['failed-approach', 'correction'], 'discover (get-failed-approaches), (get-corrections)', (e) => {
      const by = byline(e, about)
      if (e.kind === 'correction') {
        const wrong = field(e, 'wrongBelief', 160)
        return {
          text: `- Corrected: ${unended(field(e, 'rightBelief', 240) || plain(e.name, 240))}${wrong === '' ? '' : `; not: ${wrong}`} ${by}`,
        }
      }
      const [outcome, lesson] = [unended(field(e, 'outcome', 160)), field(e, 'lesson', 160)]
      const tried = `- Tried: ${unended(field(e, 'approach', 200))}`
      const came = outcome === '' ? '' : `; outcome: ${outcome}`
      const instead = lesson === '' ? '' : `; instead: ${lesson}`
      return { text: `${tried}${came}${instead} ${by}`, short: `${tried}${instead || came} ${by}` }
    }),
}

export const learnings: Section = {
  name: 'learnings',
  title: 'Learned',
  share: 12,
  build: (about) =>
    relevant(about, ['learning'], 'discover (get-learnings)', (e) => ({
      text: learnedLine(e, about),
      short: `- ${plain(e.name, 200)} ${byline(e, about)}`,
    })),
}

/** What was learned, once: the title may be the beginning of the body, or all of it. */
export function learnedLine(e: Entity, about: About): string {
  const body = field(e, 'body', 240)
  const isLonger = body.startsWith(e.name)
  const said = isLonger ? body : unended(plain(e.name, 200))
  const more = body === '' || isLonger || e.name.startsWith(body) ? '' : `: ${body}`
  return `- ${said}${more} ${byline(e, about)}`
}

/** As the first part of a line that goes on behind a semicolon. */
const unended = (text: string): string => text.replace(/[.;]$/, '')

function relevant(
  about: About,
  kinds: readonly string[],
  see: string,
  tell: (e: Entity) => { text: string; short?: string },
): Built | undefined {
  const { reader, focus } = about
  const found = about.found.filter((f) => kinds.includes(f.kind)).slice(0, FOUND)
  const newest = kinds.flatMap((kind) => about.newest(kind, NEWEST))
  const unseen = reader.entities(found.map((f) => f.id).filter((id) => !newest.some((e) => e.id === id)))
  // what only another branch has replaced holds here
  const kept = keptHere(newest, reader, about.branch)
  const all = [...[...newest, ...unseen].filter(about.counts), ...kept].filter(
    (e) => !about.delivered.has(e.id) && !isElsewhere(e, about),
  )
  const words = new Map(found.map((f) => [f.id, f.words]))
  const weighed = all
    .map((e) => ({ e, near: nearness(e, focus, words.get(e.id) ?? 0), weight: weightOf(e) }))
    .sort((a, b) => b.near - a.near || b.weight - a.weight || saidAt(b.e) - saidAt(a.e) || (a.e.id < b.e.id ? -1 : 1))
  const near = focus.isKnown ? weighed.filter((w) => w.near > 0).length : 0
  const room = Math.min(MAX_ITEMS, Math.max(near, UNASKED[kinds[0]!] ?? 0))
  // what nobody here stands by, or another branch has, takes the place of nothing that holds here
  const here = about.vouched(all.filter((e) => about.branch(e) === undefined).map((e) => e.id))
  const { root } = about.project
  const sessionOf = (e: Entity) => provenanceOf(e).at(-1)?.session
  const lately = [...new Set(all.toSorted((a, b) => saidAt(b) - saidAt(a)).map(sessionOf))].slice(0, LATELY)
  const isLate = ({ e }: (typeof weighed)[number]) =>
    focus.isKnown || e.kind === 'decision' || lately.includes(sessionOf(e))
  /** Not of files that have all gone. */
  const isThere = ({ e, near }: (typeof weighed)[number]) => {
    if (near > 0) return true
    const anchors = anchorsOf(about.memory.db, root, e.id)
    return anchors.length === 0 || anchors.some((a) => a.hash === '' || existsSync(join(root, a.path)))
  }
  const ours = weighed.filter((w) => here.has(w.e.id) && isLate(w)).slice(0, 2 * room + 2).filter(isThere).slice(0, room) // biome-ignore format: a row
  const others = weighed
    .filter(({ e }) => !here.has(e.id))
    .sort((a, b) => Number(about.branch(a.e) !== undefined) - Number(about.branch(b.e) !== undefined))
  const beside = Math.min(OTHERS, others.filter((w) => w.near > 0).length)
  const chosen = [...ours, ...others.slice(0, Math.max(room - ours.length, beside))]
  const elsewhere = [...about.delivered].filter((id) => kinds.includes(kindOf(id))).length
  const items = chosen.map(({ e }) => {
    about.delivered.add(e.id)
    return { id: e.id, ...tell(e) }
  })
  const rest = kinds.includes('decision') ? weighed.filter((w) => here.has(w.e.id) && !chosen.includes(w)) : []
  const names = rest.slice(0, NAMES).map(({ e }) => plain(e.name, NAME_CHARS))
  const beyond = kinds.reduce((n, kind) => n + about.howMany(kind), 0) - items.length - names.length - elsewhere
  if (items.length + names.length === 0) return undefined
  const named = names.length === 0 ? [] : [{ text: `- Also decided (recall tells each): ${names.join('; ')}` }]
  return { items: [...items, ...named], beyond: Math.max(0, beyond), see }
}

const OF_RECORDS = /^(?:record|use|adopt|keep|write|introduce)\b.{0,60}\b(?:decisions?(?: records?)?|adrs?)$/i

/** What it says of its own weight: the curated and the weighty come first, by whole steps; that decisions are recorded is seen. */
function weightOf({ fields, name }: Entity): number {
  const impact = typeof fields.impact === 'number' ? fields.impact : 5
  const severity = { low: 0, medium: 1, high: 2, critical: 3 }[String(fields.severity)] ?? 1
  const curated = fields.visibility === 'curated' ? 1 : 0
  return Math.round(impact / 4) + severity + curated - (OF_RECORDS.test(name) ? 10 : 0)
}
