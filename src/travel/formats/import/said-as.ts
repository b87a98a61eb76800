/**
 * What somebody says, as the action that records it. The words decide: what was tried and failed, what was decided, a rule
 * (it tells somebody to do or not to do something from now on), or how things are, with the places in the code it names.
 */

import { findSecrets } from '../../../base/secrets/find.ts'
import { placesIn } from '../../../find/code/location.ts'
import type { Json } from '../../../model/field.ts'
import { cut } from '../../../model/text.ts'
import { classifyRule, plainLine } from './classify.ts'

export type SaidKind = 'failed-approach' | 'decision' | 'fact' | 'question' | 'learning'
type Args = Readonly<{ [field: string]: Json | undefined }>
export type SaidAs = Readonly<{ kind: SaidKind; action: readonly [verb: string, args: Args] }>

/** A longer line is no sentence: its beginning stands for it. */
const LINE_MAX = 400
const LEAD =
  /^(?:(?:please|note(?: that)?|remember(?: that)?|fyi|btw|also|so|yesterday|last week|bitte|hinweis|nota)[,:]? ){1,3}/i

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

/** How things are, though it has a word of a rule in it. */
const DESCRIBES =
  /\balways [a-z]{2,30}(?<![su])s\b|^(?:we|they|i) (?:do not|don['’]t|can['’]t|cannot) (?:have|know|need|see|understand|own|offer)\b|\b(?:customers?|users?|people|they) (?:prefer|always)\b/i
/** "In tests, mock the clock": what stands before the order. */
const WHERE = /^(?:when(?:ever)?|before|after|once|every time|if|in|on|for) [^,]{1,200}, (?:please )?/i
const VERB =
  /^(?:add|ask|avoid|build|bump|call|change|check|choose|clear|close|commit|configure|convert|copy|create|declare|define|delete|deploy|describe|disable|document|do|drop|edit|enable|escape|export|express|extract|fix|fold|follow|format|generate|give|group|handle|ignore|implement|import|include|indent|inject|install|keep|leave|link|lint|log|make|mark|match|merge|mock|move|name|open|order|parse|pass|pin|place|prefix|pull|push|put|read|rebase|refer|register|release|remove|rename|replace|require|restart|return|reuse|review|round|run|save|send|set|skip|sort|speak|spell|split|squash|start|stick|stop|store|summarize|sync|tag|talk|tell|test|throw|treat|update|use|validate|verify|wait|wrap|write) \S/i
/** A noun may look like an order: "Log files are in var". */
const FINITE =
  /\b(?:is|are|was|were|has|have|had|does|did|takes?|took|needs?|goes|went|comes?|came|runs|ran|lives?|happens?|happened|fails|failed|gets|got|works?|worked|costs?|contains?|means|stands?|lies|sits|depends?|starts?|ends|lasts?|will|can|cannot|could|may|begins?|shows?|holds|returns|stays|breaks|broke|belongs?|uses|used)\b/i
