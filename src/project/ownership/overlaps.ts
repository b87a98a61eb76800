import { readInside } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { foldSimilar } from '../../find/recall/duplicates.ts'
import { provenanceOf } from '../../model/entity.ts'
import { foldText } from '../../model/names.ts'
import { classifyRule, plainLine } from '../../travel/formats/import/classify.ts'
import { readObservationLine } from '../../work/handoff/views/observations.ts'
import { type Place, type Subject, statementsIn } from './stores.ts'

/** A statement that stands in several stores, or in one that is for something else. */
export interface Overlap {
  /**
   * `same`: in the same words. `alike`: in nearly the same. `copies`: two clients' files say the same, because each client reads
   * its own. `misplaced`: it belongs to another store.
   */
  readonly type: 'same' | 'alike' | 'copies' | 'misplaced'
  /** The store that should say it: `CLAUDE.md`, or `knowledge (learnings)`. */
  readonly owner: string
  /** Where it stands; of several the owner's place comes first. */
  readonly places: readonly Place[]
  /** Of `copies`: how many statements the files share. */
  readonly count: number
  /** What speaks for that owner. */
  readonly why: string
}

/** Whose word counts where several say it, the first before the others, and why. */
const OWNERS: Readonly<Record<Subject, string>> = {
  decision: 'decisions are kept with their reasons, and superseded there',
  learning: 'domain facts are learnings',
  context: 'project context and rules stand in the files that clients read',
  observation: 'process observations are kept as data points',
  mutation: 'changes of the process are a permanent record',
  swarm: 'claims and results are of one cycle',
  handoff: 'the state of a session is replaced by the next one',
  memory: 'the notes of one user are seen by nobody else',
}
const RANK = Object.keys(OWNERS)

/** What the knowledge calls them. */
const PLURAL: Readonly<Partial<Record<Subject, string>>> = {
  decision: 'decisions',
  learning: 'learnings',
  context: 'facts',
  observation: 'observations',
  handoff: 'the handoff',
}

/** Headings below which something stands that belongs elsewhere; the whole heading counts. */
const HEADINGS: readonly [Subject, RegExp][] = [
  ['handoff', /^(?:in progress|work in progress|wip|current (?:work|task|status|session|state)|session (?:state|notes)|next steps|blockers|where (?:i|we) left off)$/],
  ['learning', /^(?:learnings|lessons learned|gotchas|known (?:gotchas|quirks)|quirks|pitfalls)$/],
  ['decision', /^(?:decisions|key decisions|decision log|architecture decisions|decisions made)$/],
] // biome-ignore format: a table

/** Fewer words say too little to be compared, unless they are a rule: "Use pnpm". */
const FEWEST_WORDS = 3
/** Only the same words count below this: of few words each carries much. */
const FEWEST_ALIKE = 5

const bare = (text: string): string => foldText(plainLine(text).replaceAll('`', '').replaceAll('**', ''))
const wordsIn = (text: string): number => text.split(/\s+/).length
const says = (text: string): boolean =>
  !text.endsWith(':') && !text.startsWith('@') && (wordsIn(text) >= FEWEST_WORDS || classifyRule(text) !== undefined)

/** Every store that is edited by hand or by a client, and so drifts. */
const isEdited = ({ subject, lines }: Place): boolean =>
  lines !== undefined && (subject === 'context' || subject === 'memory')

/** Whether an entity says itself that it comes from there. */
function isFrom({ entity, subject }: Place, { store, subject: other }: Place): boolean {
  if (!entity) return false
  const names = (at: unknown) => String(at) === store || String(at).startsWith(`${store}:`)
  if (Array.isArray(entity.fields.locations) && entity.fields.locations.some(names)) return true
  if (!store.startsWith('.add/')) return false
  // imports and exports keep the two alike
  return subject === other || provenanceOf(entity).some((p) => String(p.source).startsWith('import add'))
}

/** Statements of which each pair is a real repetition: not a source and what was read from it, nor the same log twice. */
function repeated(group: readonly Place[]): Place[] {
  const places = group.filter((p) => !group.some((other) => other !== p && isFrom(p, other)))
  const distinct = places.filter((p, i) => {
    if (i === 0) return true
    const twin = places.slice(0, i).find((other) => other.store === p.store)
    // under another heading the same words are about something else
    return twin === undefined || (isEdited(p) && twin.headings.join('\n') === p.headings.join('\n'))
  })
  if (distinct.length < 2) return []
  // a handoff tells decisions and observations again by design: it lasts for one session
  const isByDesign = distinct.slice(1).every((p) => p.subject === 'handoff') && !isEdited(distinct[0]!)
  return isByDesign || distinct.every((p) => p.entity) ? [] : distinct
}

