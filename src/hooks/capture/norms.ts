/**
 * English sentences by their shape: a rule says of things in general what must be, or what is usual. What counts is who is
 * meant (each of a kind, not one that stands before us), what is said of them, and that nothing points at here and now.
 */

/** It points at what is at hand, or complains of it: no rule whatever its shape. */
const POINTS =
  /\b(?:(?:this|these|those)(?! (?:repo|project|code|team|monorepo|app|service|package|library))|now|still|yet|again|currently|yesterday|today|tomorrow|ago|since|suddenly|already|somehow|somewhere|twice|broken|wrong|missing|empty|null|undefined|failing|gone|stuck|lost|slow|red|green|why|so much|bugs|lol|differently|randomly|until i|too (?:many|much|big|long|late|few|small|large|high|often)|at the moment|in safari|on ci|in prod|on staging)\b|\b(?:is|are|does|do|did|was|were)n['’]?t\s(?:work|show|load|render)|\bbut\s(?:they|it|i|should|must|is|are)\b|,\s(?:where|what|how|is that|is it|right$|(?!add\b)\w+ (?:it|them)\b)/i
/** Of those who use a product, not of those who write it. */
const PRODUCT =
  /\b(?:users?|customers?|people|visitors?|guests?|players?|admins?|orders?|buttons?|dialogs?|modals?|everyone|everybody|items?|cards?|rows?|pages?|clicks?|products?|forms?|tabs?)\b/i
const EACH = /^(?:every|each|all|any|anything|no|our)\s/i
/** It begins with somebody or something that is before us, or with an order or a question. */
const NOT_GENERIC =
  /^(?:always|never|often|usually|the|this|that|these|those|it|its|he|she|they|we|i|you|my|your|there|here|what|why|how|who|when|where|which|if|and|or|but|so|then|only|some|most|both|one|two|three|several|many|more|make|check|fix|add|see|let|ensure|update|run|use(?! of)|keep|move|rename|remove|delete|change|put|show|tell|give|find|look|get|set|write|create|sort|list|please|maybe|perhaps|looks?|seems?|in|on|at|for|after|before|with|from|because|as|all of|each of|not)\s/i
/** Things of a project's code and work. */
const WORK =
  /\b(?:api|test|spec|function|method|class|component|handler|hook|error|exception|message|branch|name|file|migration|endpoint|route|comment|docstring|doc|pr|mr|pull request|type|interface|enum|variable|constant|module|package|import|export|commit|service|controller|repository|model|schema|table|column|quer(?:y|ie)|log|secret|key|token|timestamp|date|id|flag|config|setting|dependenc(?:y|ie)|librar(?:y|ie)|script|job|worker|event|deploy|deployment|release|build|image|container|resource|style|string|amount|price|time|change|bug|feature|ticket|dto|util|helper|factor(?:y|ie)|fixture|mock|snapshot|layer|code|sql)(?:s|es)?\b/i

const MODAL = /^(?:must|should|shall|may|can|needs?|has|have|mustn['’]t|shouldn['’]t|can['’]t|cannot)$/i
const VERB =
  /^(?:is|are|isn['’]t|aren['’]t|gets?|go(?:es)?|lives?|sits?|belongs?|stays?|takes?|comes?|uses?|starts?|ends?|returns?|extends?|implements?|owns?|accepts?|requires?|follows?|inherits?|throws?|declares?|exports?|registers?|carr(?:y|ies)|includes?|contains?|depends?|imports?|happens?|bubbles?|describes?|explains?|doesn['’]t|don['’]t)$/i
/** What stands behind "are": how it is done, or whether it may be. */
const DONE =
  /^(?:(?:always|never|only|not|all|to be)\s)*(?:stored|written|named|called|kept|formatted|versioned|generated|saved|converted|verified|validated|sorted|ordered|prefixed|suffixed|grouped|wrapped|tested|reviewed|signed|pinned|squashed|merged|released|deployed|injected|imported|exported|defined|declared|documented|encrypted|hashed|logged|configured|built|placed|translated|treated|cut|read|checked|tagged|measured|passed|typed|handled)\s(?!(?:to|for)\b|correctly|properly)\w/i
const BARRED =
  /^(?:strictly\s|not\s|strongly\s)?(?:allowed|forbidden|prohibited|banned|discouraged|required|mandatory|obligatory|deprecated|off[ -]limits|a no-go|taboo|frowned upon|encouraged|preferred|permitted|optional)\b/i
const SUCH =
  /^(?:(?:always|never|only|all)\s)*(?:iso\b|integers?|strings?|ulids?|uuids?|pure|immutable|private|read-?only|async|stateless|idempotent|plural|singular|opt-in|in (?:cents|utc|english|lower ?case))/i
const SOMEWHERE =
  /^(?:in|into|to|up to|under|below|next|beside|inside|through|via|behind|on top|with|out of|at|from)\b/i

/** "every job writes to the audit log"; not "every job waits for the same lock". */
const EACH_DOES =
  /^(?:every|each)\s(?:[\w-]+\s){0,2}(?:test|function|method|class|component|handler|hook|migration|endpoint|route|pr|module|package|commit|service|controller|repository|model|table|job|script|release|branch|file|event)\s(?!has\s(?!an?\b|its\b|no\b|exactly\b)|(?:takes|gets|returns)\s(?:\d|one\b|two\b|three\b|ages|forever|long|the same|errors?|about|over)|(?:triggers|logs|waits|fails|crashes|hangs|breaks|shows|stops|dies|blocks|loses|times|runs|seems|looks|is|was|does|ends|goes)\b)[a-z]+s\s(?!the same)\w/i

/** The subject, its verb, and what is said; the verb of a clause that tells which ones are meant ("hooks that need …") is passed over. */
function parted(clause: string): { subject: string; verb: string; said: string } | undefined {
  const words = clause.split(/\s/).filter(Boolean)
  for (let i = 1; i < Math.min(words.length - 1, 10); i++) {
    if (/[,:;]$/.test(words[i - 1]!)) return undefined
    if (/^(?:that|which|who)$/i.test(words[i - 1]!)) continue
    if (!MODAL.test(words[i]!) && !VERB.test(words[i]!)) continue
    return { subject: words.slice(0, i).join(' '), verb: words[i]!.toLowerCase(), said: words.slice(i + 1).join(' ') }
  }
  return undefined
}

/** "timestamps are stored in UTC", "every handler takes a context", "hooks live next to their component". */
function isOfAKind(clause: string): boolean {
  if (EACH_DOES.test(clause)) return true
  const found = parted(clause)
  if (!found) return false
  const { subject, verb, said } = found
  const isEach = EACH.test(`${subject} `)
  if (/^(?:every|each|all|any|no|our)$/i.test(subject) || /^no (?:need|one needs|changes?|idea)\b/i.test(clause))
    return false
  if (NOT_GENERIC.test(`${subject} `) || PRODUCT.test(subject)) return false
  if (/^(?:is|are)$/.test(verb) && BARRED.test(said)) return true
  const [head = ''] = subject.split(/\s(?:of|in|for|from|to|at|with|on|between|that|which|shown|outside)\s/i)
  if (/\s(?:an?|the|this|that|so)\s/i.test(`${head} `)) return false
  const isMany = /(?:[^s]s|data|code|sql)$/i.test(head)
  if (/^(?:doesn|don)['’]t$/.test(verb)) return /^belong in/i.test(said)
  if (/^(?:belongs|happens|lives)$/.test(verb)) return /^(?:in|at|inside|on)\s(?!the same|most|some)/i.test(said)
  if (!isEach && !((isMany || /^an?\s/i.test(subject)) && WORK.test(subject))) return false
  if (MODAL.test(verb)) {
    if (/^(?:has|have|needs?)$/.test(verb))
      return (
        /^(?:to\s(?!be\s\w+ing\b)|an?\s|its\s|their\s|at least\s|no\s|(?:\w+\s)?(?:approvals?|reviews?|tests?|docs|validation|limiting)\b)/i.test(
          said,
        ) &&
        (isEach || verb !== 'have' || said.startsWith('to'))
      )
    return (
      !(verb.startsWith('should') && !WORK.test(subject)) &&
      !/^(?:be \w+ing|have)\b/i.test(said) &&
      !(verb === 'may' && !/^(?:not|never|only)\b/i.test(said)) &&
      !(verb === 'can' && !/^(?:only|never)\b/i.test(said))
    )
  }
  if (/^(?:is|are)$/.test(verb)) return DONE.test(said) || SUCH.test(said)
  if (/^(?:isn|aren)/.test(verb)) return DONE.test(said) || BARRED.test(said)
  if (/^(?:go|live|sit|belong|stay|come|start|end|bubble|happen)/.test(verb)) return SOMEWHERE.test(said)
  return (
    !/^(?:\d|(?:one|two|three)\b|the same|up|out|too|forever|long|ages)/i.test(said) &&
    (isEach || /^(?:describe|explain)/.test(verb) || /^(?:an?|no|their|only)\s/i.test(said))
  )
}

/** Orders and wishes that are meant for every time. */
const STANDING: readonly RegExp[] = [
  // a part of the code and what it may not reach: "the api layer shouldn't import from the ui"
  /^(?:the\s|our\s)?(?:[\w-]+\s){0,3}(?:layer|package|module|core|domain|ui|frontend|backend|library|lib|app|server|client|components?|controllers?|services?|models?|views?|handlers?)\s(?:must|should|may|can|shall)(?:n['’]t|\s?not|\snever|\sonly)\s(?:ever\s)?(?:import|depend|know|call|access|touch|reach|reference|use|talk|contain|be imported)\b/i,
  // a wish of all, not of one thing
  /^i(?:['’]d| would)?\s(?:(?:always|really|generally)\s)?(?:want|like|expect|need|prefer|don['’]t (?:want|like))(?:\sto see|\sto have)?\s(?:any|every|each|all|no|you to (?:always|never))\s/i,
  /^i(?:['’]d| would) rather (?:have|see|use|write|read|keep)\s(?!(?:the|an?|one|it)\b).{3,100}\s(?:than|over|instead of)\s/i,
  // whenever: "run the linter every time you finish something"
  /^(?!(?:i|it|we|the|he|she|they|there|show|display|render|play|send|open|emit|trigger|tell|\w*[^\Ws]s)\b)\w+\s.{3,120}\s(?:every time|each time|whenever)\s(?:you|we|someone|anything|something|an?)\s(?!(?:are|see|save|click|type|log|open|user)\b)/i,
  // "leave the lockfile alone unless I ask"
  /^(?:leave|don['’]t|do not|never|no|keep)\s.{3,150}\s(?:unless (?:i|we) (?:ask|say|tell|told|agree|explicitly)|without (?:asking|my|approval|permission|an? (?:ticket|review|test)))/i,
  /^(?:don['’]t|do not)\s\w+\s(?:anything|something)\s(?:under|in|inside|outside(?: of)?|below)\s(?!(?:the|this|that)\b)[\w.-]+(?:\/|$)|^(?:don['’]t|do not)\s\w+\s.{2,60}(?:\s(?:yourself|on your own|by yourself)\b|,\s(?:i\s|that['’]s my))/i,
  // "instead of throwing, return a Result in this codebase"
  /^(?:instead of|rather than)\s(?:\w+ing\b|\w+s\b)[^,]{0,60},\s(?:we\s)?(?:use|return|write|prefer|throw|pass|add|create|call|put|make)\s(?!(?:the|this|that|it|them)\b)(?!.{0,100}\bhere\b)/i,
  // "max 3 retries for anything that goes over the network"
  /^(?:max(?:imum)?|at most|at least|min(?:imum)?|up to|no more than|not more than)\s(?:\d+|one|two|three|an?)\s.{2,60}\b(?:(?:per|in an?) (?:function|method|file|class|pr|commit|module|service|line|test|component)|(?:for|in) (?:any|every|each|all|anything|everything))\b/i,
  // "for new services: grpc only"
  /^(?:for|in|on)\s(?:(?:all|any|every|each|new|public|internal|shared|our)\s)+[\w -]{2,40}(?::|,)?\s.{2,60}\b(?:only|never|always|no|must|use|prefer|rather than|instead of)\b/i,
  // "if a migration is destructive it needs a second reviewer"
  /^(?:if|when(?:ever)?|once)\s(?:an?|any|some|something|anything|someone)\s(?:\w+\s){0,2}(?:test|function|method|class|component|handler|hook|migration|endpoint|route|pr|module|package|commit|service|query|dependency|script|job|file|branch|change|thing)\s.{3,120}[,\s](?:it|they|you|we)\s(?:needs?|must|always|never|has to|have to|goes|belongs?|requires?)\s/i,
  // "if you touch the billing module, ping Dana first"
  /^(?:if|when(?:ever)?|before|after|once|every time|each time)\syou(?:['’]re)?\s(?:touch|chang|add|edit|modif|creat|writ|delet|remov|renam|mov|introduc|releas|deploy|merg|commit|push|upgrad|bump|need a new|generat|refactor|finish an?|open a)\w*\s[^,]{2,100},\s(?:please\s)?(?:also\s|always\s)?(?!(?:the|it|i|this|that|nothing|everything|we|there|can|could|is|he|show|what)\b)\w+\s.{1,100}(?:\b(?:first|too|as well|before|afterwards|along|beforehand)$|\balways\b|\bin the same\b)/i,
  // "you need to ask before you install packages"
  /^you (?:need to|have to|must|should)\s(?!.{0,100}\bthe\b).{2,60}\s(?:before|after|whenever|every time|when) you\s(?!(?:can|see|could|get)\b)/i,
  // "no magic numbers"; not "no failing tests"
  /^no\s(?!(?:new|visible|other|open|more|further|real|obvious|such|\w+ing)\s)[\w-]+\s(?:[\w-]+\s)?(?:numbers|exports|comments|classes|strings|imports|mocks|casts|dependencies|libraries|abbreviations|variables|loops|ternaries|types|enums|styles|queries|functions|effects|patches|commits|names|values|state|pushes|merges)$/i,
  /^use\s(?!(?:the|an?|this|that|it|these|those|my|your)\b)[^,]{1,80}\s(?:for|in|on)\s(?:all|every|each|any)\s(?!(?:these|those|of|the)\b)/i,
  /^we(?:['’]re| are) an?\s\S+\s(?:shop|team|house)$/i,
  /^(?!(?:the|it|i|we|this|that|he|she|they)\b)[\w-]+(?:\s[\w-]+){0,4}\sonly ever\s(?!fail|break|crash|happen|show|work)/i,
  /^i (?:don['’]t|do not) (?:like|want)\s(?:to (?:see|have)\s)?(?!(?:the|this|that|it|how|when|what|your|to|you|these|those|an?|any more)\b)\w.{2,60}\sin\s(?!(?:the|this|that|it|there|here)\b)/i,
  /^(?:talk to|check with|ask|ping|tell|consult|sync with)\s(?:me|us|[\w-]+|the team|someone)(?:\sfirst)?\sbefore\s(?:you\s)?(?!(?:start|continu|go)\w*\b)\w+\s(?!(?:it|that)\b)(?:an?\s)?(?!the\b(?!\s(?:schema|api|config|database|lockfile|ci|pipeline)\b))\w+/i,
  /^(?:run|lint|format|rebase|squash|typecheck)\s(?!(?:it|that)\b).{0,60}\bbefore\s(?:you\s)?(?:commit|push|merg|deploy|releas|open|say)\w*(?:$|\s(?!(?:it|that)\b))/i,
  /^(?:treat|favou?r|stick (?:to|with))\s(?!(?:the (?!standard)|an?\b|that|it|my|your|them|plan|option|what))[\w-]+/i,
  /^(?:nothing|nobody|no one)\s(?:gets?|goes|is)\s(?:merged|deployed|released|shipped|pushed|published|committed|changed|live|in|into|to)\b.{0,60}\s(?:without|before|unless|until)\s/i,
  /^(?:the|our) team (?:uses|prefers|follows|writes|agreed)\s/i,
  /^we\s(?:always\s|only\s)?(?:validate|stick|treat|wrap|avoid|separate|encrypt|escape|prefix|tag|ship behind|sign|hash)\s(?!(?:this|that|it|them|a lot)\b)/i,
  /^(?:the|our)\s(?:[\w-]+\s){0,2}(?:api|schema|core|package|module|library|domain|cli|protocol|interface)\s(?:must|has to|should)\s(?:stay|remain|never|not)\s/i,
  /^(?!(?:it|that)\b)[\w.@-]+ is our (?:(?:only|main|standard|default)\s)?(?:[\w-]+\s)?(?:orm|database|framework|linter|formatter|bundler|test runner|package manager|library|client|runtime)\b/i,
  // tools by their part: "the orm is drizzle", "our test runner is vitest"
  /^(?:the|our)\s(?:only\s|standard\s|default\s)?(?:orm|database|db|framework|linter|formatter|bundler|test runner|package manager|build tool|ci|router|state library|ui library|http client|task runner|queue|cache|message broker|validator|runtime|css framework|auth provider|cloud)\s(?:is|stays)\s(?!(?:the|an?|in|on|at|not|too|so|really|very|down|up|full|running|stuck|\w+ing|\w+ed)\b)[\w.@/-]+(?:$|,|\s(?:and|not|\())/i,
  /^we(?:['’]ve| have)?\s(?:got rid of|dropped|abandoned|removed|banned|no longer \w+|(?:don['’]t|do not) \w+)\s(?!(?:the|this|that|it|them|have|know|need|want|see|get|think)\b)(?<!\b(?:have|know|need|want|see|get|think|understand|remember|care|mind|seem|expect|even)\s)\w.{2,}/i,
]

/** Whether a clause says what should hold every time. */
export const isNorm = (clause: string): boolean =>
  !POINTS.test(clause) && (isOfAKind(clause) || STANDING.some((shape) => shape.test(clause)))
