import type { Result } from '../../engine/write/plan.ts'
import { type Grounds, type Suggestion, suggestFor } from '../../find/graph/suggest.ts'
import { saying } from '../../find/recall/card.ts'
import { isExcepted, vocabularyOf } from '../../find/recall/contradictions.ts'
import { Recaller } from '../../find/recall/recall.ts'
import { topicVocabularyOf } from '../../find/recall/topic-vocabulary.ts'
import { stateOf } from '../../find/recall/validity.ts'
import { stemsOf } from '../../find/recall/word-overlap.ts'
import type { Entity } from '../../model/entity.ts'
import { contraryRules, howSettled, saidContrary } from './contradictions.ts'
import { oneLine, quoted } from './format.ts'
import { isOpen, labelsOf } from './questions.ts'
import type { ToolContext } from './tool.ts'

/** How many decisions of a batch are looked at, and how many notes are told. */
const DECISIONS = 5
const NOTES = 4
const CANDIDATES = 20
/** This share of a question's words stands in the decision that answers it; of a rule's, in one on the same subject. */
const SHARED = { question: 0.6, rule: 0.5 } as const

const ANSWERING = new Set(['decision', 'fact', 'principle'])
const RECORDING = new Set(['propose', 'confirm', ...[...ANSWERING].map((kind) => `record-${kind}`)])

const ready = ({ from, type, to }: Suggestion): string =>
  type === 'supersedes'
    ? `["supersede", {"old": "${to}", "new": "${from}"}]`
    : `["link-entities", {"from": "${from}", "to": "${to}", "type": "${type}"}]`

/** How a decision relates to earlier ones: a note where something says so, and one for all that are only near. */
function relatedTo(e: Entity, grounds: Grounds): string[] {
  const { reader } = grounds
  const all = suggestFor(e, grounds)
  const told = all
    .filter((s) => s.by !== 'similarity')
    .map(
      (s) =>
        `${quoted(reader.entity(s.from)!)} ${s.type} ${quoted(reader.entity(s.to)!)}? It ${oneLine(s.evidence, 160)}; if so: ${ready(s)}`,
    )
  const near = all.filter((s) => s.by === 'similarity')
  if (near.length === 0) return told
  const why = ({ evidence }: Suggestion) => (evidence === '' ? '' : ` (${oneLine(evidence, 120)})`)
  const names = near.map((s) => quoted(reader.entity(s.to)!) + why(s)).join(', ')
  const it = near.length === 1 ? 'it' : 'the first'
  const choice = `if this replaces ${it}: ${ready({ ...near[0]!, type: 'supersedes' })}; if it goes with ${it}: ${ready(near[0]!)}`
  return [...told, `decided earlier: ${names}; ${choice}`]
}

/** What a record contradicts or touches: rules, earlier decisions and open questions, each with what to do. */
export function touchedBy(context: ToolContext, results: readonly Result[]): string[] {
  const { memory, project } = context
  const { reader } = memory
  const said = new Set(results.flatMap((r) => (RECORDING.has(r.verb) ? [String(r.id)] : [])))
  const decisions = reader.entities([...said]).filter((e) => ANSWERING.has(e.kind))
  const recaller = new Recaller(memory, project, { embedder: { use: 'none' } })
  const contrary = contraryRules(context, decisions)
  const notes = new Map(contrary.map((pair) => [pair[1].id, `${saidContrary(pair)}: ${howSettled(pair, context)}`]))
  const vocabularies = { alternatives: vocabularyOf(project), topics: topicVocabularyOf(project) }
  const grounds = { memory, reader, recaller, now: memory.env.now(), ...vocabularies }
  const related: string[] = []
  for (const decision of decisions.slice(0, DECISIONS)) {
    if (decision.kind === 'decision') related.push(...relatedTo(decision, grounds))
    const labels = labelsOf(decision)
    const words = new Set(stemsOf(saying(decision, reader)))
    const linked = new Set(
      [...reader.links('from', decision.id), ...reader.links('to', decision.id)].flatMap((l) => [l.from, l.to]),
    )
    const isOn = (e: Entity, least: number): boolean => {
      const own = [...stemsOf(saying(e, reader))]
      const shared = own.filter((w) => words.has(w)).length
      return [...labelsOf(e)].some((l) => labels.has(l)) || shared >= Math.max(1, least * own.length)
    }
    const { results: near } = recaller.askNow([saying(decision, reader), ...labels].join('\n'), {
      ...{ kinds: ['question', 'fact', 'principle'], scope: 'macro', limit: CANDIDATES },
    })
    for (const { id } of near) {
      const e = reader.entity(id)!
      const isSettled =
        linked.has(id) || results.some((r) => r.id === id) || notes.has(id) || isExcepted(memory, reader, e, decision)
      if (isSettled || stateOf(e, reader, memory.env.now())) continue
      const name = oneLine(e.name, 100)
      if (e.kind !== 'question' && decision.kind === 'decision' && isOn(e, SHARED.rule))
        notes.set(id, `a rule on the same subject: "${name}" (${id}); if this breaks it, change this first`)
      else if (e.kind === 'question' && isOpen(reader, e) && isOn(e, SHARED.question))
        notes.set(
          id,
          `an open question on the same subject: "${name}"; if this answers it: ["answer-question", {"ref": "${id}", "answer": "…"}]`,
        )
    }
  }
  const kept = related.slice(0, NOTES - 1)
  return [...[...notes.values()].slice(0, NOTES - Math.min(kept.length, 2)), ...kept].slice(0, NOTES)
}
