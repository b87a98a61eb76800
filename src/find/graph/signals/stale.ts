import { type Entity, isAgreed, madeAt, readField, saidAt } from '../../../model/entity.ts'
import { fieldsOf } from '../../../model/kind.ts'
import { shellWord } from '../../../model/shell.ts'
import { DAY_MS } from '../../../model/times.ts'
import { wordSet } from '../../recall/word-overlap.ts'
import { byTopic, type Detector, fieldOf, type Look, NEWEST, said, signalOn, spoken } from './signal.ts'

/** So many stale decisions in a topic are told. */
const LEAST = 3
const SHOWN = 5
const UNTOUCHED_DAYS = 30
/** This share of the words of a trigger, and so many at least, stand in what it matches. */
const MATCHED = 2 / 3
const LEAST_WORDS = 2
/** Of what was recorded lately so much of each kind is held against triggers. */
const MOST_RECENT = 1_000

/** Developmental, active decisions that were untouched for 30 days, or whose trigger a later entity matches. */
function dueForReview(look: Look): { decision: Entity; why: string }[] {
  const { reader, now } = look.options
  const kind = reader.registry().kind('decision')
  const has = (e: Entity, field: string, value: string) => readField(e, field, kind) === value
  const open = look.decisions.filter((e) => has(e, 'visibility', 'developmental') && has(e, 'status', 'active'))
  // what an import brought is as old as its page, and here since then
  const touched = (e: Entity) => Math.max(saidAt(e), e.created)
  const isOld = (e: Entity) => touched(e) <= now - UNTOUCHED_DAYS * DAY_MS
  const waiting = open.filter((e) => !isOld(e) && fieldOf(e, 'revisitTrigger') !== '')
  const matched = triggered(look, waiting)
  return open.flatMap((decision) => {
    const by = matched.get(decision.id)
    if (by) return [{ decision, why: `"${said(fieldOf(decision, 'revisitTrigger'))}" matches "${spoken(by)}"` }]
    return isOld(decision)
      ? [{ decision, why: `untouched for ${Math.floor((now - touched(decision)) / DAY_MS)} days` }]
      : []
  })
}

/** What was recorded later than a decision and holds the words of its trigger, by the decision's id. */
function triggered({ options: { reader } }: Look, decisions: readonly Entity[]): Map<string, Entity> {
  const matched = new Map<string, Entity>()
  if (decisions.length === 0) return matched
  const triggers = decisions.map((e) => {
    const words = wordSet(fieldOf(e, 'revisitTrigger'))
    return { e, words, least: Math.max(LEAST_WORDS, Math.ceil(MATCHED * words.size)) }
  })
  const byWord = new Map<string, typeof triggers>()
  for (const trigger of triggers)
    for (const word of trigger.words) byWord.set(word, [...(byWord.get(word) ?? []), trigger])
  const since = Math.min(...decisions.map((e) => e.updated))
  for (const kind of reader.registry().visibleKinds()) {
    const texts = Object.entries(fieldsOf(kind)).flatMap(([name, f]) =>
      f.type === 'text' && f.weight && name !== 'revisitTrigger' ? [name] : [],
    )
    for (const later of reader.list(kind.name, { since, limit: MOST_RECENT }).filter(isAgreed)) {
      const words = wordSet(texts.map((name) => fieldOf(later, name)).join('\n'))
      const hits = [...words].flatMap((word) => byWord.get(word) ?? [])
      for (const [{ e, least }, found] of Map.groupBy(hits, (t) => t))
        if (found.length >= least && madeAt(later) > saidAt(e) && later.id !== e.id) matched.set(e.id, later)
    }
  }
  return matched
}

/** Topics with several decisions that are due for review. */
export const staleClusters: Detector = (look) => {
  const all = dueForReview(look).slice(-NEWEST)
  const due = new Map(all.map((d) => [d.decision.id, d]))
  const decisions = all.map((d) => d.decision)
  return byTopic(look, decisions, LEAST).map(([topic, found]) => ({
    ...signalOn('stale', 'low', topic),
    line: `⚠️ ${found.length} stale decisions in '${topic}' topic — review them, or mark them as curated`,
    entities: found.map((e) => e.id),
    evidence: found.slice(0, SHOWN).map((e) => `${spoken(e)}: ${due.get(e.id)!.why}`),
    next: `tidemark discover ${shellWord(`(decisions-by-topic ${JSON.stringify(topic)})`)}`,
  }))
}