const CLAUSE_ENDS =
  /[,;:(]| (?:that|if|whether|when|where|which|who|what|before|after|because|until|unless|so|while|and) /i
/** With no verb at all: "tabs, not spaces", "no default exports", "commit messages in English". */
const BARE_ORDER =
  /^(?:no|only|zero) \S|, (?:not|no) |\bonly\b|\b(?:instead of|rather than)\b|^(?:commit messages?|commits|branch(?: name|e)s|pull requests?|prs?|comments|identifiers|file names|test names|code and comments|tabs|spaces|\d spaces|semicolons|\w+[- ]case|commit-nachrichten|messages de commit|mensajes de commit|mensagens de commit) (?:auf|en|em|in|with|without|as|for|over|on|under|below)\b/i
const ORDERS = [
  /^(?:from (?:now|here) on|going forward|ab (?:jetzt|sofort)|künftig|à partir de maintenant|désormais|de ahora en adelante|a partir de (?:ahora|agora)|daqui em diante|从现在(?:起|开始)|今后|今後)/i,
  /\b(?:should|shall|ought to)(?! (?:have|take)\b)|\byou (?:need|have) to\b|\b(?:prohibited|banned|off[- ]limits)\b|^only .{1,80} may\b|^we (?:write|name|follow|avoid|commit|squash|rebase|lint|format|indent|tag|bump|prefix|stick|review)\b/i,
  /^(?!(?:es|das|die|der|wir|ich|hat|ist|gibt|hier) )[a-zäöüß]+ keine?[nrms]? [a-zäöüß]/i,
  /^(?:immer|nie(?:mals)?|keine?n?|verwende[nt]?|(?:be)?nutzen?|schreib(?:e|en|t)?|bevorzuge[nt]?|vermeide[nt]?|wir (?:verwenden|(?:be)?nutzen|schreiben)) |(?<![a-zäöü])(?:muss|müssen|darf|dürfen|soll|sollen|sollten?)(?![a-zäöü])|^\S+(?: \S+){0,2}, nicht /i,
  /^(?!.{0,300}(?<![a-zäöü])(?:kann|können|ist|sind|war|waren|hat|haben|wird|werden|wurden?|weil|wir)(?![a-zäöü]))(?=.{0,200}\b(?:immer|nie|niemals|nicht) ).{4,300}[a-zäöüß]{3}e[lr]?n$/i,
  /^(?:(?:toujours|jamais)(?! (?:vide|en panne))|ne|pas de|utilise[rz]?|préfère[rz]?|préférer|évite[rz]?|écri(?:s|vez|re)|lance[rz]|garde[rz]?|mettre|mettez|nomme[rz]?|privilégier|privilégiez|suivre|suivez|respecte[rz]|référence[rz]|vérifie[rz]|veiller à|s['’]assurer|(?:on|nous) (?:utilise|utilisons|préfère|préférons|écrit|écrivons)) |^n['’]|\b(?:il faut|doit|doivent|interdit)\b|, (?:ne )?(?:jamais|pas) /i,
  /^(?:(?:siempre|nunca|jamás|sempre|jamais)(?! (?:falla|hay|es|está|funciona|falha|há|é) )|no (?:uses|usar|hagas|toques|tocar|edites|editar|pongas|escribas|subas|subir|borres|borrar|guardes|guardar)|usa|usar|prefiere|evita|evitar|escribe|escribir|ejecuta|ejecutar|mantén|mantener|respetar|seguir|validar|haz|guarda|usamos|preferimos|escribimos) |^(?:leer|mencionar|preservar|revisar|actualizar|documentar|verificar|comprobar|asegurar) |(?<![a-zñ])(?:debe[ns]?|hay que|tienen? que|prohibido)(?![a-zñ])/i,
  /^(?:não (?:use|usar|faça|fazer|toque|edite|editar|coloque|escreva|apague|guarde|suba)|prefira|evite|escreva|rode|execute|mantenha|manter|preferir|seguir|respeitar|validar|faça|guarde|escrevemos) |(?<![a-zç])(?:devem?|é preciso|t[eê]m que|proibido)(?![a-zç])/i,
  /^(?:请|不要|别|务必|总是|始终|绝不|优先|使用|用|我们(?:使用|用)|遵循|保持)|必须|不得|禁止|(?:^|^(?!本).{0,200}，)(?:不要|请|避免|确保)|(?<![相响反对适供效回答呼感顺])应(?![用急付聘答变对])|(?<![不无所必若果按有在当])需(?![求])/,
  /^(?:[^:：]{1,40}[:：] )?(?:(?:всегда|никогда|нельзя|обязательно|запрещ[а-яё]+) |не [а-яё]{2,30}(?:й|йте|ь|ьте|и|ите|ть) |(?:используй|избегай|пиши|следуй|проверяй|запускай|добавляй|соблюдай|обновляй|создавай|храни|делай)(?:те)? )|(?<![а-яё])(?:должн[аоы]?|необходимо|следует) /i,
  /(?:하라|하세요|하십시오|할 것|해야 (?:한다|합니다)|지 ?(?:마라|말아라|마세요|마십시오|말 것)|금지)[.。!]?$|^(?:항상|절대|반드시) /,
  /(?:[てで]ください|ないで|[うくすつぬむるい]こと|べき|禁止|を使う|を使用する)。?$|^(?:必ず|絶対に)/,
]

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

/** Whether a sentence tells somebody to do or not to do something from now on. */
export function isRule(sentence: string): boolean {
  if (DESCRIBES.test(sentence)) return false
  if (classifyRule(sentence) || ORDERS.some((pattern) => pattern.test(sentence))) return true
  const order = sentence.replace(WHERE, '')
  const [said = ''] = order.slice(order.indexOf(' ')).split(CLAUSE_ENDS, 1)
  return VERB.test(order) ? !FINITE.test(said) : BARE_ORDER.test(sentence) && !FINITE.test(sentence)
}

type Telling = readonly [key: string, behind: string, of: (sentence: string, line: string) => Args | undefined]

/** The field that stands for all of it, the one for what stands behind the line, and what the line says. */
const FIELDS: Readonly<Record<SaidKind, Telling>> = {
  'failed-approach': ['approach', 'outcome', (sentence) => triedIn(sentence) ?? endedIn(sentence)],
  decision: ['name', 'rationale', (sentence, line) => decisionIn(beyond(sentence, DECIDED) ?? sentence, line)],
  fact: ['fact', 'context', (sentence, fact) => ({ fact, category: classifyRule(sentence)?.category })],
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
  const first = begin.replace(/^remember(?::|,| that) (?=\S)/i, '')
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
