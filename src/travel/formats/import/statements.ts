/**
 * The rules of a page. It is a tree: headings, paragraphs and lists, each line that leads to a list above it. Every
 * statement has a few features, its own and those of what stands above it; `decide` says by them alone whether it is a
 * rule. What is none stays text of the page.
 */

import { type Category, classifyRule, plainLine } from './classify.ts'
import { type Meaning, meaningOf } from './headings.ts'
import { type Block, blocksOf, CROSS, sentencesOf, TICK } from './markdown.ts'
import { type Force, forceOf, isRule, negates } from './orders.ts'

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

interface Node extends Block {
  /** The level of a heading; a paragraph stands below all of them, an item below its paragraph, by its indentation. */
  readonly depth: number
  readonly parts: Node[]
}

/** Something that stands above others: a heading, or a line that leads to them. */
interface Above extends Meaning {
  readonly text: string
  readonly depth: number
  /** What is below a name is of that name, of an item's also a part; an order or a condition is told with it; prose is explained by it. */
  readonly kind: 'name' | 'part' | 'order' | 'condition' | 'prose'
}

const isLead = ({ kind }: Pick<Above, 'kind'>): boolean => kind !== 'name' && kind !== 'part'

/** What stands above a statement, taken together. */
interface Context extends Meaning {
  /** What forbids it, with all that stands below that, and whether that is nothing. */
  readonly ban: string
  readonly isNear: boolean
  /** The line that leads to it, perhaps with names between. */
  readonly lead: Above | undefined
  readonly last: Above | undefined
}

/** What is known of a statement when it is decided upon. */
interface Features {
  readonly force: Force
  readonly isItem: boolean
  /** Neither a word alone nor a story: it may be a rule because its heading promises some. */
  readonly isShort: boolean
  /** Its shape: a step of a numbered list, a name or a command with what it is, or nothing that could be done. */
  readonly shape: 'plain' | 'step' | 'entry' | 'remark'
  /** It forbids by itself, or binds whatever stands above it. */
  readonly negates: boolean
  readonly binds: boolean
  /** It says what to do in place of something. */
  readonly isRemedy: boolean
  /** Whether others beside it forbid by themselves, and a third of them binds. */
  readonly beside: Beside
  readonly above: Context
}

type Beside = Readonly<{ negates: boolean; binds: boolean }>

/** A ban is a rule that is told with what forbids it. */
type Verdict = 'rule' | 'ban' | 'text'

/** The first case that holds decides. */
function decide(f: Features): Verdict {
  const { bearing, isNear } = f.above
  const isBelowBan = bearing === 'forbids'
  if (f.shape === 'remark') return 'text' // nothing that could be done
  if (f.negates && f.force > (isBelowBan ? 0 : 2)) return 'rule' // it forbids by itself
  if (bearing === 'allows') return 'text' // nobody has to do it
  if (bearing === 'both') return f.binds ? 'rule' : 'text' // it says itself which it is
  if (bearing === 'unclear') return 'text' // it may be forbidden
  if (!isBelowBan) return f.force >= forceNeeded(f) ? 'rule' : 'text' // it asks as strongly as it has to here
  if (f.negates || f.isRemedy || (f.beside.negates && f.force > 0)) return 'text' // nobody knows what is forbidden
  return f.shape !== 'entry' && f.force >= (isNear ? 0 : 3) ? 'ban' : 'text'
}

/** How strongly a statement has to ask where it stands. */
function forceNeeded({ shape, isItem, isShort, beside, above }: Features): number {
  const { lead, last, promise } = above
  const isStep = shape === 'step'
  if (shape === 'entry') return 4
  const isLed = isItem && isShort && lead === last
  if (isLed && lead?.kind === 'order') return 0
  if (promise === 'description' || lead?.kind === 'prose') return beside.binds && !isStep ? 2 : 4
  if (isLed && lead?.kind === 'condition') return 0
  if (isStep && promise === undefined) return 4
  const isPromised = promise === 'convention' || promise === 'constraint'
  if (isItem && isShort && isPromised && !lead && last?.kind !== 'part') return 0
  if (isItem) return 1
  return beside.binds ? 2 : 3
}

