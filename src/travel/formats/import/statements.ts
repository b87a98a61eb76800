import { keptIn } from '../../../base/lookup.ts'
import { enterHeading } from '../../../model/markdown.ts'
import {
  type Category, categoryOfHeading, classifyRule, isAsking, isForbidding, isUnclear, plainLine,
} from './classify.ts' // biome-ignore format: a list
import { type Block, blocksOf, CROSS, sentencesOf, TICK } from './markdown.ts'
import { isRule } from './said-as.ts'

/** One rule of a page. What a page says beside its rules stays text. */
export interface Statement {
  readonly fact: string
  readonly category: Category
  readonly context: string
  /** Its first and its last line. */
  readonly line: number
  readonly end: number
  readonly topics: readonly string[]
}

/** A longer text says more than a rule. */
const LONGEST = 400
/** An item longer than this is no rule only because its heading promises some. */
const SHORT_ITEM = 200
/** Headings that say nothing about what the rules below them are about. */
const EMPTY_HEADING =
  /^(?:rules?|guidelines?|conventions?|instructions?|notes?|general|overview|important|misc\w*|claude|agents|claude\.md|agents\.md)$/
/** Headings below which stands how things are, or how something is done once. */
const DESCRIBES =
  /\b(?:overview|architecture|structure|layout|background|introduction|about|summary|what is|how (?:it|this) works|features?|stack|components?|modules?|packages?|services?|endpoints?|routes|data (?:flow|models?)|schema|key (?:files?|concepts?)|files|directories|variables|glossary|references?|resources|links|examples?|commands?|scripts|quick ?start|setup|install\w*|getting started|ports|troubleshooting|changelog|status|roadmap|usage|documentation|adding|creating|how to|anti-?patterns?|pitfalls|why|not (?:yet )?(?:implemented|supported)|planned|limitations|current state|challenges)\b/i
/** Below it a numbered list is done step by step, now and then: no step of it binds alone. */
const PROCEDURE =
  /\b(?:implementation|releas(?:e|es|ing)|deploy(?:ing|ment)?|publishing|hotfix(?:es)?|roll(?:ing)? ?back)\b/i
const MORE_THAN_STEPS = /\b(?:rules?|guidelines?|conventions?|policy|policies|and)\b|[/&,]/i
/** A sentence that means little without the one before it. */
const POINTS_BACK = /\b(?:its?|this|that|these|those|the[my]|ones?|both|either|such|instead|otherwise|therefore)\b/i
/** It is about the sentence before it alone. */
const GOES_ON =
  /^(?:if (?:yes|no|not|so)\b|otherwise\b|(?:use|do|run|apply|keep|repeat) (?:this|it|that|these|those|them)\b)/i
