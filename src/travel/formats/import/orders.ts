import { classifyRule, plainLine } from './classify.ts'

/**
 * How strongly a sentence asks for something: 0 not at all; 1 by its shape ("tabs, not spaces"); 2 by the verb at its
 * beginning; 3 by words that ask, in one of the languages known here; 4 it binds, wherever it stands.
 */
export type Force = 0 | 1 | 2 | 3 | 4

/** How things are, though it has a word of a rule in it. */
const DESCRIBES =
  /^(?:this (?:file|document|page|guide) (?:is|provides|describes|contains|defines|outlines|explains)|use cases?)\b|\balways [a-z]{2,30}(?<![su])s\b|^(?:we|they|i) (?:do not|don['’]t|can['’]t|cannot) (?:have|know|need|see|understand|own|offer)\b|\b(?:customers?|users?|people|they) (?:prefer|always)\b/i

/** "In tests, mock the clock": what stands before the order. */
const WHERE = /^(?:when(?:ever)?|before|after|once|every time|if|in|on|for) [^,]{1,200}, (?:please )?/i

/** What is as often a noun, such as "cache", has to have a thing behind it: "Cache the sum". */
const VERB = /^(?:(?:also|always|first|only|then|fully|clearly|strictly|explicitly) )?(?:support|structure|state|add|adhere|be|mention|show|complete|adopt|aim|align|annotate|apply|ask|assess|assume|attach|avoid|begin|break|build|bump|call|catch|centralize|change|check|choose|clarify|clear|close|combine|commit|communicate|compare|conduct|configure|confirm|conform|consider|convert|copy|create|debug|declare|decompose|define|delegate|delete|deploy|derive|describe|detect|disable|divide|do|document|drop|edit|embed|enable|encapsulate|encourage|enforce|ensure|escalate|escape|establish|evaluate|exclude|explain|export|expose|express|extend|extract|fill|find|fix|flag|focus|fold|follow|format|gather|generate|give|group|handle|identify|ignore|implement|import|include|indent|initialize|inject|inspect|install|integrate|introduce|investigate|invoke|isolate|iterate|justify|keep|leave|leverage|link|lint|log|maintain|make|mark|match|merge|minimize|mock|monitor|move|name|notify|omit|open|optimize|organize|parse|pass|perform|pin|place|prefix|prepare|preserve|prevent|prioritize|propose|protect|provide|pull|push|put|raise|read|rebase|redact|reduce|refactor|refer|register|reject|release|rely|remove|rename|replace|require|resolve|respect|restart|restrict|return|reuse|review|round|run|sanitize|save|scan|seek|select|send|separate|set|simplify|skip|sort|speak|specify|spell|split|squash|standardize|start|stay|stick|stop|store|strive|suggest|summarize|sync|tag|talk|tell|test|throw|track|transform|treat|try|turn|understand|update|use|validate|verify|wait|wrap|write) \S/i // biome-ignore format: one pattern
const THING = /^(?:(?:also|always|first|only|please|then) )?(?!(?:\w+(?:s|ed|ing)|in|on|at|for|from|with|by|to|of|as|if|when|and|or|not|but|all|what|that|into|over|under|about|after|before|like|than|then|via|per|both|only|was|it|there|here|why|how|where|which|who|while|see)\s)[a-z-]{2,30} (?:an?|the|this|that|these|each|every|all|any|no|one|two|only|your|our|its|their)\s/i // biome-ignore format: one pattern
/** A noun may look like an order: "Log files are in var". */
const FINITE =
  /\b(?:is|are|was|were|has|have|had|does|did|takes?|took|needs?|goes|went|comes?|came|runs|ran|lives?|happens?|happened|fails|failed|gets|got|works?|worked|costs?|contains?|means|stands?|lies|sits|depends?|starts?|ends|lasts?|will|can|cannot|could|may|begins?|shows?|holds|returns|stays|breaks|broke|belongs?|uses|used)\b/i