/** `pnpm build - Build the library`, `Unit tests: pnpm test`: what a command, a file or a name is. */
const ENTRY =
  /^(?:[Bb]ehaviou?r|[Bb]uild (?:tool|system)|[Pp]urpose|[Ff]ramework|[Rr]untime):|^(?:`[^`]+`(?:\s?[,/]\s?|\s(?:and|or)\s)?){1,4}\s*(?:\([^)]*\)\s*)?(?:$|[-–—:→=]|\()|^[^`:]{1,60}:\s+`[\w./-]{1,60} [^`]*`(?:$|\s+[-–—(])/
/** A question, a link, a row of a table, an example or a reason; where to read; what its own page is for. */
const REMARK =
  /[?:？：]$|^.{0,4}$|^(?:\||@\S+$|https?:|\[[^\]]*\]\([^)]*\)(?:$|\s[-–—])|(?:examples?(?: \d{1,2}| \([^()]*\))?|reasons?|rationale|why): )|\b(?:items?|steps?|points?|checklist)\b[^,;]{0,20} below$|(?:^|: )(?:see|refer to)\b|^this (?:file|document|page|guide) (?:defines|describes|explains|contains|provides|outlines|lists|is (?:a|the|for))\b|\bfollow (?:the|these) following (?:rules|guidelines|instructions)\b|^the key ?words ?["“]|^(?:use|read|apply|follow) (?:this|these|the) (?:rules?|file|document|guide|guidelines|instructions)(?: below)? (?:to|when|for|if)\b/i
/** A sentence that means little without the one before it, and one that only goes on with it. */
const POINTS_BACK = /\b(?:its?|this|that|these|those|the[my]|ones?|both|either|such|instead|otherwise|therefore)\b/i
const GOES_ON = /^(?:if (?:yes|no|not|so)|otherwise|(?:use|do|run|keep|repeat) (?:this|it|that|these|those|them))\b/i
/** It has no subject: what stands above it has one. */
const SUBJECTLESS = /^(?:must|should|has to|have to|needs? to|may|can(?:not)?)\b/i
const CONDITION =
  /^(?:when(?:ever)?(?! to\b)|before|after|if|for|in|on|during|while|to|unless|with)\b|\b(?:when|if|unless):$/i
/** It tells what something is or does. */
const SAYS_WHAT =
  /^(?:(?:the|this)\s+(?:[\w-]+\s+){1,3})?uses\b|(?<!\b(?:must|should) )\b(?:will|does|is|are|supports?|includes?|provides?|contains?|has):$|\b(?:such as|like|while|e\.g\.|for example|including):$/i
/** It leads to code, and means nothing without. */
const NEEDS_CODE = /^(?:\S+ ){0,2}\S+$|\b(?:th(?:is|ese)|follow\w*|below|examples?|here)\b|\b(?:use|run|add|call|with|in|on|from|by|for|of|to|as|like|is|are)[:：]$/i // biome-ignore format: one pattern
const GUARD = /\b(?:always|must|only|stop|ask|do not|don['’]t|never)\b/i
/** A heading that is nothing but a prohibition: it forbids sentences too, not things alone. */
const BARE =
  /^(?:do not|don['’]ts?(?: do)?|never(?: do)?|must not|avoid|forbidden|prohibited|not allowed)\W{0,6}(?:$|: )/i
const BETTER = /\b(?:instead|prefer\w*|favou?r|rather)\b/i
const LABEL = /^(?:[\w/&,'-]+ ){0,4}[\w/&,'-]+(?::| [-–—])\s+(?=\S)/
/** Headings that say nothing about what the rules below them are about. */
const EMPTY_HEADING =
  /^(?:rules?|guidelines?|conventions?|instructions?|notes?|general|overview|important|misc\w*|claude|agents|claude\.md|agents\.md|do)$/

const SYMBOLS = /^(?:[\p{Extended_Pictographic}\p{So}\p{EMod}\s]|\uFE0F|\u200D){1,8}/u
/** Signs before an item that allow, or mean nothing; another one may forbid, and stays. */
const ADORNS = /^(?:[✅✓✔☑•▶►▪◆●■★⭐✨💡👉👍📌📍📝🎯🔹🔸🔷🔶🟢🔧🛠🚀📦⚡🔒🔑🧪\s]|\uFE0F|\u200D){1,8}/u

/** The blocks of a page, each below what it belongs to. */
function treeOf(page: string): Node[] {
  const top: Node[] = []
  const open: Node[] = []
  for (const block of blocksOf(page)) {
    const depth = block.type === 'heading' ? block.level : block.type === 'text' ? 10 : 20 + block.level
    const node: Node = { ...block, depth, parts: [] }
    while (open.length > 0 && open.at(-1)!.depth >= depth) open.pop()
    const siblings = open.at(-1)?.parts ?? top
    siblings.push(node)
    open.push(node)
  }
  return top
}

/** The rules of a page, each whole: an item of a list is one statement, with what leads to it. */
export const rulesIn = (page: string): Statement[] => read(treeOf(page), []).sort((a, b) => a.line - b.line)

function read(nodes: readonly Node[], above: readonly Above[]): Statement[] {
  const isBanned = contextOf(above).bearing === 'forbids'
  const texts = nodes.filter((n) => n.type === 'item').map((n) => signed(n).text)
  const binding = texts.filter((text) => forceOf(text) === 4).length
  const beside = { negates: texts.some((t) => negates(t, isBanned)), binds: binding > 0 && 3 * binding >= texts.length }
  return nodes.flatMap((node) => {
    const name = nameOf(node, above)
    const rules = node.type === 'heading' ? [] : rulesOf(node, above, name, beside)
    const isThing = rules.length > 0 && node.type === 'item' && (isBanned || CROSS.test(node.text))
    const below = read(node.parts, name ? [...above, name] : isThing ? [...above, REASONS] : above)
    const whole = name && wholeOf(node, name, contextOf(above), below)
    return [...rules, ...(whole ? [whole] : below)]
  })
}
/** What stands below a forbidden thing says why, or what to do instead. */
const REASONS: Above = { text: '', depth: 20, kind: 'name', bearing: 'unclear' }

/** The words of a block without the signs before them, but for one that is not known: it may forbid. */
function signed({ text }: Block): { text: string; bare: string; signs: string } {
  const marked = plainLine(text)
  const [signs = ''] = SYMBOLS.exec(marked) ?? []
  const bare = marked.slice(signs.length)
  const isClear = CROSS.test(signs) || negates(bare) || classifyRule(bare)?.category === 'constraint'
  return { bare, signs, text: isClear ? bare : marked.replace(ADORNS, '') }
}

/** What a block says of those below it, if it stands above them: a heading, a line with a colon, a line in bold. */
function nameOf(node: Node, above: readonly Above[]): Above | undefined {
  const { signs, bare } = signed(node)
  const leadsOn = node.type !== 'heading' && /[:：]$/.test(bare)
  const text = (leadsOn ? (sentencesOf(bare).at(-1) ?? bare) : bare).replace(/[:：]$/, '')
  const { bearing, promise } = meaningOf(text, signs)
  const as = (kind: Above['kind']): Above => {
    const name = { text: text || "Don't", depth: node.depth, kind }
    // what is told with the statements below it promises nothing, and leaves nothing unclear
    return isLead(name) ? { ...name, bearing: bearing === 'unclear' ? 'asks' : bearing } : { ...name, bearing, promise }
  }
  if (node.type === 'heading')
    return /^(?:when(?:ever)?(?! to\b)|before|after)\s/i.test(text) ? as('condition') : as('name')
  if (node.parts.length === 0) return undefined
  const isCondition = CONDITION.test(`${text}:`)
  const isRuled = isRule(text) || (isCondition && isRule(text.slice(text.lastIndexOf(', ') + 2)))
  const isBold = /^[^\p{L}\p{N}*]*\*\*[^*]+\*\*$/u.test(node.text)
  const isShort = text.split(/\s+|(?<=\p{Lo}{3})(?=\p{Lo})/u).length <= 5
  if (!leadsOn && node.type === 'text') return isShort && (isBold || signs !== '') ? as('name') : undefined
  if (!leadsOn && (!isBold || signs !== '')) return undefined
  if (bearing === 'forbids') return as('name')
  if (!leadsOn && isCondition) return as('condition')
  if (!leadsOn) return isRuled || contextOf(above).bearing === 'forbids' ? undefined : as('name')
  if (isShort && !isRuled && !isCondition) return as(promise || bearing ? 'name' : 'part')
  if (REMARK.test(text) || SAYS_WHAT.test(`${text}:`)) return as('prose')
  return as(isRuled ? 'order' : isCondition && !text.includes(', ') ? 'condition' : 'prose')
}

function contextOf(names: readonly Above[]): Context {
  const above = names.map((a) => (a.depth === 1 && names.length > 1 ? titleOf(a) : a))
  const at = above.findLastIndex((a) => a.bearing !== undefined)
  const lead = above.findLast((a) => isLead(a) || a.depth < 10)
  const promising = above.filter((a) => a.promise !== undefined)
  const pattern = promising.at(-1)
  return {
    bearing: above[at]?.bearing,
    promise: (promising.findLast((a) => a.promise !== 'pattern') ?? pattern)?.promise,
    ban: above.slice(Math.max(at, 0)).map((a) => a.text).join(': '),
    isNear: at === above.length - 1,
    lead: lead?.kind === 'name' ? undefined : lead,
    last: above.at(-1),
  } // biome-ignore format: a table
}

/** The title of a page is about all of it: it may forbid it, or describe what is done once, and promises no rules. */
const titleOf = (a: Above): Above => ({
  ...a,
  bearing: a.bearing === 'forbids' ? 'forbids' : undefined,
  promise: a.promise === 'description' ? 'description' : undefined,
})

/** Whether its signs allow and forbid, forbid but a part of it, or stand before an order: it is no one rule. */
function isMixed(text: string): boolean {
  const [before = '', after] = text.replace(/`[^`]*`/g, '`').split(CROSS, 2)
  if (after === undefined) return false
  const isAfter = /[\p{L}`]/u.test(before)
  const isOne = isAfter ? !/^\uFE0F?\s*(?:$|\p{Lu})/u.test(after) : !GUARD.test(after)
  return TICK.test(text) || !(isOne || negates(isAfter ? text : after.trim()))
}

/** How strongly a sentence asks, also behind a label: "Caching: apply …". */
function forceIn(sentence: string): Force {
  if (/[?:？：]$|^(?:for example|e\.g\.)/i.test(sentence)) return 0
  return Math.max(forceOf(sentence), forceOf(sentence.replace(LABEL, ''))) as Force
}

/** The rules that a block states itself: an item is one statement, a paragraph of as many as it has sentences. */
function rulesOf(node: Node, names: readonly Above[], name: Above | undefined, items: Beside): Statement[] {
  const { text, signs } = signed(node)
  const isItem = node.type === 'item'
  const isCrossed = CROSS.test(signs)
  const all = sentencesOf(isItem && node.text.endsWith('.') ? `${text}.` : text)
  const last = all.at(-1) ?? ''
  const isCode = !name && /[:：]$/.test(last) && (NEEDS_CODE.test(last) || forceOf(last) === 0)
  const sentences = name || isCode ? all.slice(0, -1) : [...all.slice(0, -1), last.replace(/[:：]$/, '')]
  const given = contextOf(names)
  // a sign says of its item what a heading says of all
  const sign = isCrossed ? 'forbids' : TICK.test(signs) ? 'asks' : given.bearing
  const isMarked = isItem && sign !== given.bearing && meaningOf(text).bearing !== 'forbids'
  const isBearing = isItem || BARE.test(given.ban)
  const above: Context = isMarked
    ? { ...given, bearing: sign, ban: "Don't", isNear: true }
    : { ...given, bearing: isBearing ? given.bearing : undefined }
  const beside = isItem
    ? { ...items, negates: items.negates && !isCrossed }
    : { negates: sentences.some((s) => negates(s)), binds: sentences.some((s) => forceIn(s) > 2) }
  const isNothing = sentences.length === 0 || text.startsWith('|') || isMixed(plainLine(node.text))
  const featuresOf = (said: readonly string[]): Features => {
    const whole = said.join(' ').replace(/\.$/, '')
    const [thing = ''] = (said[0] ?? '').split(/ [-–—] /, 1)
    const shape = node.isOrdered && isItem ? 'step' : 'plain'
    return {
      force: Math.max(0, ...said.map(forceIn)) as Force,
      isItem,
      isShort: whole.length >= 6 && whole.length <= 200,
      shape: isNothing || REMARK.test(whole) ? 'remark' : ENTRY.test(whole) ? 'entry' : shape,
      negates: negates(whole, above.bearing === 'forbids' && !isCrossed),
      binds: /\b(?:always|must)\b/i.test(whole),
      isRemedy: BETTER.test(thing),
      beside,
      above,
    }
  }
  const topics = names
    .filter((a) => a.depth > 1 && (a.kind === 'name' || a.depth < 10))
    .map((a) => a.text.toLowerCase().replace(/[`*_:❌]|^\d+[.)]/gu, '').trim())
    .filter((h) => h !== '' && h.length <= 40 && !EMPTY_HEADING.test(h)) // biome-ignore format: a list
  const place = { line: node.line, end: name ? node.line - 1 : node.end, topics }
  const found = isItem ? itemRule(sentences, featuresOf(sentences)) : paragraphRules(sentences, featuresOf)
  return found.map(({ verdict, fact, context }) => {
    const isBan = verdict === 'ban' || negates(fact)
    const told = withSubject(plainLine(fact), verdict, above)
    return {
      fact: told,
      category: isBan ? 'constraint' : categoryOf(fact, above),
      context: context.join(' '),
      ...place,
    }
  })
}
type Found = { verdict: Verdict; fact: string; context: string[] }

