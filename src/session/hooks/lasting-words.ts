/**
 * Sentences that say themselves that they hold from now on. They are few and plain, since a person is asked about each: of 100
 * prompts that developers typed, one such question at most is wrong (docs/hooks.md). What they do not say in such words is for
 * the agent to judge.
 */
import { keptIn } from '../../base/lookup.ts'
import { isAscii } from '../../base/secrets/plain.ts'
import { isQuestion } from '../../engine/store/prompts.ts'

/** Classes of Unicode take a hook milliseconds to compile: a text of ASCII has cheap ones. */
const FLAVOURS = {
  ascii: { before: '(?<![A-Za-z0-9_])', behind: '(?![A-Za-z0-9_])', letter: '[A-Za-z]', flags: 'i' },
  any: { before: '(?<![\\p{L}\\p{N}_])', behind: '(?![\\p{L}\\p{N}_])', letter: '\\p{L}', flags: 'iu' },
} as const
type Flavour = (typeof FLAVOURS)[keyof typeof FLAVOURS]

/** What may stand before the words that count: "In apps/web", "and please", "you should"; no report as "in Safari never works". */
const LEAD =
  '(?:(?:in|for) (?:the )?(?!now|this|once|example|end |past |theory|short)[a-z0-9_./@-]{2,40}(?: (?:app|example|package|service|module|folder|directory|project|tests?|library|code))?(?:[,:] | (?!(?:(?:we|you|i) )?(?:always|never) [a-z]{2,20}(?:(?<![su])s|(?<!e|emb|sh|shr)ed)(?![a-z]))))?(?:(?:oh|and|but|also|so|ok(?:ay)?|please|pls|you|we|i want you to|(?:you|we) (?:should|must)|und|aber|bitte|auch|y|pero|et|mais|aussi|stp|e|mas|também|por favor)[, ]{1,3}){0,3}'

const LANGUAGE =
  '(?:english|german|spanish|french|portuguese|italian|russian|chinese|japanese|ingl[ée]s|castellano|español|franc[ée]s|alemán|anglais|français|espagnol|allemand|deutsch|englisch|französisch|spanisch|português|русском|английском)'

/** Behind "always" or "never" it orders nothing: "never mind", "never seen this", "always the same", "always fails". */
const NO_ORDER =
  '(?:(?:ever )?(?:mind|too|better|a pleasure|the (?:first|last|same)|some(?:thing|one|body)(?! like)|nice|happy|good|been|seen|heard|thought|had|got|knew|said|[a-z]{2,20}(?<!e|emb|(?<![a-z])sh|shr)ed(?= (?:on|in|for|when|if|with|at|to|as|by|before|after|fine|like|properly|well|it|me|us|so|since|until|the|an?|this|that|and|but)(?![a-z])|[,.!]|$)|(?:fail|work|crashe|return|happen|take|get|break|hang|throw|say|doe|come|goe)s|[a-z]{3,20}(?<![asu])s(?= (?:the|an?|my|your|our|its|null|undefined|nothing|twice|in an?|on (?:the|my|first))(?![a-z]))))'

