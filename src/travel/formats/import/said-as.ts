/**
 * What somebody says, as the action that records it. The words decide: what was tried and failed, what was decided, a rule
 * (it tells somebody to do or not to do something from now on), or how things are, with the places in the code it names.
 */

import { findSecrets } from '../../../base/secrets/find.ts'
import { TAG } from '../../../engine/store/prompts.ts'
import { placesIn } from '../../../find/code/location.ts'
import type { Json } from '../../../model/field.ts'
import { cut } from '../../../model/text.ts'
import { classifyRule, plainLine } from './classify.ts'
import { isRule } from './orders.ts'

export type SaidKind = 'failed-approach' | 'decision' | 'fact' | 'question' | 'learning'
type Args = Readonly<{ [field: string]: Json | undefined }>
export type SaidAs = Readonly<{ kind: SaidKind; action: readonly [verb: string, args: Args] }>

/** A longer line is no sentence: its beginning stands for it. */
const LINE_MAX = 400
const LEAD =
  /^(?:(?:oh|and|but|please|note(?: that)?|remember(?: that)?|fyi|btw|also|so|yesterday|last week|bitte|hinweis|nota)[,:]? ){1,3}/i
/** It leads to a rule and is no part of it: "oh and please", "from now on". Before "it" or "I" it stays. */
const TALK =
  /^(?:(?:oh|so(?! (?:far|that|long|much|many|few|called|be)(?![a-z]))|ok(?:ay)?|and|but|also(?! (?:known|called))|please|pls|und|aber|auch|bitte|y(?! (?:ax[ei]s|values?|coordinates?|labels?))|et(?! al(?![a-z]))|mais|aussi|por favor|pero|from (?:now|here) on(?:wards)?|going forward|ab (?:jetzt|sofort)|künftig|(?:de ahora )?en adelante|a partir de (?:ahora|agora)|dorénavant|désormais|à partir de maintenant)[, ]{1,3}){1,6}(?=\S{1,40}\s\S)(?!(?:i|as|it|its|this|that|them|these|those|they|es|das|ça|cela|eso|esto|isso)\s)/i