function itemRule(sentences: readonly string[], features: Features): Found[] {
  const verdict = decide(features)
  if (verdict === 'text') return []
  // of a forbidden thing the rest says why, or what to do instead
  if (verdict === 'ban') return [{ verdict, fact: sentences[0]!, context: sentences.slice(1) }]
  const needed = Math.max(1, forceNeeded(features))
  const asks = (s: string) => forceIn(s) >= needed || negates(s)
  const first = Math.max(0, sentences.findIndex(asks))
  const end = sentences.findLastIndex(asks) + 1 || sentences.length
  const isWhole = sentences.slice(0, end).join(' ').length <= LONGEST
  const [from, to] = isWhole ? [0, end] : [first, first + 1]
  const context = [...sentences.slice(0, from), ...sentences.slice(to)]
  return [{ verdict, fact: sentences.slice(from, to).join(' '), context }]
}

function paragraphRules(sentences: readonly string[], of: (said: readonly string[]) => Features): Found[] {
  const found: Found[] = []
  const before: string[] = []
  for (const sentence of sentences.map((s) => s.trim().replace(/^> ?/, ''))) {
    const verdict = decide(of([sentence]))
    const prior = before.length === 0 ? found.at(-1) : undefined
    if (prior && GOES_ON.test(sentence) && prior.fact.length + sentence.length < LONGEST)
      prior.fact = `${prior.fact.replace(/(?<=[\w)`'])$/, '.')} ${sentence}`
    else if (verdict !== 'text') {
      const both = `${before.at(-1)} ${sentence}`
      const isBoth = before.length > 0 && POINTS_BACK.test(sentence) && both.length <= LONGEST
      const context = before.splice(0).slice(0, isBoth ? -1 : undefined)
      found.push({ verdict, fact: isBoth ? both : sentence, context })
    } else (found.at(-1)?.context ?? before).push(sentence)
  }
  return found
}

