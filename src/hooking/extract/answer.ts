import type { Json } from '../../schema/field.ts'
import { foldName } from '../../schema/names.ts'
import { type Candidate, ExtractionFailed } from './extractor.ts'
import type { Turn } from './lines.ts'

/** Below this nobody is bothered with it. */
export const LEAST_CONFIDENCE = 0.7
const MOST = 12
const TEXT_MAX = 600
const QUOTE = { least: 8, most: 600 }

/** What may be found, by its kind: the fields that it must have and those that it may have. Nothing else is read. */
const KINDS: Readonly<Record<string, { readonly needs: readonly string[]; readonly takes?: readonly string[] }>> = {
  decision: { needs: ['name', 'description'], takes: ['rationale'] },
  correction: { needs: ['wrongBelief', 'rightBelief'] },
  exception: { needs: ['ruleBroken', 'justification'], takes: ['scope'] },
  learning: { needs: ['title', 'body'] },
  'failed-approach': { needs: ['approach', 'outcome'], takes: ['lesson'] },
}

export const KINDS_TOLD = Object.entries(KINDS)
  .map(
    ([kind, { needs, takes = [] }]) =>
      `- ${kind}: ${[...needs, ...takes.map((t) => `${t} (may be left out)`)].join(', ')}`,
  )
  .join('\n')

const FENCE = /^```(?:json)?[ \t]*\n([\s\S]*)```$/

type Tree = { readonly [key: string]: unknown }
const isTree = (v: unknown): v is Tree => typeof v === 'object' && v !== null && !Array.isArray(v)

/** One line, without what shows as nothing. */
const flat = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, (c) => (/\s/.test(c) ? ' ' : ''))
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed()

/** How quotes are compared: white space and case do not count. */
const comparable = (text: string): string => flat(text).toLowerCase()

/**
 * What a model answered, read as data and as nothing else: candidates of the five kinds, with texts of a sane length, of
 * which the model is sure enough and whose quote stands in what it was given.
 * @throws ExtractionFailed for what is no such JSON.
 */
export function candidatesIn(answer: string, turns: readonly Turn[]): Candidate[] {
  const bare = answer.trim()
  let parsed: unknown
  try {
    parsed = JSON.parse(FENCE.exec(bare)?.[1] ?? bare)
  } catch {
    throw new ExtractionFailed('the answer is not JSON')
  }
  const list = isTree(parsed) ? parsed.candidates : parsed
  if (!Array.isArray(list)) throw new ExtractionFailed('the answer has no list of candidates')
  const given = turns.map((t) => comparable(t.text))
  return list
    .flatMap((one) => candidate(one, (quote) => given.some((text) => text.includes(comparable(quote)))))
    .slice(0, MOST)
}

function candidate(one: unknown, wasSaid: (quote: string) => boolean): Candidate[] {
  if (!isTree(one) || typeof one.kind !== 'string' || !Object.hasOwn(KINDS, one.kind)) return []
  const { kind, confidence } = one
  if (typeof confidence !== 'number' || !(confidence >= LEAST_CONFIDENCE && confidence <= 1)) return []
  const quote = typeof one.quote === 'string' ? flat(one.quote) : ''
  if (quote.length < QUOTE.least || quote.length > QUOTE.most || !wasSaid(quote)) return []
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
  return [{ kind, action: [`record-${kind}`, args], quote, confidence }]
}