/** Whether a client that reads one file reads the other with it. */
export const readsOther = ({ lines }: Place, other: Place): boolean =>
  lines !== undefined && `${readInside(lines.root, lines.path) ?? ''}`.includes(`@${other.store}`)

/** Two clients' files, of which neither reads the other. */
const areCopies = ([first, ...rest]: readonly Place[]): boolean =>
  first !== undefined &&
  [first, ...rest].every((p) => p.subject === 'context' && !p.entity) &&
  rest.every((p) => p.store !== first.store && !readsOther(p, first) && !readsOther(first, p))

const ownerOf = ({ store, subject, entity }: Place): string =>
  entity ? `knowledge (${PLURAL[subject] ?? subject})` : store

/** Statements of the same content, in groups. */
function groupsOf(all: readonly Place[]): Place[][] {
  const texts = all.flatMap((place) =>
    [...new Set(place.texts.map(bare))].filter(says).map((text) => ({ place, text })),
  )
  const same = [...Map.groupBy(texts, (t) => t.text).values()]
  const items = same.map(([t], i) => ({ id: String(i), kind: '', text: t!.text }))
  const long = items.filter((item) => wordsIn(item.text) >= FEWEST_ALIKE)
  const folded = foldSimilar(long).map(({ item, similar }) => [item.id, ...similar])
  const short = items.filter((item) => wordsIn(item.text) < FEWEST_ALIKE).map(({ id }) => [id])
  return [...folded, ...short].map((ids) => [...new Set(ids.flatMap((id) => same[Number(id)]!.map((t) => t.place)))])
}

/** The store that a statement belongs to, where its form or the heading above it says that. */
function subjectOf({ texts: [text = ''], headings }: Place): Subject | undefined {
  if (text.split('|').length > 2 && readObservationLine(text)?.operation !== undefined) return 'observation'
  if (!says(text)) return undefined
  return HEADINGS.find(([, heading]) => headings.some((h) => heading.test(foldText(h))))?.[0]
}

/** What stands in several stores, and what stands in the wrong one; nothing is changed. */
export function findOverlaps(memory: Memory, root: string, memoryFile?: string): Overlap[] {
  const all = statementsIn(memory, root, memoryFile)
  const wrong = new Map(all.flatMap((p) => (isEdited(p) ? [[p, subjectOf(p)] as const] : [])))
  // what stands in the wrong place owns nothing; a file goes before what is known beside it
  const rank = (p: Place) =>
    wrong.get(p) ? 2 * RANK.length : 2 * RANK.indexOf(p.subject) + Number(p.entity !== undefined)
  const inOrder = [...all].sort((a, b) => rank(a) - rank(b))
  const order = new Map(inOrder.map((p, i) => [p, i]))
  const found: Overlap[] = []
  const copies = new Map<string, Place[][]>()
  const told = new Set<Place>()
  for (const group of groupsOf(inOrder)) {
    const places = repeated(group.sort((a, b) => order.get(a)! - order.get(b)!))
    const [owner] = places
    if (!owner || places.every((p) => told.has(p))) continue
    if (areCopies(places)) {
      const files = places.map((p) => p.store).join('\n')
      copies.set(files, [...(copies.get(files) ?? []), places])
      continue
    }
    for (const p of places) told.add(p)
    const type = places.every((p) => p.texts.some((t) => owner.texts.some((o) => bare(o) === bare(t))))
      ? 'same'
      : 'alike'
    found.push({ type, owner: ownerOf(owner), places, count: 1, why: OWNERS[owner.subject] })
  }
  for (const [places, ...more] of copies.values()) {
    const why = 'each client reads its own file'
    found.push({ type: 'copies', owner: places![0]!.store, places: places!, count: 1 + more.length, why })
  }
  for (const place of all) {
    const subject = told.has(place) ? undefined : wrong.get(place)
    if (!subject) continue
    const owner = `knowledge (${PLURAL[subject]})`
    found.push({ type: 'misplaced', owner, places: [place], count: 1, why: OWNERS[subject] })
  }
  return found
}

export function overlapSummary(overlaps: readonly Overlap[]): string {
  const count = (...types: Overlap['type'][]) => overlaps.filter((o) => types.includes(o.type)).length
  const stands = (n: number, where: string) =>
    n > 0 && `${n} ${n === 1 ? 'statement stands' : 'statements stand'} ${where}`
  const copied = overlaps.reduce((n, o) => n + (o.type === 'copies' ? o.count : 0), 0)
  const parts = [
    stands(count('same', 'alike'), 'in several stores'),
    stands(count('misplaced'), 'in the wrong store'),
    stands(copied, 'in the files of several clients'),
  ]
  return parts.filter(Boolean).join(', ') || 'each statement stands in one store'
}