/** A sentence begins so that says what was tried; German has its verb at the end. */
const TRIED = [
  /^(?:(?:we|i)(?:['’]ve| have| had)?(?: already| once| also| first)? )?(?:tried|attempted|experimented with|gave up on|rolled back)(?: out)?(?: to)?:? /i,
  /^(?:wir (?:haben|hatten)|ich habe) (?=.{0,300}(?:versucht|probiert|getestet)(?![a-zäöüß]))(?:(?:es )?versucht,? )?|^wir (?:versuchten|probierten),? /i,
  /^(?:on a|nous avons|j['’]ai)(?: déjà)? (?:essayé|tenté|testé) (?:de |d['’])?/i,
  /^(?:ya |já )?(?:(?:hemos|habíamos) (?:probado|intentado)|probamos|intentamos|probé|intenté|tentamos|tentei|experimentamos)(?: co[mn])? /i,
  /^(?:我们|我)?(?:曾经?|之前|已经)?(?:尝试|试)[过了]用?/,
]
/** Between what was tried and how it ended, the surest first. */
const JOINTS = [
  /[,;，]? ?(?:(?<=[ ,])(?:but|yet|however|aber|doch|jedoch|mais|pero|mas)[, ]|但是?|可是|结果)/i,
  /,? (?:and|und|et|y|e) (?=(?:it|that|they|this|everything|nothing|we|es|das|sie|il|elle|ça|cela|on|se|no|não|ele|ela) )/i,
  /, (?:and|und|et|y|e|which) |[;:.] | [—–-] |，/i,
  / (?:because|since|weil|parce que|porque) /i,
]
const WENT_WELL = /\b(?:works?|worked|helped|helps|runs|faster|fine)\b(?!.{0,80}\b(?:but|until|only|except|not)\b)/i
const DID_NOT = [
  /^(\w{2,40}ing (?:the|an?|to|all|every|our) .{1,200}?) ((?:broke|failed|lost|crashed|deadlocked|slowed)\b.{0,400})$/i,
  /^(.{3,300}?),? ((?:did not|didn['’]t) (?:work|help|scale|pay off)\b.{0,400}|was a dead end\b.{0,400}|turned out (?:to be )?(?:not|too)\b.{0,400})$/i,
  /^(.{3,300}?) ((?:hat nicht (?:funktioniert|geklappt)|n['’]a pas (?:marché|fonctionné)|no funcionó|não (?:funcionou|deu certo)).{0,400})$/i,
  /^(.{2,300}?)を?試(?:した|しました|みた|みました)(?:が|けれ?ど)?、?(.{0,400})$/,
  /^(.{2,300}?)(?:は|が)((?:うまくいかなかった|動かなかった|失敗した).{0,400})$/,
]

const DECIDED = [
  /^(?:(?:we|i|the team)(?:['’]ve|['’]ll|['’]re| have| had| will| are)?(?: also| finally| now| all)? (?:decided|chose|chosen|picked?(?! up)|agreed|settled? on|opt(?:ed)? (?:for|to)|went (?:with|for)|go(?:ing)? with|(?:switch|mov)(?:ed|ing)? (?:from|to)|adopt(?:ed)?|selected|ruled out)(?: on| to| that)?:? |deci(?:sion|ded): |it was (?:decided|agreed) (?:to |that )?|let['’]?s (?:go (?:with|for) |use |pick |stick with )?|let us )/i,
  /^(?:wir haben (?:uns )?(?=.{0,300}(?:entschieden|beschlossen|geeinigt)(?![a-zäöüß]))(?:(?:entschieden|beschlossen|geeinigt),? (?:dass )?)?(?:für |auf )?|wir (?:entscheiden uns für|nehmen|bleiben bei) |lasst? uns )/i,
  /^(?:(?:on a|nous avons|j['’]ai) (?:décidé|choisi|opté|retenu) (?:de |d['’]|que |pour )?|(?:on part|partons) sur |utilisons |optons pour )/i,
  /^(?:hemos (?:decidido|elegido|acordado|optado)|decidimos|elegimos|acordamos|optamos|usemos|vamos (?:a )?(?:usar|utilizar)|escolhemos|combinamos|foi decidido)(?: por| que| usar)? /i,
  /^(?:我们|团队)?(?:已经|最终)?(?:决定|选择了|选定)(?:使用|采用|用)?/,
  /^(?=.{0,300}(?:ことに(?:決めた|決めました|した|しました)|に(?:決めた|決定した|決めました))。?$)/,
  /^(?=.{2,200} (?:was|were|has been) (?:chosen|picked) (?:over|for|because|as)\b)/i,
]
const WHY = /,? (?:because(?: of)?|since|weil|parce que|porque|car|pois) |, denn /i
const SMALL_WORDS = new Set(['the', 'a', 'an', 'that', 'this', 'it', 'to', 'of', 'der', 'die', 'das', 'zu', 'le', 'la', 'les', 'de', 'el', 'o']) // biome-ignore format: a list

const firstOf = (text: string, patterns: readonly RegExp[]): RegExpExecArray | undefined =>
  patterns.map((pattern) => pattern.exec(text)).find((found) => found !== null)

/** The sentence without the words that lead to what it says, if it begins with such. */
const beyond = (sentence: string, leads: readonly RegExp[]): string | undefined => {
  const lead = firstOf(sentence, leads)
  return lead && sentence.slice(lead[0].length)
}

/** What a sentence says that somebody tried, and how it ended. */
function triedIn(sentence: string): Args | undefined {
  const tried = beyond(sentence, TRIED)
  if (tried === undefined) return undefined
  const joint = firstOf(tried, JOINTS)
  const at = joint?.index || tried.length
  const outcome = tried.slice(at + (joint?.[0].length ?? 0)).trim()
  if (joint && !JOINTS[0]!.test(joint[0]) && WENT_WELL.test(outcome)) return undefined
  const approach = tried.slice(0, at).replace(/ (?:versucht|(?:aus)?probiert|getestet)$/i, '')
  return { approach: approach.trim() || sentence, outcome: outcome || undefined }
}

/** The same, where the sentence says it of what was tried: "X did not work because …". */
function endedIn(sentence: string): Args | undefined {
  const [, approach, outcome] = firstOf(sentence, DID_NOT) ?? []
  return approach === undefined ? undefined : { approach, outcome: outcome || undefined }
}

/** A decision with its short name, if the sentence has words for one. */
function decisionIn(sentence: string, line: string): Args | undefined {
  const [what = ''] = sentence.split(WHY, 1)
  const bare = what.replace(/ (?:entschieden|beschlossen|geeinigt)$/i, '').toLowerCase()
  const words = (bare.match(/[\p{L}\p{N}+#.]+/gu) ?? []).filter((word) => !SMALL_WORDS.has(word))
  const name = words.slice(0, 6).join('-').slice(0, 60).replace(/\.$/, '')
  const rationale = sentence.slice(what.length).replace(WHY, '') || undefined
  return name === '' ? undefined : { name, description: line, rationale }
}

type Telling = readonly [key: string, behind: string, of: (sentence: string, line: string) => Args | undefined]

/** The field that stands for all of it, the one for what stands behind the line, and what the line says. */
const FIELDS: Readonly<Record<SaidKind, Telling>> = {
  'failed-approach': ['approach', 'outcome', (sentence) => triedIn(sentence) ?? endedIn(sentence)],
  decision: ['name', 'rationale', (sentence, line) => decisionIn(beyond(sentence, DECIDED) ?? sentence, line)],
  fact: ['fact', 'context', (said, line) => ({ fact: line.replace(TALK, ''), category: classifyRule(said)?.category })],
  question: ['question', 'context', (_, question) => ({ question })],
  learning: ['title', 'body', (_, title) => ({ title })],
}

/** Whether it is known what an entity of the kind says of a sentence. */
export const isSaidKind = (kind: string): kind is SaidKind => Object.hasOwn(FIELDS, kind)

function kindOf(sentence: string): SaidKind {
  if (/[?？]$/.test(sentence)) return 'question'
  if (triedIn(sentence)) return 'failed-approach'
  const decided = beyond(sentence, DECIDED)
  if (decided !== undefined && decisionIn(decided, sentence)) return 'decision'
  if (isRule(sentence)) return 'fact'
  return endedIn(sentence) ? 'failed-approach' : 'learning'
}

/** What would record what somebody says: its first line is the sentence, the others are its context. */
export function actionOf(said: string, as?: SaidKind): SaidAs {
  const [begin = ''] = said.trim().split('\n', 1)
  const bare = begin.replace(/^remember(?::|,| that) (?=\S)/i, '')
  const first = bare.replace(TAG, (tag) => (tag.startsWith(',') ? '' : tag))
  const line = cut(first.trimEnd(), LINE_MAX)
  const sentence = plainLine(line).replace(LEAD, '')
  const kind = as ?? kindOf(sentence)
  const [key, behind, of] = FIELDS[kind]
  // no part of it passes the gate that the whole would not pass
  const isHeld = /<private>/i.test(said) || findSecrets(said).length > 0
  if (isHeld) return { kind, action: [`record-${kind}`, { [key]: said }] }
  const args = of(sentence, line) ?? { [key]: line }
  const rest = first.trimEnd() === line ? said.trim().slice(begin.length) : said
  const context = `${args[behind] ?? ''}\n${rest.trim()}`.trim() || undefined
  const places = kind === 'learning' ? placesIn(said) : []
  const locations = places.length > 0 ? places : undefined
  return { kind, action: [`record-${kind}`, { ...args, [behind]: context, locations }] }
}