/** Where the words stand, and the words; LETTER stands for one. */
const CUES: readonly (readonly ['first' | 'anywhere', string])[] = [
  // from now on
  [
    'anywhere',
    "from (?:now|here|this point) on(?:wards?)?|going forward(?=[,.!]|$)|henceforth|(?:de ahora )?en adelante|a partir de ahora|dor[ée]navant|d[ée]sormais|à partir de maintenant|à l[’']avenir|(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an)(?! (?:kommt|geht|läuft|steht|zeigt|fehlt|crasht|hab(?:e|en)?|bin|sind wir)(?!LETTER))|künftig|in zukunft|a partir de agora|daqui (?:em|para|pra) (?:diante|frente)|de agora em diante|впредь|отныне",
  ],
  // always, never
  [
    'first',
    `(?:always|never)(?! ${NO_ORDER}(?![a-z])| again(?:[,.!]|$))|(?:do not|don[’']t) ever|in future|going forward|(?:siempre|nunca)(?! (?:(?:me|te|nos) )?(?:falla|funciona|sale|devuelve|aparece|tarda|pasa|ocurre|llega|queda|ha|he|está|es|fue)(?!LETTER))|immer(?! (?:noch|wieder|mehr|dasselbe|derselbe|dieselbe|d(?:as|er|ie) gleiche|wenn (?:ich|man|er|sie|es))(?!LETTER))|nie(?:mals)?(?! (?:gesehen|gehört|gehabt|wurden?|wird|war|ist|hat|hatten?|geht|ging|funktioniert|klappt|passiert)(?!LETTER))|sempre|(?:ne |n[’'])LETTER{1,20} (?:plus )?jamais|LETTER{2,20} toujours(?! pas)`,
  ],
  ['anywhere', '(?:je (?:ne )?(?:veux|souhaite)|il (?:ne )?faut|tu (?:ne )?dois) .{0,60}(?:jamais|toujours(?! pas))'],
  // as a rule
  [
    'first',
    "in general(?! (?:i|it|this|that|he|she|they|looks?|fine|good|ok)(?![a-z]))|as a (?:general )?rule(?! (?:engine|set|file|id|name|of|that)(?![a-z]))|by convention|(?:grundsätzlich|generell)(?! (?:gut|ok|okay|schön|sieht|geht|ist|finde?|gefällt|passt|läuft|funktioniert)(?!LETTER))|en general(?! (?:está|es|va|bien|me|funciona)(?!LETTER))|por regla general|de manière générale|en règle générale|en général(?! (?:ça|c[’']est|je|il|elle)(?!LETTER))|de (?:modo|forma) geral|em geral",
  ],
  [
    'anywhere',
    '(?:our|the|my|a) (?:new )?(?:convention|rule|policy|guideline)s? (?:is|are)(?! (?:(?:not|never)(?! to )|wrong|missing|broken|[a-z]{2,20}ing)(?![a-z]))|new rule',
  ],
  // remember it
  [
    'first',
    "remember(?:,|:| that)|keep in mind|bear in mind|don[’']t forget that|denk da?ran|merk dir|recuerda que|ten en cuenta que|souviens-toi que|retiens|n[’']oublie pas que|lembre(?:-se)? (?:de )?que",
  ],
  ['anywhere', '(?<=, (?:please |so |and )?)remember (?:that|this)(?=[.! ]*$)'],
  // everywhere
  [
    'anywhere',
    '(?:across|throughout|everywhere in) (?:the |this |our )?(?:whole |entire )?(?:mono)?(?:repo(?:sitory)?|project|code ?base|code|app(?:lication)?)|in this (?:repo|project|code ?base)(?=,| (?:we|always|never|use))|en todo el (?:proyecto|código)|dans tout le (?:projet|code)|im ganzen projekt|em todo o projeto',
  ],
  [
    'anywhere',
    '(?:whole )?(?:app(?:lication)?|code ?base|project|aplicación|proyecto|projet|projeto) (?:must|should|debe|doit|deve) (?:always|siempre|toujours|sempre|have|tener|avoir|ter)',
  ],
  // each time
  [
    'anywhere',
    '(?:(?:every|each) time|whenever) you(?! (?:click|tap|press|refresh|reload|scroll|swipe|hover|drag|zoom|resize|submit|type|restart|visit|log in|sign in)(?![a-z]))|(?:(?:make|be) sure|always) [^.]{1,40} any new LETTER{2,20}|cada vez que (?:hagas|termines|crees|cambies|modifiques)|à chaque fois que (?:je te|tu)|jedes mal,? wenn du|sempre que você',
  ],
  // how we work
  [
    'first',
    "(?:we )?(?:don[’']t|do not|never|only|always|shouldn[’']t|should not)(?: be)? (?:use|using)(?<=we .{1,30})",
  ],
  [
    'first',
    '(?:we|(?:this|the|our) (?:project|team|repo(?:sitory)?)) uses?|prefer(?= LETTER)(?! (?:the )?(?:first|second|third|last|latter|former|other|option|this|that|it|one)(?!LETTER))',
  ],
  [
    'anywhere',
    `(?:message|mensaje|comment|commentaire|kommentar|comentario|commit|answer|reply|respond|respuesta|responde|speak|talk|write|parles?|réponds?|antworte?|sprich|schreib|documentation|docs)LETTER{0,6} [^.]{0,40}?(?:in|en|auf|em|на) ${LANGUAGE}`,
  ],
]

