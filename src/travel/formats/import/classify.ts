import { CROSS } from './markdown.ts'

export type Category = 'workflow' | 'convention' | 'constraint' | 'tool' | 'pattern'

export interface Rule {
  category: Category
  /** The rule as it stands, without the marks of the page around it. */
  fact: string
}

/** A longer line tells a story: a rule in the middle of it is not what it is about. */
const LONGEST_RULE = 400

const NEGATIVE =
  /\b(?:never|must\s?n[o']t|must not|do not|don['’]t|cannot|can['’]t|may not|should not|shouldn['’]t|not allowed|forbidden|avoid)\b/i
const PATTERN =
  /\b(?:the|our|this|a|an)\s+(?:[\w-]+\s+){0,3}pattern\s+(?:is|here is|for)\b|^pattern:|\b(?:use|follow|apply)s?\s+(?:the|a|an|our)\s+(?:[\w`'/-]+\s+){0,3}(?:pattern|architecture)\b/i
const ALWAYS = /(?<!\b(?:is|are|was|were|has|have)\s|(?<!\blet)['’]s\s)\balways\b(?! [a-z]{2,30}(?<![su])s\b)/i
/** What is done at a certain moment of the work, or with it: a step, not a way of writing. */
const MOMENT = /\b(?:before|after|when(?:ever)?|once|every time|until|then|first|prior to)\b/i
const STEP =
  /\b(?:run|re-?run|commit|push|pull|rebase|merge|deploy|release|review|test|verify|ask|open|branch|tag|bump|update|check|build|install|format|lint|document|record|start|finish|stop|search|read|report|notify|confirm|regenerate)\b/i
const MUST =
  /(?<!\b(?:that|which|who) )\b(?:must|(?<!(?:\bnot|\bnobody|\bnever|n['’]t|\bto) )ha(?:s|ve) to|mandatory|(?:is|are) required|(?:only allowed|allowed only) (?:after|when|if|with|in|for))\b|\brequired$/i
const PREFER = /\b(?:prefer|favou?r)\b|\bstick (?:to|with)\b|\bname (?:files|tests|branches|variables|functions)\b/i
const USE =
  /^(?:please\s+)?(?:(?:we|you|agents?|everyone|this project|the project|the repo(?:sitory)?|our team)\s+(?:(?:should|shall|will)\s+)?(?:only\s+)?uses?|(?:(?:should|shall|will)\s+)?(?:only\s+)?use)\s+(\S.*)$/i
/** Orders without one of the words above; what else begins with a verb is as often a step of some explanation. */
const ORDER = /^(?:please\s+)?(?:keep|make sure|ensure|follow|limit|default to)\b/i
const WHEN = /^(?:when(?:ever)?|before|after|once|every time|if)\b.{1,400}?(?:,|\bthen\b)\s*(\S.*)$/i

/** Words that follow "use" and are ways of writing, not things to install. */
const WRITING =
  /^(?:tabs?|spaces?|semicolons?|(?:single|double) quotes?|\w*[-_ ]?case\b|camelCase|PascalCase|snake_case|kebab-case|async|await|const|let|types?|interfaces?|functions?|hooks?|components?|enums?|classes|imports?|exports?|comments?|descriptive|meaningful|short|explicit|named|default|functional|strict|early|early returns?|imperative|present tense)\b/i

/** The object of "use": one name, or quoted as one, before what it is for. */
function isTool(object: string): boolean {
  if (WRITING.test(object)) return false
  const [, name] =
    /^(?:the\s+)?(`[^`]+`|[A-Za-z@][\w@/.+#-]{0,99}(?:\s+(?:v?\d[\w.]{0,19}|CLI|[A-Z][\w.+#-]{0,99})){0,9})(?=\s+(?:for|from|to|as|instead|rather|in|when|with|and|on|via|over|not|everywhere)\b|[\s.,;:!(]{0,9}$|\s*[,;:(—–-])/.exec(
      object,
    ) ?? []
  if (name === undefined) return false
  const word = name.replaceAll('`', '')
  // a plain English plural is a thing of the language: "use fragments", "use transactions"; a name may end in s too
  return (
    !/^(?:[a-z]+|[A-Z]{2,})s$/.test(word) ||
    name.startsWith('`') ||
    /\b(?:kubernetes|postgres|redis|rails|jenkins|aws|nats|sass|gulp|eslint|oxlint)\b/.test(word)
  )
}

/** The line as a sentence: no list mark, checkbox, emphasis or closing stop. `__init__`, `src/**` and `*.ts` are no emphasis. */
export const plainLine = (line: string): string =>
  line
    .trim()
    .replace(/^(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s+)?/, '')
    .replace(/(`[^`]*`)|(?<!\w)__((?:(?!__)\S)+\s(?:(?!__).)*|[A-Z][A-Za-z]*)(?<=\S)__(?!\w)/g, '$1$2')
    .replace(/^\*\*(?![\s/])((?:(?!\*\*).)+)\*\*(?![\w/])/, '$1')
    .replace(/(`[^`]*`)|(?<![\w/])\*\*(?![\s/])((?:(?!\*\*).)+)(?<![\s/])\*\*(?![\w/])/g, '$1$2')
    .replace(/(`[^`]*`)|(?<![\w*/])\*(?!\s)([^*]+)(?<!\s)\*(?![\w*/]|\.\w)/g, '$1$2')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<=[^.])\.$/, '')

/** "Testing: always run …", "From now on never …", but "Never commit: …". */
const LABEL = /^(?!(?:never|do not|avoid)\b)(?:[a-z][\w /&-]{0,30}:|(?:from (?:now|here) on|going forward),?)\s+(?=\S)/i

/**
 * The rule that a line states, with its category: rule G7. Nothing for prose, questions and headings.
 * Words decide, nothing else: a classifier that can be read is one that can be corrected.
 */
export function classifyRule(line: string): Rule | undefined {
  const fact = plainLine(line)
  if (fact.length < 6 || fact.length > LONGEST_RULE || /\?$/.test(fact) || /^[#|>@]/.test(fact)) return undefined
  const bare = fact.replace(LABEL, '')
  const rule = (category: Category): Rule => ({ category, fact })
  const when = WHEN.exec(bare)?.[1]
  if (PATTERN.test(fact) && !NEGATIVE.test(bare)) return rule('pattern')
  if (ALWAYS.test(bare)) {
    const [next = ''] = bare.split(ALWAYS, 2)[1]!.trim().split(' ', 1)
    return rule(MOMENT.test(bare) || STEP.test(next) ? 'workflow' : 'constraint')
  }
  if (NEGATIVE.test(bare) && isOrder(bare)) return rule('constraint')
  if (PREFER.test(bare)) return rule('convention')
  const used = USE.exec(when ?? bare)?.[1]
  if (used !== undefined) return rule(isTool(used) ? 'tool' : 'convention')
  if (MUST.test(bare)) return rule('constraint')
  const step = STEP.test((when ?? bare).replace(/^please\s+/i, '').split(' ')[0] ?? '')
  if (step && (when !== undefined || MOMENT.test(bare))) return rule('workflow')
  if (ORDER.test(when ?? bare)) return rule(MOMENT.test(bare) ? 'workflow' : 'convention')
  return undefined
}

/** Whether a negative is an order and no report: "never use …", "tests must not …", but not "it never worked". */
const isOrder = (sentence: string): boolean => NEGATIVE_ORDERS.some((pattern) => pattern.test(sentence))
const NEGATIVE_ORDERS = [
  /\b(?:must\s?n[o']t|must not|may not|should not|shouldn['’]t|not allowed|forbidden)\b/i,
  /\b(?:is|are)\s+never\s+\w+(?:ed|en|t)\b/i,
  /(?:^|\b(?:you|agents?)\s+)(?:cannot|can['’]t)\b/i,
  /(?:^|[,;:.—–(-]\s*|\b(?:and|but|so|please|you|we|agents?|then)\s+)(?:never|do not|don['’]t|avoid)\b/i,
]

const FORBIDS = [
  /^(?:(?:things|what|how|you|we|agents?|these|it|is|are|that|to|must) ){0,4}(?:(?:strictly |absolutely )?(?:never|do not|don['’]ts?|must not|avoid|forbidden|banned|prohibited|disallowed|unacceptable|not (?:to|allowed|permitted|acceptable|ok(?:ay)?))|anti-?patterns?|no-?gos?|under no circumstances)\b/i,
  /^(?:(?:things|what|you|we|agents?|that) ){1,3}(?:cannot|can['’]t|can not|may not|may never|should not|shouldn['’]t|must never)\b|^(?:cannot|can['’]t|may not|may never)(?: do)?$/i,
  /\b(?:to avoid|forbidden|prohibited|disallowed|unacceptable|(?:not|never|no longer|(?:is|are)n['’]t) (?:allowed|permitted|acceptable|ok(?:ay)?)(?: to)?|a eviter|(?:zu |bitte )?vermeiden|da evitare)$/i,
  /^(?:(?:está|estrictamente|qué|lo que|o que|à|a) )?(?:no hacer|nunca|jamás|não|jamais|niemals|verboten|nicht (?:erlaubt|gestattet|zulässig)|prohibid[oa]s?|proibid[oa]s?|evit(?:ar|e|a|er|ez)|interdit(?:es?|s)?|ne pas(?: faire)?)(?![\p{L}])/iu,
  /^(?:禁止|严禁|不要|请勿|切勿|避免|不允许|不应|不得|不可以|不准)|禁止(?:事项|事項)?$|(?:てはいけない|やらない)(?:こと|事項)?$/,
  /^(?:(?:\S{1,20}\s)?запре[тщ]|(?:(?:чего|что|это|так делать)\s)?(?:нельзя|никогда|не\s(?!только)))/i,
  /금지(?:\s?(?:사항|목록|행위))?$|(?<=\S)지\s?(?:마(?:라|세요|십시오|시오)?|말(?:아라|아야(?: 할| 하는)?(?: 것| 일)?|\s?것))$/,
]
/** It has a word of those, though it may forbid nothing. */
const MAY_FORBID =
  /^(?:bad|wrong|incorrect|deprecated)\b|\b(?:never|nor?|not|cannot|hardly|rarely|avoid\w*|forbid\w*|banned|prohibit\w*|disallow\w*|unacceptable|no longer|none|nothing|nunca|prohib\w+|proib\w+|evit(?:ar|e|er|ez)|interdi\w+|ne|nicht|kein\w*|verboten|niemals)\b(?! (?:optional|negotiable))|n['’]ts?\b|\b(?:do ?n[o']?ts|dont|discourag\w*|refrain\w*|stay away|steer clear|off.limits|out of bounds|red flags?|stop doing|mistakes?|pitfalls?|anti.?patterns?|vermeid\w*|nie|untersagt|unerwunscht|unzulassig|tabu|vietat\w+|evitare|non fare|mai|divieti|verboden|vermijd\w*|nigdy|zakaz\w*|unikaj|yasak\w*|kacin\w*|undvik|forbjud\w*|eviter|evitez)\b|избега|недопустимо|заборон|避|アンチパターン|非推奨|지양|피해|안티패턴|反模式|红线|別|别|^ng|jamás|jamais|não|不(?![同断仅只管论])|禁|勿|запре[тщ]|нельзя|никогда|(?<![а-яё])не\s|금지|ない/i

/** Whether a heading, or what leads to a list, forbids what stands below it: "Never", "Don'ts", "What not to test". */
export function isForbidding(heading = ''): boolean {
  const words = heading.replace(/^[^\p{L}\p{N}]{1,6}/u, '').replace(/[^\p{L}\p{N}]{1,6}$/u, '')
  return FORBIDS.some((pattern) => pattern.test(words) || pattern.test(withoutAccents(words)))
}
const withoutAccents = (words: string): string =>
  words
    .normalize('NFD')
    .replace(/[\u0300-\u036F]/g, '')
    .normalize('NFC')

/** Whether it may forbid what stands below it, in words or with a sign, and nobody can tell. */
export const isUnclear = (heading = ''): boolean =>
  MAY_FORBID.test(heading) || MAY_FORBID.test(withoutAccents(heading)) || CROSS.test(heading)

/** Whether it asks for what stands below it, also where a heading above it forbids: "Do", "Instead", "Better". */
export const isAsking = (heading: string): boolean =>
  /^\W{0,6}(?:(?:always |what to )?do(?:['’]?s)?(?: this)?(?: instead)?|always(?: \w+)?|must(?: do)?|(?:use )?instead|prefer(?:red)?|good|better|correct|right|recommended|solutions?|alternatives?|why|reasons?|rationale|do: .{1,200}|(?:you|agents?|we) (?:may|can)(?: also)?|(?:(?!only|no|never|hardly|rarely|before|after|when|if|until)\w{1,20} ){0,8}(?:allowed|permitted|acceptable|optional|ok(?:ay)?))\W{0,6}$/i.test(
    heading,
  )

const PROMISES: readonly [Category, RegExp][] = [
  ['constraint', /\b(?:constraints?|do not|don['’]ts?|never|forbidden|boundaries|hard rules|non-negotiables?|restrictions?|invariants?|mandatory|must(?: not)?|schranken)\b|约束|禁止|必须|必須|\b(?:no hacer|nunca|niemals|verboten|prohibid\w+)\b|запре[тщ]|нельзя|никогда|금지/],
  ['convention', /\bconventions?\b/],
  ['tool', /\b(?:commands?|tools?|tooling|tech stack|stack|scripts)\b/],
  ['workflow', /\b(?:workflows?|process|before (?:you )?commit\w*|git|pull requests?|releas\w+)\b/],
  ['convention', /\b(?:style|standards?|naming|formatting|guidelines?|principles|rules|(?:pr|pull request|review) checklist|best practices|regeln|richtlinien|konventionen|arbeitsweise|vorgaben|grundsatze|reglas|convenciones|normas|pautas|buenas practicas|regles|consignes|bonnes pratiques|regras|convencoes|diretrizes|boas praticas|pontos de atencao)\b|规范|规则|原则|约定|規約|方針|ルール|규칙|지침|원칙|правил|требовани|соглашени/],
  ['pattern', /(?<!anti-)\bpatterns?\b/],
] // biome-ignore format: a table

/** The category that a heading promises for the short items below it: "## Conventions", "## Commands". */
export function categoryOfHeading(heading: string): Category | undefined {
  const h = heading
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize() // also without its accents
  return PROMISES.find(([, words]) => words.test(h))?.[0]
}