const CLAUSE_ENDS =
  /[,;:(]| (?:that|if|how|why|whether|when|where|which|who|what|before|after|because|until|unless|so|while|and) /i

/** With no verb at all: "tabs, not spaces", "no default exports", "commit messages in English". */
const BARE_ORDER =
  /^(?:no|only|zero) \S|, (?:not|no) |(?<![\w-])only\b|\b(?:instead of|rather than)\b|^(?:commit messages?|commits|branch(?: name|e)s|pull requests?|prs?|comments|identifiers|file names|test names|code and comments|tabs|spaces|\d spaces|semicolons|\w+[- ]case|commit-nachrichten|messages de commit|mensajes de commit|mensagens de commit) (?:auf|en|em|in|with|without|as|for|over|on|under|below)\b/i

const WORDS = [
  /^(?:from (?:now|here) on|going forward|ab (?:jetzt|sofort)|künftig|à partir de maintenant|désormais|de ahora en adelante|a partir de (?:ahora|agora)|daqui em diante|从现在(?:起|开始)|今后|今後)/i,
  /\b(?:shall|ought to)\b(?! (?:have|take|we|i)\b)|\byou (?:need|have) to\b|\b(?:prohibited|banned|off[- ]limits)\b|^only .{1,80} may\b|^we (?:write|name|follow|avoid|commit|squash|rebase|lint|format|indent|tag|bump|prefix|stick|review)\b/i,
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

/** It begins with an order, or asks for something at a moment or always. */
const STRONG =
  /^(?:\S+:\s)?(?:always|prefer|favou?r|use|keep|put|make sure|ensure|follow)\b|^(?:[^:：]{1,40}[:：]\s)?(?:всегда|никогда|нельзя|обязательно|항상|절대|반드시)|切勿|^(?:when|before|after|if)\b.{1,200}, always\b|\bmake sure\b|\bbefore (?:you |each |every )?(?:commit|push|merg|submit|finish|complet)/i

/** What is expected in use is no order: "you should see the total". */
const SHOULD =
  /^(?:[\w &/'-]{1,60}: )?(?!.{0,100}\b(?:if|that|wh(?:y|at|en|ere|ether|ich|o)|how)\b.{0,100}\bshould\b)[^.:;—]{1,100}\bshould\s(?!(?:work|see|now|appear|show|already|look|find|print|output|have|take|you)\b)/i

/** It forbids by itself; "Never testing" names what is done wrong. */
const NEGATED =
  /^(?:(?:you |we )?(?:(?:do|must|should) not|don['’]t|(?:must |should )?never)\s(?!\w+ing\b)|avoid\b|no\s|(?:pas|jamais) d['’e]|aucune?\s|keine?n?\s|n(?:e |['’])\S{1,30} (?:jamais|pas)\b|.{0,2}[不禁勿]|避免|(?:nunca|jamás|jamais|não|niemals)\s|(?:никогда|нельзя|не|запрещ[а-яё]+)\s|.{0,200}(?:(?<=\S)지\s?(?:마(?:라|세요|십시오|시오)?|말(?:아라|\s?것))|금지(?:한다|합니다)?)[.!。]?(?:$|\s[(—-]))/i
/** In the infinitive it names what is not done: "Не писать тесты". */
const DOUBLE = /^(?:no|nunca|jamás|jamais|não|не|никогда не)\s[a-zа-яё]{1,20}(?:[aei]r|ть|ться|ти|чь)(?![a-zа-яё])/i

export function forceOf(sentence: string): Force {
  if (DESCRIBES.test(sentence)) return 0
  const rule = classifyRule(sentence)
  if (rule?.category === 'constraint' || STRONG.test(plainLine(sentence)) || SHOULD.test(sentence)) return 4
  if (rule || WORDS.some((words) => words.test(sentence))) return 3
  const order = sentence.replace(WHERE, '')
  const [said = ''] = order.slice(order.indexOf(' ')).split(CLAUSE_ENDS, 1)
  if (THING.test(order) || (VERB.test(order) && !FINITE.test(said))) return 2
  return BARE_ORDER.test(sentence) && !FINITE.test(sentence) ? 1 : 0
}

/** Whether a sentence tells somebody to do or not to do something from now on. */
export const isRule = (sentence: string): boolean => forceOf(sentence) > 0

/** Whether it forbids by itself. `isBanned`: what stands above it forbids, and of two negations nobody knows what is meant. */
export const negates = (text: string, isBanned = false): boolean =>
  NEGATED.test(text) && !(isBanned && DOUBLE.test(text))