/** It says where to read, or what its own page is for, not what to do. */
const POINTS_ON =
  /\b(?:items?|steps?|points?|checklist)\b[^,;]{0,20} below$|(?:^|: )(?:see|refer to)\b|^this (?:file|document|page|guide) (?:defines|describes|explains|contains|provides|outlines|lists|is (?:a|the|for))\b|\bfollow (?:the|these) following (?:rules|guidelines|instructions)\b|^the key ?words ?["“]|^(?:use|read|apply|follow) (?:this|these|the) (?:rules?|file|document|guide|guidelines|instructions)(?: below)? (?:to|when|for|if)\b/i
/** An order for every time goes with each part of the list that it leads to. */
const ALWAYS = /^always\b/i
/** It has no subject: what leads to it has one, or its heading. */
const SUBJECTLESS = /^(?:must|should|has to|have to|needs? to|may|can(?:not)?)\b/i
/** "Stimulus Controller Guidelines": which of the things that its rules name. */
const KINDS_OF = /^(\S+) (\S+?)s? (?:rules|guidelines|conventions|standards|best practices)$/i
const CONDITION = /^(?:when(?:ever)?|before|after|if|for|in|on|during|while|to|unless|with)\b|\b(?:when|if|unless):$/i
/** `pnpm build - Build the library`: what a command, a file or a name is. */
const ENTRY =
  /^(?:[Bb]ehaviou?r|[Bb]uild (?:tool|system)|[Pp]urpose|[Ff]ramework|[Rr]untime):|^(?:`[^`]+`(?:\s?[,/]\s?|\s(?:and|or)\s)?){1,4}\s*(?:\([^)]*\)\s*)?(?:$|[-–—:→=]|\()/
/** `Unit tests: pnpm test --unit`: a command with its name. */
const COMMAND = /^[^`:]{1,60}:\s+`[\w./-]{1,60} [^`]*`(?:$|\s+[-–—(])/

/** An order where others stand beside it; elsewhere many of these words are as often nouns. */
const ORDERS =
  /^(?:(?:fully|always|first|only|also|clearly|strictly|explicitly) )?(?:account|adhere|ask|add|align|annotate|attach|apply|assess|assume|avoid|balance|batch|be|break|bundle|cache|capture|catch|centrali[sz]e|check|choose|clarify|combine|commit|communicate|compare|complete|conduct|confirm|conform|consider|cover|create|declare|decompose|define|delegate|derive|design|disable|divide|document|embed|enable|encapsulate|encourage|enforce|ensure|escalate|establish|evaluate|exclude|explain|expose|extend|extract|fill|find|flag|focus|follow|gather|group|guard|handle|have|identify|implement|include|initiali[sz]e|integrate|introduce|invoke|investigate|isolate|iterate|justify|keep|leverage|limit|link|list|log|maintain|make|map|mark|measure|minimi[sz]e|mock|monitor|name|note|notify|omit|optimi[sz]e|order|organi[sz]e|pass|perform|pin|place|plan|pre-?allocate|prepare|present|preserve|prevent|prioriti[sz]e|protect|profile|propose|provide|put|raise|re-?export|re-?scan|re-?use|read|redact|reduce|reject|rely|remove|resolve|restrict|report|request|research|respect|return|review|run|sanitize|scan|search|seek|separate|set|show|start|state|stay|store|structure|suggest|support|surface|test|standardi[sz]e|strive|track|treat|try|update|use|validate|verify|wait|wrap|aim|adopt|begin|build|configure|convert|debug|delete|describe|end|escape|expect|export|fix|format|generate|inject|inspect|mention|merge|model(?=\s[\w\s]{1,40}\bas\b)|move|open|parse|point|prefix|push|refactor|rename|replace|restart|save|select|send|simplify|skip|sort|specify|split|squash|stop|throw|transform|turn|understand|utili[sz]e|write|(?:every|each) [\w`-]+ [a-z]+)\s(?!(?:is|are|was|were|has|have|can|will|of)\b)/i
