import type { Json } from '../../../model/field.ts'
import { foldName } from '../../../model/names.ts'
import { isObject, jsonIn } from '../../../model/object.ts'
import { type Candidate, type Earlier, ExtractionFailed } from './extractor.ts'
import type { Turn } from './turns.ts'

export const LEAST_CONFIDENCE = 0.7
const MAX_CANDIDATES = 12
const TEXT_MAX = 600
const QUOTE = { least: 8, most: 600 }

/** What may be found, by its kind: the fields that it must have and those that it may have. Nothing else is read. */
const KINDS: Readonly<Record<string, { readonly needs: readonly string[]; readonly takes?: readonly string[] }>> = {
  decision: { needs: ['name', 'description'], takes: ['rationale'] },
  correction: { needs: ['wrongBelief', 'rightBelief'] },
  exception: { needs: ['ruleBroken', 'justification'], takes: ['scope'] },
  learning: { needs: ['title', 'body'] },
  'failed-approach': { needs: ['approach', 'outcome'], takes: ['lesson'] },
  fact: { needs: ['fact'], takes: ['category'] },
  question: { needs: ['question'], takes: ['context'] },
  insight: { needs: ['summary'], takes: ['detail'] },
}

export const CATEGORIES = ['workflow', 'convention', 'constraint', 'tool', 'pattern']
export const RELATIONS = ['supersedes', 'constrains', 'depends-on', 'conflicts-with', 'cites', 'impacts', 'informs']
const TOPIC_MAX = 40
const MAX_TOPICS = 5
const MAX_RELATIONS = 3

export const KINDS_TOLD = Object.entries(KINDS)
  .map(
    ([kind, { needs, takes = [] }]) =>
      `- ${kind}: ${[...needs, ...takes.map((t) => `${t} (may be left out)`)].join(', ')}`,
  )
  .join('\n')

const FENCE = /^```(?:json)?[ \t]*\n([\s\S]*)```$/

const flat = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, (c) => (/\s/.test(c) ? ' ' : ''))
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed()

const comparable = (text: string): string => flat(text).toLowerCase()

/** A model's answer as data: known kinds, sane lengths, quotes that were said. @throws ExtractionFailed. */
export function candidatesIn(answer: string, turns: readonly Turn[], earlier: readonly Earlier[] = []): Candidate[] {
  const bare = answer.trim()
  const parsed = jsonIn(FENCE.exec(bare)?.[1] ?? bare)
  if (parsed === undefined) throw new ExtractionFailed('the answer is not JSON')
  const list = isObject(parsed) ? parsed.candidates : parsed
  if (!Array.isArray(list)) throw new ExtractionFailed('the answer has no list of candidates')
  const given = turns.map((t) => ({ who: t.who, text: comparable(t.text) }))
  const wasSaid = (kind: string, quote: string) =>
    given.some((t) => (kind !== 'fact' || t.who === 'user') && t.text.includes(comparable(quote)))
  return list.flatMap((one) => candidate(one, wasSaid, earlier)).slice(0, MAX_CANDIDATES)
}

const relationsIn = (value: unknown, earlier: readonly Earlier[]): { type: string; to: string }[] =>
  (Array.isArray(value) ? value : [])
    .flatMap((r) => {
      const to = isObject(r) ? earlier.find((e) => e.name === r.to)?.id : undefined
      return to !== undefined && RELATIONS.includes(String(r.type)) ? [{ type: String(r.type), to }] : []
    })
    .slice(0, MAX_RELATIONS)

function candidate(
  one: unknown,
  wasSaid: (kind: string, quote: string) => boolean,
  earlier: readonly Earlier[],
): Candidate[] {
  if (!isObject(one) || typeof one.kind !== 'string' || !Object.hasOwn(KINDS, one.kind)) return []
  const { kind, confidence } = one
  if (typeof confidence !== 'number' || !(confidence >= LEAST_CONFIDENCE && confidence <= 1)) return []
  const quote = typeof one.quote === 'string' ? flat(one.quote) : ''
  if (quote.length < QUOTE.least || quote.length > QUOTE.most || !wasSaid(kind, quote)) return []
  const { needs, takes = [] } = KINDS[kind]!
  const args: { [field: string]: Json } = {}
  for (const field of [...needs, ...takes]) {
    const value = Object.hasOwn(one, field) ? one[field] : undefined
    const text = typeof value === 'string' ? flat(value) : ''
    if (text.length > 0 && text.length <= TEXT_MAX) args[field] = text
    else if (needs.includes(field)) return []
  }
  if (kind === 'decision') {
    args.name = foldName(String(args.name)).replace(/\s+/g, '-').slice(0, 60)
    args.confidence = confidence
  }
  if (args.category !== undefined && !CATEGORIES.includes(String(args.category))) delete args.category
  const topics = (Array.isArray(one.topics) ? one.topics : [])
    .flatMap((v) => (typeof v === 'string' ? [flat(v).toLowerCase()] : []))
    .filter((t) => t !== '' && t.length <= TOPIC_MAX)
    .slice(0, MAX_TOPICS)
  if (topics.length > 0) args.topics = topics
  return [{ kind, action: [`record-${kind}`, args], quote, confidence, relations: relationsIn(one.relations, earlier) }]
}
