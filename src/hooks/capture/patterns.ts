import { type Category, plainLine } from '../../formats/import/classify.ts'
import type { Json } from '../../model/field.ts'
import { type Lasting, lastingIn } from './classifier.ts'
import { sentencesOf } from './prompt-text.ts'

/** Something that a sentence says and that may be worth keeping, as the action that would record it. */
export interface Captured {
  readonly kind: 'fact' | 'correction' | 'decision' | 'exception'
  readonly action: readonly [verb: string, args: { [field: string]: Json }]
  /** The sentence. */
  readonly said: string
  readonly category?: Category
}

/** Log odds from which a part of a sentence is taken for a rule, and from which the agent is asked to judge. */
const SURE = 1.5
const UNSURE = -0.5

/** Said behind a rule and no part of it: "…, please", "…, remember that". */
const TAIL = /,?\s(?:please|pls|thanks|thx|bitte|danke|por favor|merci|(?:please\s)?remember (?:that|this)|always)$/i

/** A request glued to a rule, before it or behind it: "use that here, and never …", "…, you can drop the old one". */
const BEFORE = /^.{1,200}?,\s(?:and|but)\s(?=(?:never|always)\s)/i
const BEHIND = /,\s(?:so\s)?(?:you (?:can|could|may)|can you|could you|please)\s.{1,200}$/i

const fact = (text: string, said: string, category: Category): Captured => ({
  kind: 'fact',
  action: ['record-fact', { fact: text[0]!.toUpperCase() + text.slice(1), category }],
  said,
  category,
})

const NOT =
  /^(.{6,400}?)[,;]?\s{1,9}(?:and\s+)?(?:not|rather than|instead of)\s+((?:in|on|at|from|with|by|via|through)\s+)?(\S.{1,400})$/i

function correction(text: string, said: string): Captured {
  const rightBelief = text.replace(/^(?:no|nope|nein|non)\s(?:actually,?\s)?/i, '')
  const turned = NOT.exec(rightBelief)
  const wrongBelief = turned ? `${turned[2] ?? ''}${turned[3]}` : 'what the agent did or said just before'
  return { kind: 'correction', action: ['record-correction', { wrongBelief, rightBelief }], said }
}

const CHOOSES =
  /^(?:let['’]?s|let us|we(?:['’]ll| will| shall)?|i)\s(?:(?:have\s)?(?:decided|agreed|settled)\s(?:on|to)\s)?(?:(?:go(?:ing)?|stick(?:ing)?)\s(?:with|for|to)|settle on|opt for|adopt|switch to|move to|choose|pick|use)?\s?/i
const SMALL_WORDS = new Set(['the', 'a', 'an', 'that', 'this', 'it', 'one', 'to', 'of'])

function decision(text: string, said: string): Captured {
  const [what = '', why] = text.replace(CHOOSES, '').split(/(?<!\s),?\s+(?:because|since|[—–-])\s+/i)
  const words = (what.toLowerCase().match(/[\p{L}\p{N}+#.]+/gu) ?? []).filter((word) => !SMALL_WORDS.has(word))
  const name = words.slice(0, 6).join('-').slice(0, 60).replace(/\.$/, '')
  if (name === '') return fact(text, said, 'convention')
  const action = ['record-decision', { name, description: text, ...(why ? { rationale: why } : {}) }] as const
  return { kind: 'decision', action, said }
}

const SKIP =
  /^(?:please\s+)?(?:(?:let['’]?s\s+)?skip|leave out|ignore|don['’]t bother (?:with|about)|no need (?:for|to))\s+(\S.{0,400}?)(?:\s{1,9}(?:for now|this time|here|just this once|for the moment))?[,;:.]?\s{0,9}(?:[—–-]{1,3}\s*|because\s+|since\s+|,\s*)(\S.{0,400})$/i
const PASSING =
  /\b(?:for now|this time|just this once|for the moment|prototype|spike|throw-?away|hotfix|experiment|poc)\b/i

/** A rule that is broken once, and why: "Skip tests for now — prototype". */
function exception(said: string): Captured | undefined {
  const [, skipped = '', why = ''] = (PASSING.test(said) && SKIP.exec(said)) || []
  const ruleBroken = skipped.replace(/(?<!\s)\s+(?:for now|this time|here)$/i, '').trim()
  const justification = why.replace(/(?<![.!])[.!]+$/, '').trim()
  if (ruleBroken.length < 3 || justification.length < 3) return undefined
  return { kind: 'exception', action: ['record-exception', { ruleBroken, justification }], said }
}

function captured({ text, sort }: Lasting, said: string): Captured[] {
  const bare = plainLine(text).replace(BEFORE, '').replace(BEHIND, '').replace(TAIL, '').trim()
  if (bare.split(/\s+/).length < 2 && !/\p{Script=Han}{3}/u.test(bare)) return []
  if (sort === 'correction') return [correction(bare, said)]
  if (sort === 'decision') return [decision(bare, said)]
  return [fact(bare, said, sort)]
}

const MOST = 3
const MOST_IN_SENTENCE = 2

/** The sentences of a prompt that ask nothing. */
export const statementsOf = (prompt: string): string[] => sentencesOf(prompt).filter((s) => !/[?？]["')\]]*$/.test(s))

/** What a prompt lays down, and whether more of it may be meant to last than was found. */
export interface Heard {
  readonly found: readonly Captured[]
  readonly unsure: boolean
}

/**
 * What a user's prompt says that may be worth keeping: rules, corrections, decisions, exceptions. What is found is
 * proposed and binds nobody. Rather nothing than something wrong: at most three.
 */
export function heardIn(prompt: string, statements = statementsOf(prompt)): Heard {
  const found: Captured[] = []
  let unsure = false
  for (const [i, said] of statements.entries()) {
    const skipped = exception(said)
    if (skipped) found.push(skipped)
    else {
      const spans = lastingIn(said, statements[i - 1], statements[i + 1]).slice(0, MOST_IN_SENTENCE)
      found.push(...spans.filter(({ score }) => score >= SURE).flatMap((span) => captured(span, said)))
      unsure ||= spans.length > 0 && spans[0]!.score < SURE && spans[0]!.score >= UNSURE
    }
  }
  return { found: found.slice(0, MOST), unsure }
}

export const capturedIn = (prompt: string): readonly Captured[] => heardIn(prompt).found