/** In languages without blanks. */
const UNSPACED =
  /从现在(?:开始|起)|从今以后|以后(?:都|请|不要|不|要|用|一律)|今后|总是|永远(?:不|用|要)|必须|一律|绝不|不要再|记住|今後|これから(?:は|も)|常に|必ず|絶対|覚えておいて|用(?:中文|英文)(?:写|回答|回复|注释)|日本語で(?:書|答|返)/

const made = new Map<Flavour, readonly RegExp[]>()
function cuesOf(flavour: Flavour): readonly RegExp[] {
  return keptIn(made, flavour, () => {
    const { before, behind, letter, flags } = flavour
    const start = { first: `^${LEAD}`, anywhere: before }
    return CUES.map(
      ([at, words]) => new RegExp(`${start[at]}(?:${words.replaceAll('LETTER', letter)})${behind}`, flags),
    )
  })
}

const LONGEST = 220
const REPORTS = /^.{0,60}?\b(?:says?|wrote|writes|reads|told me|according to|sagt|schreibt|dit que|dice que|diz que)\b/i
/** It means nothing by itself: what it is about stands in another sentence, or is still to come. */
const POINTS_AWAY =
  /[:：]\s*$|^(?:\S+\s+){1,3}(?:this|that|it|them)(?=\s*(?:$|[.!,]|(?:by|manually|yourself|again|anymore)\b))|^(?:\S+\s+){0,2}do (?:it|this|that|so)\b(?! (?:without|before|after|unless|until|when|if)\b)|^(?:\S+\s+){1,4}(?<!que )(?:esto|eso|isso|isto)(?![\p{L}\p{N}])/iu

export function saysItLasts(sentence: string): boolean {
  if (sentence.length > LONGEST || (isAscii(sentence) && sentence.trim().split(/\s+/).length < 3)) return false
  if (REPORTS.test(sentence) || POINTS_AWAY.test(sentence) || isQuestion(sentence)) return false
  if (isAscii(sentence)) return cuesOf(FLAVOURS.ascii).some((cue) => cue.test(sentence))
  return UNSPACED.test(sentence) || cuesOf(FLAVOURS.any).some((cue) => cue.test(sentence))
}

const RULE = '(?:rules?|conventions?|decisions?|regel|entscheidung|regla|decisión|règle|décision|regra|decisão)'
const ARTICLE = '(?:the|that|our|my|die|la|esa|nuestra|cette|notre|a|essa|nossa)'
const TALK =
  "(?:(?:also|and|but|so|then|ok(?:ay)?|please|actually|well|now|oh|sorry|i|(?:we|you)(?: (?:can|may|could|should))?|let[’']?s|und|auch|bitte|y|et|e)[, ]{1,3}){0,3}"
const ENDS =
  '(?:forget(?: about)?|drop|retire|cancel|lift|scrap|delete|remove|ignore(?=.{1,200} (?:from now on|any ?more|in future))|revoke|withdraw|never ?mind|take back|vergiss|streiche?|lösche?|olvida|quita|borra|oublie|supprime|esquece|esqueça|apaga)'
const ABOUT = '(?:about|that|on|of|for|to|über|dass|zu|sobre|de|que|sur|du|da|do)'
const IS_OVER =
  "(?:no longer (?:applies|holds|counts|binds)|(?:does not|doesn[’']t) (?:apply|hold|count)(?: any ?more)?|is (?:gone|off|over|obsolete|void|no longer (?:valid|needed))|gilt nicht mehr|ya no vale|ne vaut plus|não vale mais)"
const QUOTES = `${ENDS} ${ARTICLE} ${RULE}[:,]? ["“„«]`
const QUOTES_RULE = new RegExp(QUOTES, 'iu')
/**
 * It takes a rule back: the one that it quotes, or the one that it describes, as "forget the rule about Friday deploys", "never
 * mind the Friday rule", "the rule about Fridays no longer applies".
 */
