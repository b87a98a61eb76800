import { fencedLines, frontMatterOf } from '../../../model/markdown.ts'

/** A block of a page: a heading, an item of a list, or a paragraph, with the lines (from 1) at which it begins and ends. */
export interface Block {
  readonly type: 'heading' | 'item' | 'text'
  readonly line: number
  readonly end: number
  /** On one line, joined. */
  readonly text: string
  /** Of a heading: 1 to 6; of an item: its indentation. */
  readonly level: number
  readonly isOrdered: boolean
}

/** The blocks of a page without front matter, code, comments and Tidemark's own; tables and quotations come as text. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open = undefined as (Omit<Block, 'text' | 'end'> & { end: number; text: string[] }) | undefined
  const close = () => {
    if (open) blocks.push({ ...open, text: open.text.join('\n').replace(TITLE, '$1: ').replaceAll('\n', ' ').trim() })
    open = undefined
  }
  const lines = withoutComments(page).split('\n')
  const fenced = fencedLines(lines)
  for (const [index, line] of lines.entries()) {
    const start = (type: Block['type'], level: number, text: string) => {
      close()
      open = { type, line: index + 1, end: index + 1, level, isOrdered: /^\s*\d/.test(line), text: [text] }
    }
    const starts = open?.text[0]?.startsWith('>') ? /^\s*\|/ : /^\s*[|>]/
    const heading = /^ {0,3}(#{1,6})\s+(\S.*)?$/.exec(line)
    const below = lines[index + 1]?.trim() || lines[index + 2] || ''
    const isSigned = [CROSS, TICK].some((sign) => line.trim().search(sign) === 0)
    const signed = isSigned ? /^(\s*)(.*)$/.exec(line) : null
    const isLead = /[:：]\**$/.test(line.trim()) || (MARKED.test(below) && line.trim().split(/\s+/).length < 5)
    const item = MARKED.exec(line) ?? (isLead ? null : signed)
    if (fenced[index]) close()
    else if (heading) {
      start('heading', heading[1]!.length, (heading[2] ?? '').replace(/(?<!#)#+$/, ''))
      close()
    } else if (/^\s*@\S+\s*$/.test(line)) {
      start('text', 0, line.trim())
      close()
    } else if (/^\s*$/.test(line) || /^\s*(?:[-*_]\s*){3,}$/.test(line)) close()
    else if (item) start('item', item[1]!.replaceAll('\t', '    ').length, item[2]!.trim())
    else if (!open && /^(?: {4}|\t)/.test(line) && !lines[index - 1]?.trim())
      continue // indented code
    else if (open && !signed && !starts.test(line) && !(open.type === 'text' && isOwnLine(lines, index))) {
      open.text.push(line.trim().replace(/^> ?/, '')) // a quotation that goes on
      open.end = index + 1
    } else start('text', 0, line.trim())
  }
  close()
  return blocks.filter((b) => b.text !== '')
}

/** A sign that forbids what it stands before, and one that allows it. */
export const CROSS = /[❌✗✘☒✕✖🙅👎❎🚫⛔🚷🈲]/u
export const TICK = /[✅✓✔☑]/u

/** A title on a line of its own leads to what follows. */
const TITLE = /^(\*\*[^*:：\n]+\*\*)\n(?=\p{Lu})/u
const MARKED = /^(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(.*)$/

/** Text is wrapped no earlier than here. */
const NARROWEST = 60

/** A line may begin so in the middle of a sentence too, where it is wrapped. */
const ORDER = /^(?:always|never|use|don['’]t|do not|avoid|prefer|keep|make sure|ensure|you (?:must|should)) /

/** Of lines that all begin so each is one; of two the second may go on with the first. */
function isOneOfOrders(lines: readonly string[], index: number): boolean {
  const isOrder = (at: number) => ORDER.test(lines[at]?.trim() ?? '')
  return isOrder(index) && isOrder(index - 1) && (isOrder(index - 2) || isOrder(index + 1))
}

/** Whether a line of a paragraph begins where its first word would have fitted above: it was meant to stand alone. */
function isOwnLine(lines: readonly string[], index: number): boolean {
  const [above, line] = [lines[index - 1]!.trim(), lines[index]!.trim()]
  if (!/^["`*]*\p{Lu}/u.test(line) && !isOneOfOrders(lines, index) && !(/^["`*]/.test(line) && /[.!?:]$/.test(above)))
    return false
  if (/[,;(–—-]$/.test(above)) return false
  let width = NARROWEST
  for (const near of lines.slice(Math.max(0, index - 9), index + 9))
    if (!/^\s*[|#]/.test(near)) width = Math.max(width, near.trim().length)
  return above.length + 1 + line.split(/\s/, 1)[0]!.length <= width
}

/** The page without what stands between `<!-- tidemark … begin … -->` and the next `<!-- tidemark … end … -->`. */
function withoutOurs(page: string, blank: (region: string) => string): string {
  let left = ''
  let at = 0
  let begin: number | undefined
  for (const m of page.matchAll(/<!--\s*tidemark\b[^<>]*-->/gi)) {
    if (begin === undefined && /\bbegin\b/i.test(m[0])) begin = m.index
    else if (begin !== undefined && /\bend\b/i.test(m[0])) {
      left += page.slice(at, begin) + blank(page.slice(begin, (at = m.index + m[0].length)))
      begin = undefined
    }
  }
  return left + page.slice(at)
}

/** The page on the same lines without HTML comments, Tidemark's own blocks and front matter. */
export function withoutComments(page: string): string {
  const blank = (region: string) => region.replace(/[^\n]/g, '')
  return frontMatterOf(withoutOurs(page, blank)).body.replace(
    /((`{3}|~{3})[\s\S]*?(?:\2|$))|<!--[\s\S]*?(?:-->|$)/g,
    (region, code) => code ?? blank(region),
  )
}

/** The sentences of a text; a stop inside a word, a number or code ends none. */
export const sentencesOf = (text: string): string[] =>
  text.split(/(?<=(?<!\b(?:e\.g|i\.e|cf|vs))[.!?][*_`"')\]]*)\s+(?=[A-Z`*_"'([])/).filter((s) => s.trim() !== '')
