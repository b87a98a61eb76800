import { type Category, classifyRule, plainLine } from '../../imports/classify.ts'
import type { Json } from '../../schema/field.ts'
import { sentencesOf } from './sentences.ts'

/** Something that a sentence says and that may be worth keeping, as the action that would record it. */
export interface Captured {
  readonly kind: 'fact' | 'correction' | 'decision' | 'exception'
  readonly action: readonly [verb: string, args: { [field: string]: Json }]
  /** The sentence. */
  readonly said: string
  readonly category?: Category
}

const QUESTION =
  /\?["')\]]*$|^(?:why|what|who|how|when|where|which|can|could|would|should|is|are|do|does|did|have|has|will)\b/i

/** Somebody tells how it goes, and not how it is to be done: "I always forget", "it never worked", "they use". */
const TELLS =
  /^(?:(?:but|and|because|since|although|so|hmm|well|sorry)[,\s]+)*(?:i|it|he|she|they|that|this|these|those|there|users?|people|someone|somebody|customers?|clients?)\b(?:['’]\w+)?\s+(?:\w+\s+){0,3}?(?:always|never|uses?|used)\b/i
/** … unless it is a wish: "I always want", "I prefer", "it should never". */
const WISHES = /\b(?:want|prefer|like|expect|should|must|has to|have to|need)\b/i

/** Somebody else says so: "the README says to always …", "according to the docs, never …". */
const REPORTS =
  /\b(?:says?|said|states?|reads|writes|wrote|mentions?|claims?|recommends?|suggests?|complains?|warns?|told (?:me|us)|tells (?:me|us)|according to)\b.{0,400}?\b(?:always|never|prefer|we use)\b/i

/** By these words a prompt states a rule; without one of them it asks for something to be done now. */
const LASTING =
  /\b(?:always|never|prefer|from now on|going forward|in (?:this|our) (?:project|repo(?:sitory)?|code ?base)|by convention|as a rule|every time|(?:the|our) (?:\w+ ){0,2}(?:pattern|convention|rule) (?:is|here is))\b/i
const WE_USE =
  /^(?:please note[,:]?\s+|note(?: that)?[,:]?\s+|remember[,:]?\s+|btw[,:]?\s+|by the way[,:]?\s+)?we\s+(?:only\s+|always\s+)?use\b/i
/** A wish for this once. */
const ONCE =
  /\b(?:for now|this time|just this once|for the moment|temporarily|in this (?:pr|commit|case|test)|today|right now)\b/i

const LEAD =
  /^(?:(?:please(?: note)?|note(?: that)?|remember(?: that| to)?|btw|by the way|also|and|ok(?:ay)?|from now on|going forward|as a rule|fyi|important)[,:]?\s+)+/i

function rule(said: string): Captured | undefined {
  if (ONCE.test(said)) return undefined
  if (TELLS.test(said) && !WISHES.test(said)) return undefined
  if (REPORTS.test(said)) return undefined
  const uses = WE_USE.test(said)
  if (!uses && !LASTING.test(said)) return undefined
  const bare = withoutLead(plainLine(said))
    .replace(/(?<![.!])[.!]+$/, '')
    .trim()
  if (bare.split(/\s+/).length < 3) return undefined // "never mind"
  const found = classifyRule(bare)
  if (!found) return undefined
  // "we use the same loop twice" is no rule; a tool by name is
  if (uses && !LASTING.test(said) && found.category !== 'tool') return undefined
  const fact = bare[0]!.toUpperCase() + bare.slice(1)
  return { kind: 'fact', action: ['record-fact', { fact, category: found.category }], said, category: found.category }
}

const NO =
  /^(?:no+|nope|nah|wait|hold on|actually|hm+)[,.!:—–-]{1,9}\s*(?:no[,.!]?\s+)?(?:actually[,:]?\s+|that['’]?s\s+(?:wrong|not (?:right|true|correct))[,.:;—–-]{0,9}\s*)?(\S.*)$/i
const NO_ACTUALLY = /^(?:no|nope)\s+actually[,:]?\s+(\S.*)$/i
const WRONG =
  /^(?:that|this|it)(?:['’]s|\s+is|\s+was)\s+(?:wrong|incorrect|not (?:right|true|correct|how it works|what it does))[,.:;—–-]{1,9}\s*(\S.*)$/i
/** A belief is a statement: something is, has, lives, uses … An order ("no, run it again") is none. */
const STATES =
  /\S\s+(?:is|are|was|were|isn['’]t|aren['’]t|has|have|lives?|uses?|goes|comes?|belongs?|returns?|takes?|needs?|requires?|means?|happens?|runs?|stands?|must|should|cannot|can['’]t|doesn['’]t|don['’]t)\b/i
const POLITE =
  /^(?:thanks?|thank you|problem|worries|need|please|rush|idea|it['’]?s (?:fine|ok(?:ay)?)|that['’]?s (?:fine|ok(?:ay)?|all|it)|let['’]?s|go ahead|we also|i (?:mean|meant|think|want|would|like|just))\b/i
const NOT =
  /^(.{0,400}?)[,;]?\s{1,9}(?:and\s+)?(?:not|rather than|instead of)\s+((?:in|on|at|from|with|by|via|through)\s+)?(\S.{0,400})$/i

function correction(said: string): Captured | undefined {
  const right = (WRONG.exec(said) ?? NO_ACTUALLY.exec(said) ?? NO.exec(said))?.[1]
    ?.trim()
    .replace(/(?<![.!])[.!]+$/, '')
  if (right === undefined || right.length < 10 || POLITE.test(right) || QUESTION.test(right) || !STATES.test(right))
    return undefined
  const turned = NOT.exec(right)
  const wrong =
    turned && turned[1]!.length >= 6 && turned[3]!.length >= 2 ? `${turned[2] ?? ''}${turned[3]}` : undefined
  return {
    kind: 'correction',
    action: [
      'record-correction',
      { wrongBelief: wrong ?? 'what the agent did or said just before', rightBelief: right },
    ],
    said,
  }
}

const GO_WITH =
  /^(?:(?:ok(?:ay)?|alright|all right|right|yes|yeah|great|good|fine|perfect|then|so)[,.!]?\s+)*(?:let['’]?s|let us|we(?:['’]ll| will| shall)|we(?:['’]ve| have)? decided (?:to|on)|i(?:['’]ve| have)? decided (?:to|on))\s+(?:go(?:ing)? (?:with|for)|stick(?:ing)? (?:with|to)|settle on|opt for|adopt|switch to|move to|choose|pick|use)\s+(\S.*)$/i
const DECIDED = /^(?:we|i)(?:['’]ve| have)? decided on\s+(\S.*)$/i

function decision(said: string): Captured | undefined {
  const chosen = (GO_WITH.exec(said) ?? DECIDED.exec(said))?.[1]?.replace(/(?<![.!])[.!]+$/, '').trim()
  if (chosen === undefined || chosen.length < 3 || ONCE.test(said)) return undefined
  const [what = '', why] = chosen.split(/(?<!\s),?\s+(?:because|since|[—–-])\s+/i)
  const words = what.toLowerCase().match(/[\p{L}\p{N}+#.]+/gu) ?? []
  const first = words.filter((w) => !['the', 'a', 'an', 'that', 'this', 'it', 'one'].includes(w)).slice(0, 6)
  if (first.length === 0) return undefined // "let's go with that": what it was stands elsewhere
  const name = first
    .join('-')
    .replace(/(?<!\.)\.+$/, '')
    .slice(0, 60)
  return {
    kind: 'decision',
    action: [
      'record-decision',
      { name, description: said.replace(/(?<![.!])[.!]+$/, ''), ...(why ? { rationale: why } : {}) },
    ],
    said,
  }
}

const SKIP =
  /^(?:please\s+)?(?:(?:let['’]?s\s+)?skip|leave out|ignore|don['’]t bother (?:with|about)|no need (?:for|to))\s+(\S.{0,400}?)(?:\s{1,9}(?:for now|this time|here|just this once|for the moment))?[,;:.]?\s{0,9}(?:[—–-]{1,3}\s*|because\s+|since\s+|,\s*)(\S.{0,400})$/i
const PASSING =
  /\b(?:for now|this time|just this once|for the moment|prototype|spike|throw-?away|hotfix|experiment|poc)\b/i

function exception(said: string): Captured | undefined {
  if (!PASSING.test(said)) return undefined
  const found = SKIP.exec(said)
  if (!found) return undefined
  const rule = found[1]!.replace(/(?<!\s)\s+(?:for now|this time|here)$/i, '').trim()
  const why = found[2]!.replace(/(?<![.!])[.!]+$/, '').trim()
  if (rule.length < 3 || why.length < 3) return undefined
  return { kind: 'exception', action: ['record-exception', { ruleBroken: rule, justification: why }], said }
}

const MOST = 3

/** The sentences of a prompt that ask nothing. */
export const statementsOf = (prompt: string): string[] => sentencesOf(prompt).filter((s) => !QUESTION.test(s))

/** A sentence without what only leads to it: "Please remember: …". */
export const withoutLead = (sentence: string): string => sentence.replace(LEAD, '')

/**
 * What a user's prompt says that may be worth keeping: rules, corrections, decisions, exceptions. Words decide, nothing
 * else; what is found is proposed and binds nobody. Rather nothing than something wrong: at most three.
 */
export function capturedIn(prompt: string, statements = statementsOf(prompt)): Captured[] {
  const found: Captured[] = []
  for (const sentence of statements) {
    const one = exception(sentence) ?? correction(sentence) ?? decision(sentence) ?? rule(sentence)
    if (one) found.push(one)
    if (found.length === MOST) break
  }
  return found
}