/** A rule with what it is about, where it does not say that itself. */
function withSubject(fact: string, verdict: Verdict, above: Context): string {
  if (verdict === 'ban') return `${above.ban}: ${fact}`
  const subject =
    above.lead && above.lead.kind !== 'prose' ? above.lead : SUBJECTLESS.test(fact) ? above.last : undefined
  return subject && subject.text.length + fact.length < LONGEST ? `${subject.text}: ${fact}` : fact
}

function categoryOf(fact: string, { lead, promise }: Context): Category {
  const said = sentencesOf(fact).map((s) => classifyRule(s)?.category)
  const promised = promise === 'description' ? undefined : promise
  return said.find(Boolean) ?? classifyRule(lead?.text ?? '')?.category ?? promised ?? 'convention'
}

/** An order with all of its list, where no part of that is a rule. */
function wholeOf(node: Node, name: Above, above: Context, below: readonly Statement[]): Statement | undefined {
  const isOrder = node.depth >= 10 && (name.kind === 'order' || name.bearing === 'forbids')
  const asks = forceOf(name.text) >= (above.promise === 'description' ? 4 : 1)
  if (!isOrder || !asks || below.length > 0 || (above.bearing ?? 'asks') !== 'asks') return undefined
  const parts = (of: Node): Node[] => of.parts.flatMap((part) => [part, ...parts(part)])
  const list = parts(node)
  const fact = `${name.text}: ${list.map((part) => plainLine(part.text)).join('; ')}`
  if (fact.length > LONGEST) return undefined
  const category = classifyRule(name.text)?.category ?? 'convention'
  return { fact, category, context: '', line: node.line, end: list.at(-1)!.end, topics: [] }
}