/** Also behind a label or a condition: "Caching: apply …", "Caching - apply …", "When it grows, split …". */
const isOrder = (item: string): boolean => ORDERS.test(item) || ORDERS.test(item.replace(BEFORE_ORDER, ''))
const BEFORE_ORDER =
  /^(?:[\w /&,'-]{1,60}?(?::| [-–—])\s+(?=\S)|(?:when(?:ever)?|before|after|once|if|unless|for)\s[^,]{1,200},\s(?:then\s)?)/i
/** Two words that are no order: "No globals", "Edit discipline". */
const isName = (item: string): boolean =>
  item.split(' ').length < 3 && !isOrder(item) && (/^no\s/i.test(item) || !classifyRule(item))
/** It cannot be a noun with its verb, such as "Test coverage dropped". */
const PLAIN_ORDER =
  /^(?:(?:also|always|please) )?(?:be\s|\w+\s(?:an?|the|this|that|these|each|every|all|any|both|no|only|your|our|its|their|to|in|on|with|for|it|them)\s)/i
/** Below it stands what goes wrong. */
const TROUBLE = /\b(?:pitfalls?|limitations|challenges|anti-?patterns?|issues|problems|troubleshooting|mistakes)\b/i
/** Of such a list no item stands alone. */
const IN_ORDER = /\b(?:order|sequence)(?: \([^()]{1,40}\))?:$/i
/** It tells what something is or does. */
const SAYS_WHAT =
  /^(?:(?:the|this)\s+(?:[\w-]+\s+){1,3})?uses\b|(?<!\b(?:must|should) )\b(?:will|does|is|are|supports?|includes?|provides?|contains?|has):$|\b(?:such as|like|while|e\.g\.|for example|including):$/i

/** The rules of a page, each whole: an item of a list is one statement, with what leads to it. */
export function rulesIn(page: string): Statement[] {
  const found: Statement[] = []
  /** Leads that may be one rule with all of their list. */
  const wholes: { lead: string; at: number; level: number; topics: string[]; from: number }[] = []
  /** Of each list how many of its items are rules, and the others by what would make them one. */
  const lists = new Map<string, { rules: number; left: (() => unknown)[] }>()
  const headings: string[] = []
  let label: string | undefined
  let labelled = -1
  let leads: { level: number; text: string }[] = []
  const blocks = blocksOf(page)
  const keys = listsOf(blocks)
  const negated = new Set(keys.filter((_, i) => NEGATED.test(plainLine(blocks[i]!.text))))
  for (const [i, block] of blocks.entries()) {
    const marked = plainLine(block.text)
    const [signs = ''] = SYMBOLS.exec(marked) ?? []
    const bare = marked.slice(signs.length)
    const level = block.type === 'item' ? block.level : -1
    const next = blocks[i + 1]
    const isAbove = next?.type === 'item' && next.level > level
    const leadsOn = /[:：]$/.test(marked) && isAbove
    const isBold = BOLD.test(block.text)
    const isHeading = block.type === 'text' && isAbove && (isBold || signs !== '')
    const outer = [...headings, label]
    const isCrossed = CROSS.test(signs)
    const mark = isCrossed
      ? ["Don't"]
      : TICK.test(signs) && outer.some((h) => isForbidding(h) || isUnclear(h))
        ? ['Do']
        : []
    const isNaming = block.type === 'heading' || leadsOn || isHeading
    // a sign that is not known may forbid: it stays, unless the words say it all
    const isPlain = isCrossed || NEGATED.test(bare) || classifyRule(bare)?.category === 'constraint'
    const text = isNaming || isPlain ? bare : marked.replace(ADORNS, '')
    const isOwn = isForbidding(text) || isAsking(text) || (isCrossed && (MOMENT.test(text) || outer.some(isForbidding)))
    const isUnsaid = !/\p{L}/u.test(text) || WRONG.test(text)
    const signed = isOwn ? [] : isCrossed && !isUnsaid ? ['❌'] : mark
    const whole = isNaming ? [...signed, text].join(': ').replace(/:\s*:?$/, ':') : text
    if (block.type === 'heading') {
      enterHeading(headings, block.level, whole.replace(/[:：]$/, ''))
      label = undefined
      leads = []
      continue
    }
    leads = leads.filter((l) => l.level < level)
    const isTitle = isAbove && !leadsOn && level >= 0 && isBold && signed.length === 0
    const isLead = CONDITION.test(whole) || isForbidding(whole)
    const isForbidden = !isLead && outer.some(isForbidding)
    if (isTitle && !isForbidden && (isLead || !isRule(whole) || isName(whole))) {
      leads.push({ level, text: isLead ? `${whole}:` : '' })
      continue
    }
    if (!isNaming && isMixed(marked)) continue
    if (level <= labelled || (block.type === 'text' && !leadsOn)) label = undefined
    if ((leadsOn || isHeading) && (isCrossed || isLabel(whole)))
      [label, labelled] = [whole.replace(/[:：]$/, ''), level]
    const under = label === undefined ? headings : [...headings, label]
    const above = aboveOf([...under, ...(isNaming ? [] : mark)], leads.at(-1)?.text ?? '', label)
    // where others of the list forbid by themselves, it may be meant either way: it stays text
    const isEither = negated.has(keys[i]!) && !NEGATED.test(whole) && (isOrder(whole) || STRONG.test(whole))
    if (isEither && above.forbids !== undefined && block.type === 'item') continue
    const isBinding = classifyRule(whole)?.category === 'constraint' && !ALWAYS.test(whole)
    if (above.permits && !NEGATED.test(whole) && !isBinding) continue
    const topics = under
      .slice(1)
      .map((h) => (h ?? '').toLowerCase().replace(/[`*_:❌]|^\d+[.)]/gu, ''))
      .map((h) => h.trim())
      .filter((h) => h !== '' && h.length <= 40 && !EMPTY_HEADING.test(h))
    const lead = leadsOn ? (sentencesOf(whole).at(-1) ?? whole) : ''
    if (leadsOn)
      leads.push({ level, text: isLabel(whole) ? (leads.findLast((l) => ALWAYS.test(l.text))?.text ?? '') : lead })
    const isWish = above.describes ? isStrong(lead) : isRule(lead)
    if (leadsOn && (IN_ORDER.test(lead) || (isWish && !SAYS_WHAT.test(lead))))
      wholes.push({ lead, at: i, level, topics, from: found.length })
    const saysAlways = /\balways\b/i.test(whole) || classifyRule(whole)?.category === 'constraint'
    const isWhole = !leadsOn && WITHOUT_CODE.test(whole) && (block.type === 'item' || saysAlways)
    const own =
      isNaming && isCrossed && !isForbidding(text)
        ? ''
        : whole.slice(0, isWhole ? -1 : whole.length - lead.length).trim()
    if (/^(?:\||@\S+$|$|(?:examples?(?: \d{1,2}| \([^()]*\))?|reasons?|rationale|why): )/i.test(own)) continue
    const isItem = block.type === 'item' && !leadsOn
    const keep = (said: Said | undefined): boolean => {
      const isKept = said !== undefined && !POINTS_ON.test(said.fact)
      if (isKept) found.push({ ...said, line: block.line, end: leadsOn ? block.line - 1 : block.end, topics })
      return isKept
    }
    const kept = (isItem ? [itemRule(block, own, above)] : paragraphRules(own, above)).filter(keep)
    if (!isItem) continue
    const all = keptIn(lists, keys[i]!, () => ({ rules: 0, left: [] }))
    const mayBeRule = above.forbids === undefined && !under.some((h) => h !== undefined && TROUBLE.test(h))
    if (kept.length > 0) all.rules++
    else all.left.push(() => mayBeRule && keep(itemRule(block, own, above, true)))
  }
  const parts = new Set<Statement>()
  const joined: Statement[] = []
  for (const { lead, at, level, topics, from } of wholes) {
    const { line } = blocks[at]!
    let to = at + 1
    while (blocks[to]?.type === 'item' && blocks[to]!.level > level) to++
    const { end } = blocks[to - 1]!
    let next = from
    while (next < found.length && found[next]!.line <= end) next++
    const inside = found.slice(from, next).filter((f) => f.line > line)
    const isApart = IN_ORDER.test(lead) ? inside.some((f) => f.category === 'constraint') : inside.length > 0
    if (to - at > LONGEST || isApart) continue
    const items = blocks.slice(at + 1, to).map((b) => plainLine(b.text))
    const fact = plainLine(`${lead} ${items.join('; ')}`)
    if (fact.length > LONGEST || POINTS_ON.test(fact)) continue
    for (const part of inside) parts.add(part)
    joined.push({ fact, category: classifyRule(lead)?.category ?? 'convention', context: '', line, end, topics })
  }
  for (const { rules, left } of lists.values())
    if (rules > 0 && 2 * rules >= left.length) for (const make of left) make()
  return [...found.filter((f) => !parts.has(f)), ...joined].sort((a, b) => a.line - b.line)
}

const MOMENT = /^(?:before|after|if|unless|until|once|when(?:ever)?(?! \w+ing\b))\b/i
const WRONG = /^(?:bad|wrong|incorrect|worse|falsch|schlecht|плохо|나쁜)\b/i
/** Nobody has to do what stands below it. */
const PERMITS = /\b(?:may|can|allowed|permitted|acceptable|optional|ok(?:ay)?)\b/i
const BOLD = /^[^\p{L}\p{N}*]*\*\*[^*]+\*\*$/u
const SYMBOLS = /^(?:[\p{Extended_Pictographic}\p{So}\p{EMod}\s]|\uFE0F|\u200D){1,8}/u
/** Signs before an item that allow, or mean nothing. */
const ADORNS = /^(?:[✅✓✔☑•▶►▪◆●■★⭐✨💡👉👍📌📍📝🎯🔹🔸🔷🔶🟢🔧🛠🚀📦⚡🔒🔑🧪\s]|\uFE0F|\u200D){1,8}/u
/** An order of its own: a sign before it is a warning, or shows what is done wrong. */
const GUARD =
  /^(?:\s|\*|\uFE0F){0,8}(?:always|you must|must|only|stop|ask|(?:if|when)\b.{1,200}\b(?:do not|don['’]t|never))\b/i
/** Whether its signs allow and forbid, forbid but a part of it, or stand before an order: it is no one rule. */
function isMixed(text: string): boolean {
  const [before = '', after] = text.replace(/`[^`]*`/g, '`').split(CROSS, 2)
  if (after === undefined) return false
  const isPart = /[\p{L}`]/u.test(before) && /^\uFE0F?\s*(?:$|\p{Lu})/u.test(after)
  return TICK.test(text) || (isPart && !NEGATED.test(text)) || (!/[\p{L}`]/u.test(before) && GUARD.test(after))
}

/** An order that leads to code, and is understood without it. */
const WITHOUT_CODE =
  /^(?=(?:\S+ ){3})(?!.{0,400}(?:\b(?:th(?:is|ese)|follow\w*|all (?:two|three|four|five)|both|below|examples?|here|resemble)\b|\b(?:use|run|add|call|import|with|in|on|from|by|for|of|to(?: \w+)?|as|like|include|is|are|ask|present|say|show)[:：]$))[^\n]{1,400}[:：]$/i

/** Of each block the list that it is an item of. */
function listsOf(blocks: readonly Block[]): string[] {
  let n = 0
  return blocks.map((b) => (b.type === 'item' ? `${n} ${b.level}` : `${++n} ${b.type}`))
}

/** A few words that name what follows, as a heading does. */
const isLabel = (whole: string): boolean =>
  whole.split(/\s+|(?<=\p{Lo}{3})(?=\p{Lo})/u).length <= 5 &&
  !CONDITION.test(whole) &&
  !ALWAYS.test(whole) &&
  (!isRule(whole) || isForbidding(whole.replace(/[:：]$/, '')))

type Above = ReturnType<typeof aboveOf>

/** What a sentence is about, where it does not say that itself. */
function subjectOf(fact: string, { lead, headings }: Above): string {
  const has = (word: string) => fact.toLowerCase().includes(word.toLowerCase())
  const which = headings.find((h) => {
    const [, kind, things] = KINDS_OF.exec(h) ?? []
    return kind && things && has(things) && !has(kind)
  })
  const subject = SUBJECTLESS.test(fact) ? lead.slice(0, -1) || headings.at(-1) : which
  return subject ? `${subject}: ` : ''
}

/** What headings and lead say of a statement: the category that they promise, whether it only describes, what forbids it. */
function aboveOf(headings: readonly string[], leadsOn: string, label?: string) {
  const last = headings.findLast((h) => h && !/^(?:always )?do\W*$/i.test(h)) ?? ''
  const isWhen = /^(?:when(?:ever)?|before|after)\s/i.test(last)
  const lead = leadsOn === '' && isWhen ? `${last}:` : leadsOn
  // the title of a page is about all of it: it promises nothing
  const [title = '', ...below] =
    headings.length > 1 && categoryOfHeading(headings[0] ?? '') ? ['', ...headings.slice(1)] : headings
  const near = isWhen ? [] : [title, ...below]
  const deepest = near.findLast((h) => h && (categoryOfHeading(h) ?? DESCRIBES.test(h))) ?? ''
  const category = categoryOfHeading(deepest)
  const describes = category === 'tool' || (category === undefined && deepest !== '' && !isForbidding(deepest))
  // a few words between that promise nothing: what follows may be parts, reasons or consequences
  const isParted = label !== undefined && categoryOfHeading(label) === undefined && !isForbidding(label)
  const nearest = [lead.replace(/[:：]$/, ''), ...headings.toReversed()].filter(Boolean)
  const isTitle = (text: string) => headings.length > 1 && text === headings[0]
  const [said = ''] = nearest.filter((h) => isForbidding(h) || isAsking(h) || (isUnclear(h) && !isTitle(h)))
  const at = nearest.indexOf(said)
  // what an inner heading or label tells of a forbidden thing may be its reasons: it is named too
  const between = nearest.slice(lead === '' ? 0 : Math.min(at, 1), at + 1)
  const forbids = isForbidding(said) ? between.toReversed().join(': ') : undefined
  const permits = isAsking(said) && PERMITS.test(said)
  const unclear = forbids === undefined && !isAsking(said) ? said : ''
  const lists = forbids !== undefined && between.length === 1 && !isParted
  const isProcedure = category === 'workflow' && PROCEDURE.test(deepest) && !MORE_THAN_STEPS.test(deepest)
  const promised = describes || isParted ? undefined : category
  // "Common patterns" may describe the code, as "Style" does not
  const isToFollow = headings.some((h = '') => /\bto follow\b/i.test(h) || categoryOfHeading(h) === 'convention')
  return { promised, describes, forbids, permits, unclear, lists, lead, headings, isProcedure, isToFollow }
}

type Said = Pick<Statement, 'fact' | 'category' | 'context'>

/** The rule that an item of a list states. `whole`: its text without the marks of the page; `isAmongRules`: so are its neighbours. */
function itemRule(block: Block, whole: string, above: Above, isAmongRules = false): Said | undefined {
  const { promised, describes, forbids, unclear, lists, lead, isProcedure, isToFollow } = above
  const isCompleted =
    lead !== '' &&
    !SAYS_WHAT.test(lead) &&
    (isRule(lead) ||
      (CONDITION.test(lead) &&
        (!lead.includes(', ') || /, always:$/i.test(lead) || isRule(lead.slice(lead.lastIndexOf(', ') + 2)))))
  const isClear = unclear === '' || (isCompleted && lead.replace(/[:：]$/, '') === unclear)
  if (!isClear && !NEGATED.test(whole) && !(CROSS.test(unclear) && BINDS.test(whole))) return undefined
  const describing = describes || (lead !== '' && !isCompleted)
  const sentences = sentencesOf(/[.!?]$/.test(block.text) ? `${whole}.` : whole)
  const must = (s: string) => describing || SAYS_WHAT.test(s) || ENTRY.test(whole)
  const rules = sentences.filter(
    (s) => (must(s) ? isStrong(s) : isRule(s)) && !/[?:？：]$/.test(s) && !(ENTRY.test(whole) && SHOULD.test(s)),
  )
  const isStep = block.isOrdered && (promised === undefined || isProcedure) && !isCompleted
  const isCommand = (promised ?? 'convention') === 'convention' && COMMAND.test(whole) && !CONDITION.test(whole)
  if ((isStep || isCommand) && !sentences.some(isStrong)) return undefined
  const [thing = '', ...more] = sentences
  // of two things in one sentence nobody knows the one that is forbidden, but where a sign of its own stands before it
  const isBoth = INSTEAD.test(thing) && !REMEDY.test(thing) && !NEGATED.test(thing)
  if (forbids !== undefined && forbids !== "Don't" && isBoth) return undefined
  // of a bad way and the better one nobody knows which is forbidden
  if (/\banti-?patterns?\b/i.test(forbids ?? '') && BETTER.test(whole) && !NEGATED.test(whole)) return undefined
  const isForbidden =
    forbids !== undefined &&
    !REMEDY.test(thing) &&
    ((DOUBLE.test(whole) && !/\bDon't$/.test(forbids)) ||
      !NEGATED.test(BARE.test(forbids) ? whole.replace(/^no\s/i, 'never ') : whole))
  const told = (fact: string, category: Category = promised ?? 'convention', context = ''): Said => {
    const led = isCompleted && lead.replace(/[:：]$/, '') !== forbids ? `${lead} ` : ''
    const start = isForbidden ? `${forbids}: ${led}` : isCompleted ? `${lead} ` : subjectOf(fact, above)
    const whole = isForbidden || start.length + fact.length <= LONGEST ? start + fact : fact
    return {
      fact: whole,
      category:
        isForbidden || NEGATED.test(fact) || /必[须須]|(?<!被)禁止|不得(?![而已不])|严禁/.test(fact)
          ? 'constraint'
          : category,
      context,
    }
  }
  const [first] = rules
  // of a forbidden thing the rest of its item says why, or what to do instead
  const isThing = first !== undefined || (lists && more.length > 0 && !describes)
  if (isForbidden && isThing && !ENTRY.test(whole) && thing.length <= LONGEST)
    return told(plainLine(thing), 'constraint', more.join(' '))
  if (first !== undefined) {
    const end = sentences.lastIndexOf(rules.at(-1)!) + 1
    const begins = plainLine(sentences.slice(0, end).join(' '))
    const isWhole = begins.length <= LONGEST
    const rest = isWhole ? sentences.slice(end) : sentences.filter((s) => s !== first)
    const category = rules.map((s) => classifyRule(s)?.category).find(Boolean)
    return told(isWhole ? begins : plainLine(first), category, rest.join(' '))
  }
  const isMoment = /^(?:before|after|when(?:ever)?)\b|\b(?:when(?:ever)?|if|unless):$/i.test(lead)
  const isReport = promised !== 'constraint' && (AUTOMATIC.test(whole) || (!isMoment && DOES.test(whole)))
  const isShort = whole.length >= 6 && whole.length <= SHORT_ITEM && (lists || !isReport)
  if (!isShort || (describes && !isAmongRules) || /[?:？：]$|^https?:|^\[[^\]]*\]\([^)]*\)(?:$|\s[-–—])/.test(whole))
    return undefined
  if (ENTRY.test(whole) && !lists && !(isCompleted && ALWAYS.test(lead))) return undefined
  if (lists || isCompleted) return told(whole, classifyRule(lead)?.category)
  const isPromised = promised === 'pattern' ? isToFollow || isOrder(whole) : promised !== undefined
  const isTold = (isPromised && promised !== 'workflow' && lead === '') || (isAmongRules && isOrder(whole))
  return isTold ? told(whole) : undefined
}

/** It forbids by itself; "Never testing" names what is done wrong. */
const NEGATED =
  /^(?:(?:you |we )?(?:(?:do|must|should) not|don['’]t|never)\s(?!\w+ing\b)|avoid\b|.{0,2}[不禁勿]|避免|(?:nunca|jamás|jamais|não|niemals)\s|no \w{2,20}(?:[ae]s|[aei]r)\b|(?:никогда|нельзя|не|запрещ[а-яё]+)\s|.{0,200}(?:(?<=\S)지\s?(?:마(?:라|세요|십시오|시오)?|말(?:아라|\s?것))|금지(?:한다|합니다)?)[.!。]?(?:$|\s[(—-]))/i
/** In the infinitive it names what is not done: "Не писать тесты". */
const DOUBLE = /^(?:no|nunca|jamás|jamais|não|не|никогда не)\s[a-zа-яё]{1,20}(?:[aei]r|ть|ться|ти|чь)(?![a-zа-яё])/i
/** Strong in its own words, whatever sign its heading has. */
const BINDS = /^(?:\S+:\s)?always\b|\bmust\b|^run\b.{1,200}\bbefore\b/i
const BETTER = /\b(?:instead|prefer\w*|favou?r|rather)\b/i
const INSTEAD = /\binstead[.!]?$/i
/** In place of another thing, and nothing before it. */
const REMEDY = /^[^.,;:—–]{1,200}\binstead[.!]?$/i
/** A heading that is nothing but a prohibition. */
const BARE =
  /^(?:do not|don['’]ts?(?: do)?|never(?: do)?|must not|avoid|forbidden|prohibited|not allowed)\W{0,6}(?:$|: )/i

/** It begins with an order, or asks for something at a moment or always. */
const STRONG =
  /^(?:\S+:\s)?(?:always|prefer|favou?r|use|keep|put|make sure|ensure|follow)\b|^(?:[^:：]{1,40}[:：]\s)?(?:всегда|никогда|нельзя|обязательно|항상|절대|반드시)|必[须須]|(?<!被)禁止|不得(?![而已不])|严禁|切勿|^(?:when|before|after|if)\b.{1,200}, always\b|\bmake sure\b|\bbefore (?:you |each |every )?(?:commit|push|merg|submit|finish|complet)/i

/** What is expected in use is no order: "you should see the total". */
const SHOULD =
  /^(?:[\w &/'-]{1,60}: )?(?!.{0,100}\b(?:if|that|wh(?:y|at|en|ere|ether|ich|o)|how)\b.{0,100}\bshould\b)[^.:;—]{1,100}\bshould\s(?!(?:work|see|now|appear|show|return|already|look|find|print|output|you)\b)/i

const AUTOMATIC = /^(?:[^:`]{1,60}: )?(?:[\w-]+ ){1,4}(?<!\bto )(?:automatically|by itself)\b/i
/** A name and what it does: how things are. */
const DOES =
  /^(?:[^:`]{1,60}: )?(?:[Tt]h(?:e|is) (?:`[^`]+`|[\w.-]+)|[Tt]his|[Ii]t|`[^`]+`|[A-Z][a-z]\w{0,40}(?:[A-Z]|\.\w)\w{0,40}) (?:\w+ly )?(?!(?:is|has|was|this|as|always|stays|lives|goes|gets|needs|requires|belongs|uses|follows|depends)\b)[a-z]{2,30}(?<![su])s\s(?!(?:are|use|go|live|must|should|follow|end|start|have|need|stay|belong|get|may|can|do|in|on|at|with|for|over|only|instead|not|before|first)\b)/

/** An order in its own words, wherever it stands. */
function isStrong(sentence: string): boolean {
  const { category, fact = plainLine(sentence) } = classifyRule(sentence) ?? {}
  return category === 'constraint' || STRONG.test(fact) || SHOULD.test(fact)
}

function paragraphRules(whole: string, above: Above): Said[] {
  const { describes, forbids = '' } = above
  const out: { fact: string; category: Category; context: string[] }[] = []
  const before: string[] = []
  const sentences = sentencesOf(whole)
  const ruleOf = (sentence: string) => {
    const rule = /:$/.test(sentence) ? undefined : classifyRule(sentence)
    return rule && (isStrong(sentence) || (!describes && !SAYS_WHAT.test(rule.fact))) ? rule : undefined
  }
  const isAmongRules = !describes && sentences.some(ruleOf)
  const forbidsItself = sentences.some((s) => isForbidding(s) || NEGATED.test(s))
  for (const sentence of sentences) {
    const order = isAmongRules && isOrder(sentence) && PLAIN_ORDER.test(sentence) && !/:$/.test(sentence)
    const rule =
      ruleOf(sentence) ?? (order ? { fact: plainLine(sentence), category: 'convention' as const } : undefined)
    const prior = before.length === 0 && GOES_ON.test(sentence) ? out.at(-1) : undefined
    if (prior && prior.fact.length + sentence.length < LONGEST)
      prior.fact = `${prior.fact.replace(/(?<=[\w)`'])$/, '.')} ${plainLine(sentence)}`
    else if (rule) {
      const last = POINTS_BACK.test(rule.fact) ? before.at(-1) : undefined
      const both = last === undefined ? rule.fact : plainLine(`${last} ${sentence}`)
      const isBoth = last !== undefined && both.length <= LONGEST
      const isOwn = REMEDY.test(sentence) || forbidsItself
      const start = BARE.test(forbids) && !isOwn ? `${forbids}: ` : isBoth ? '' : subjectOf(rule.fact, above)
      const context = before.splice(0).slice(0, isBoth ? -1 : undefined)
      out.push({ ...rule, fact: start + (isBoth ? both : rule.fact), context })
    } else if (out.length > 0) out.at(-1)!.context.push(sentence.trim())
    else before.push(sentence.trim().replace(/^> ?/, ''))
  }
  return out.map((rule) => ({ ...rule, context: rule.context.join(' ') }))
}
