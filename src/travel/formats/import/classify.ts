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
  /(?<!\b(?:that|which|who) )\b(?:must|(?<!(?:\bnot|\bnobody|\bnever|n['’]t|\bto) )ha(?:s|ve) to|mandatory|(?:is|are) required|(?:only allowed|allowed only) (?:after|when|if|with|in|for))\b|\brequired$|必[须須]|(?<!被)禁止|不得(?![而已不])|严禁/i
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
  if (/^[\x20-\x7e]{0,5}$/.test(fact) || fact.length > LONGEST_RULE || /\?$/.test(fact) || /^[#|>@]/.test(fact))
    return undefined
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
