import { type Category, classifyRule, plainLine } from '../../formats/import/classify.ts'
import type { Json } from '../../model/field.ts'
import { statedIn } from './cues.ts'
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
  /[?？]["')\]]*$|^(?:why|what|who|how|where|which|can|could|would|should|is|are|do(?! not)|does|did|have|has|will)\b/i

/** Somebody else says so: "the README says to always …", "according to the docs, never …". */
const REPORTS =
  /\b(?:says?|(?<!\bi )said|states?|reads|writes|wrote|mentions?|claims?|recommends?|suggests?|complains?|warns?|told (?:me|us)|tells (?:me|us)|according to)\b.{0,400}?\b(?:always|never|prefer|we use)\b/i
/** A wish for this once. */
const ONCE =
  /\b(?:for now|this time|just this once|for the moment|temporarily|in this (?:pr|commit|change|case|test)|for this (?!repo|project|code)\w+|today|tomorrow|right now)\b/i
/** Between a request and the rule behind it. */
const JOINT = /[,:]\s+|\s[-–—]{1,3}\s+|\s\(|[，：]|\s(?=(?:and|but|und|aber|y|pero|et|mais)\s)/gu
/** What of a sentence no longer says the rule: what one may think or do of it, what is done of it in one place. */
const TAIL =
  /(?:,\s+(?:so|maybe|perhaps|that['’]s|which is|i think|(?:can|could|would|will) you|you (?:can|may|could|should)|please\s|see\s|(?:yours|mine|this one|that one)\s|the (?:new|old|other|current|last|existing)|tu peux|vous pouvez|puedes|du kannst|kannst du|d(?:ie|as|er) (?:alten?|neuen?|andere)|(?:l['’]|le |la )?ancien(?:ne)?|el viejo|la vieja|bitte|schau|(?:add|fix|do|update|change|drop|remove|delete|move|rename|rewrite|adapt|check)\s(?:one|this|that|these|the))\b[^,]*|，(?:把|请|帮|你|麻烦)[^，]*)$/iu

/** Said behind a rule: "…, always". */
const LASTS = /,\s(?:always|(?:please\s)?remember (?:that|this)|please always)$(?<!^the\b.{0,400})/i
/** Said of the sentence before. */
const LASTS_BEFORE =
  /^(?:(?:and )?(?:that|this|same) (?:goes|holds|applies|is true) (?:for|to) (?:all|every|any|the whole|each)\b|(?:that|this)(?:['’]s| is) (?:a|the) (?:general )?rule\b|(?:please )?(?:remember|keep in mind) (?:that|this)[.!]*$)/i
/** Between what is so and the rule that follows of it. */
const HENCE = /(?<![,\s]),?\s(?=so (?:don['’]t|do not|never|always)\s)/i

function withoutTail(text: string): string {
  const cut = text.replace(TAIL, '')
  return cut.split(/\s/).length < 3 && !/\p{Script=Han}{3}/u.test(cut) ? text : cut
}

/** What is to be made, with what it should be or say behind a colon: that is of the thing, not of how one works. */
const MAKES =
  /^(?:please\s+)?(?:(?:can|could|would) you\s+)?(?:please\s+)?(?:write|translate|generate|implement|draft|say|print|show|explain|summari[sz]e|rephrase|render|display|reply|answer|create|build|design|add (?:an? )?(?:validation|check|rule|text|tooltip|banner|comment|note)|übersetze?|schreibe?|traduce|traduis|écris|escribe|翻译|写)(?![\p{L}\p{N}])[^:：]*[:：]/iu

/** The rule that a sentence states, alone or behind a request: "fix the login and always use zod". */
function rule(said: string, lasts: boolean): Captured | undefined {
  const whole = withoutTail(plainLine(said).replace(/(?<![.!。！])[.!。！]+$/, ''))
  if (ONCE.test(whole) || REPORTS.test(said)) return undefined
  const sentence = whole.replace(LASTS, '')
  if (MAKES.test(sentence)) return undefined
  for (const at of [0, ...Array.from(sentence.matchAll(JOINT), (m) => m.index + m[0].length)]) {
    const stated = statedIn(sentence.slice(at).trim(), lasts || sentence !== whole)
    if (!stated) continue
    const bare = withoutTail(stated.rule)
      .replace(/^([^()]{1,300})\)$/, '$1')
      .trim()
    if (bare.split(/\s+/).length < 3 && !/\p{Script=Han}{2}/u.test(bare)) return undefined // "never mind"
    const category =
      stated.category ??
      classifyRule(bare)?.category ??
      (/\b(?:no|not|never)\b/i.test(bare) ? 'constraint' : 'convention')
    const fact = bare[0]!.toUpperCase() + bare.slice(1)
    return { kind: 'fact', action: ['record-fact', { fact, category }], said, category }
  }
  return undefined
}

const NO =
  /^(?:no+|nope|nah|wait|hold on|actually|hm+|wrong|incorrect|nein|nee|non|不对|错了)[,.!:—–，。-]{1,9}\s*(?:no[,.!]?\s+)?(?:actually[,:]?\s+|that['’]?s\s+(?:wrong|not (?:right|true|correct))[,.:;—–-]{0,9}\s*)?(\S.*)$/i
const NO_ACTUALLY = /^(?:(?:no|nope)\s+actually[,:]?\s+(?=\S)|actually\s(?=we\s))(.*)$/i
const WRONG =
  /^(?:that|this|it)(?:['’]s|\s+is|\s+was)\s+(?:wrong|incorrect|not (?:right|true|correct|how it works|what it does))[,.:;—–-]{1,9}\s*(\S.*)$/i
const WRONG_ALONE =
  /^(?:that|this|it)(?:['’]s|\s+is|\s+was)\s+(?:wrong|incorrect|not (?:right|true|correct))[.!]?$|^no[,.]?\s(?:that|this|it)(?:['’]s|\s+is|\s+was)\s(?:the|an?|my|your)\s[^,]{1,40}$/i
/** A belief is a statement: something is, has, lives, uses … An order ("no, run it again") is none. */
const STATES =
  /^we(?: (?:don['’]t|never|always))?\s+(?:use|store|keep|call|write|deploy|run|put|follow)\b|\S\s+(?:is|are|was|were|isn['’]t|aren['’]t|has|have|lives?|uses?|goes|comes?|belongs?|returns?|takes?|needs?|requires?|means?|happens?|runs?|stands?|must|should|cannot|can['’]t|doesn['’]t|don['’]t|ist|sind|liegt|läuft|heißt|steht|es|son|está|están|va|van|vive|est|sont|se trouve)(?![\p{L}\p{N}])|\p{Script=Han}(?:是|在|叫)/iu
const POLITE =
  /^(?:(?:that|this|it)(?:['’]s|\s+is)\s+(?:the|an?|my|your)\b|(?:das|es|er|sie|ich|c['’]est|ce|ça|eso|esto|está|son|je|il|elle|yo)(?![\p{L}])|[这那我你它他]|thanks?|thank you|problem|worries|need|please|rush|idea|it['’]?s (?:fine|ok(?:ay)?)|that['’]?s (?:fine|ok(?:ay)?|all|it)|let['’]?s|go ahead|we also|i (?:mean|meant|think|want|would|like|just))(?!\p{L})|\b(?:still|again|broken|somewhere|here)\b|哪/iu
const NOT =
  /^(.{0,400}?)[,;]?\s{1,9}(?:and\s+)?(?:not|rather than|instead of)\s+((?:in|on|at|from|with|by|via|through)\s+)?(\S.{0,400})$/i

function correction(said: string): Captured | undefined {
  const right = (WRONG.exec(said) ?? NO_ACTUALLY.exec(said) ?? NO.exec(said))?.[1]
    ?.trim()
    .replace(/(?<![.!])[.!]+$/, '')
  if (
    right === undefined ||
    (right.length < 10 && !/\p{Script=Han}{3}/u.test(right)) ||
    POLITE.test(right) ||
    QUESTION.test(right) ||
    !STATES.test(right)
  )
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
const DECIDED =
  /^(?:we|i)(?:['’]ve| have)? (?:decided|agreed|settled) (?:(?:yesterday|today|already|now|finally|last \w+|on \w+day) )?(?:on|against|to(?= (?:not|drop|use|keep|move|switch|stop|support|adopt|deprecate|remove|replace|rewrite|split|store|stay)\b))\s+(\S.*)$/i
const INSTEAD =
  /^(?:after [^,]{3,80}?,?\s)?we(?:['’]re| are)\s(?:now\s)?going with\s(?!(?:the|this|that|it)\b)(\S.{1,80}\s(?:instead of|over|rather than|not)\s\S.*)$/i

/** A choice within the work at hand: "let's use a set there". */
const PASSING_CHOICE = /^(?:an? |the (?:first|second|third|other|same|old|new) )|\b(?:here|there)$/i

function decision(said: string): Captured | undefined {
  const chosen = (GO_WITH.exec(said) ?? DECIDED.exec(said) ?? INSTEAD.exec(said))?.[1]
    ?.replace(TAIL, '')
    .replace(/(?<![.!])[.!]+$/, '')
    .trim()
  if (chosen === undefined || chosen.length < 3 || ONCE.test(said)) return undefined
  const [what = '', why] = chosen.split(/(?<!\s),?\s+(?:because|since|[—–-])\s+/i)
  const words = what.toLowerCase().match(/[\p{L}\p{N}+#.]+/gu) ?? []
  const first = words.filter((w) => !['the', 'a', 'an', 'that', 'this', 'it', 'one'].includes(w)).slice(0, 6)
  if (first.length === 0 || PASSING_CHOICE.test(what)) return undefined // "let's go with that": what it was stands elsewhere
  const name = first
    .join('-')
    .replace(/(?<!\.)\.+$/, '')
    .slice(0, 60)
  return {
    kind: 'decision',
    action: [
      'record-decision',
      { name, description: said.replace(TAIL, '').replace(/(?<![.!])[.!]+$/, ''), ...(why ? { rationale: why } : {}) },
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
export const statementsOf = (prompt: string): string[] => sentencesOf(prompt).filter((s) => !/[?？]["')\]]*$/.test(s))

/**
 * What a user's prompt says that may be worth keeping: rules, corrections, decisions, exceptions. Words decide, nothing
 * else; what is found is proposed and binds nobody. Rather nothing than something wrong: at most three.
 */
export function capturedIn(prompt: string, statements = statementsOf(prompt)): Captured[] {
  const found: Captured[] = []
  for (const [i, said] of statements.entries()) {
    const sentence = WRONG_ALONE.test(statements[i - 1] ?? '') ? `that's wrong: ${said}` : said
    const one = exception(sentence) ?? correction(sentence) ?? decision(sentence)
    const lasts = LASTS_BEFORE.test(statements[i + 1] ?? '')
    found.push(...(one ? [one] : sentence.split(HENCE).flatMap((part) => rule(part, lasts) ?? [])))
    if (found.length >= MOST) break
  }
  return found.slice(0, MOST)
}