const TAKES_BACK = new RegExp(
  `^${TALK}(?:${QUOTES}([^"“”„«»]{3,200})["“”»].{0,200}|${ENDS} (?:(?:${ARTICLE} ${RULE}|(?:what (?:i|we|you) said|ce que (?:j[’']ai|on a) dit|lo que (?:dije|dijimos)|o que (?:eu )?disse)) ${ABOUT}\\s(.{3,200})|${ARTICLE} (.{3,60}?) ${RULE}(?:[,;(].{0,200}|\\s(?:please|again|now))?)|${ARTICLE} (?:${RULE} ${ABOUT}\\s(.{3,120}?)|(.{3,60}?) ${RULE}) ${IS_OVER}(?:[,;(].{0,200})?)$`,
  'iu',
)
/** Behind it stands why, or nothing of the rule. */
const DESCRIBED =
  /[,;(]| [-–—] | (?:because|since|weil|denn|parce que|porque|pois|please|instead|again|now|from now on|any ?more|in future|stp|s['’]il te|por favor)(?: |$)/iu
/** An exception ends nothing. */
const FOR_ONCE =
  /(?<!\p{L})(?:this (?:time|once)|(?:just|only) once|today|tonight|for (?:now|this)|diesmal|heute|ausnahmsweise|cette fois|aujourd['’]hui|esta vez|hoy|desta vez|hoje)(?!\p{L})/iu

export const isForOnce = (sentence: string): boolean => FOR_ONCE.test(sentence)

/** How a sentence describes the rule that it takes back. */
export function takenBackIn(sentence: string): string | undefined {
  const isMeant = !isQuestion(sentence) && !isForOnce(sentence)
  const [, quoted, ...described] = (isMeant && TAKES_BACK.exec(sentence)) || []
  return quoted ?? described.find(Boolean)?.split(DESCRIBED, 1)[0]
}
export const takesBack = (sentence: string): boolean => takenBackIn(sentence) !== undefined
export const isForLater = (sentence: string): boolean => saysItLasts(sentence) || takesBack(sentence)

const NOT = /\b(?:never|(?:can)?not|nobody|no one|[a-z]{2,6}n[’']t)\b/i
const IF = /^(?:if|unless|when|once|until|before|without|maybe|wenn|falls|sobald|si|se|quand|cuando|quando)\s/i
const THE_ONE_THAT = new RegExp(`${RULE} (?:that|dass|que) `, 'i')

/**
 * What a sentence says for later: its lasting part, and each rule that it takes back. "Add the route, and tasks use
 * time_limit=60 from now on" orders something and lays down a rule.
 */
export function partsOf(sentence: string): string[] {
  if (QUOTES_RULE.test(sentence)) return [sentence]
  for (const { index, 0: mark } of sentence.matchAll(/[,;]? (?:and|but|und|aber|y|et|e) |, /gi)) {
    const [before, part] = [sentence.slice(0, index), sentence.slice(index + mark.length)]
    // "never … and drop the rule" and "we may use tabs and drop the rule" order neither, and "the rule that … and …" describes one
    const isBeside = !NOT.test(before) && (/^[,;]/.test(mark) || saysItLasts(before))
    const isOrder = !IF.test(before) && (/^(?:also|please|forget)\b/i.test(part) || isBeside)
    if ((isOrder && takesBack(part)) || (takesBack(before) && !THE_ONE_THAT.test(before) && saysItLasts(part)))
      return [...partsOf(before), ...partsOf(part)]
    // a part that speaks of what stands before it says nothing alone
    const isOwn = /^[,;] \w/.test(mark) && !/^(?:\S+ ){0,3}(?:it|its|this|that|them|these|those|they)\b/i.test(part)
    if (isOwn && saysItLasts(part) && !saysItLasts(before)) return partsOf(part)
  }
  return [sentence]
}

/** Of fewer words it is an everyday order: "commit and push". */
const LEAST_WORDS = 6
/** In so many sessions the same person has to say it. */
export const SESSIONS = 3
/** What machines print has these. */
const PRINTED = /[/\\:@<>=|…]|\.\.\.|[?？]\W{0,3}$/

export const mayBeRepeated = (sentence: string): boolean =>
  sentence.length <= LONGEST &&
  !PRINTED.test(sentence) &&
  sentence.split(/[\s,;.!-]+/).filter((word) => word !== '').length >= LEAST_WORDS
