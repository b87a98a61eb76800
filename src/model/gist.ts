import { fencedLines } from './markdown.ts'

/** Beyond this nothing of a page is told. */
const MAX_READ = 8_000

/**
 * Of a page its first whole sentences in `max` characters, up to its first list, table or code; of a list that is introduced,
 * what has room. A mark says that the page goes on. Where no sentence ends in time it is longer than asked for.
 */
export function gistOf(page: string, max: number): string {
  const blocks = blocksOf(page.slice(0, MAX_READ))
  const end = blocks.findIndex(({ is }) => is !== 'prose')
  const head = blocks.slice(0, end < 0 ? undefined : end).map(({ text }) => text).join(' ') // biome-ignore format: a row
  const isLed = end >= 0 && (head === '' || head.endsWith(':'))
  const items = isLed ? blocks.slice(end).flatMap(({ is, text }) => (is === 'item' ? text : [])) : []
  const whole = [head, items.join('; ')].filter(Boolean).join(' ')
  if (whole.length <= max) return end >= 0 && items.length === 0 ? `${whole} …` : whole
  const ends = [...whole.matchAll(/[.!?](?= [^\p{Ll}]|$)|; |[。！？]/gu)].map((m) => m.index + 1)
  const last = ends.findLast((at) => at <= max)
  if (last !== undefined) return `${whole.slice(0, last).replace(/;$/, '')} …`
  return isLed && head !== '' && head.length <= max ? `${head.replace(/:$/, '')} …` : whole
}

/** Paragraphs, items of lists and what is neither, each on a line without emphasis and addresses of links. */
function blocksOf(page: string): { is: 'prose' | 'item' | 'other'; text: string }[] {
  const lines = page.trim().split('\n')
  const isCode = fencedLines(lines)
  const blocks: { is: 'prose' | 'item' | 'other'; text: string }[] = []
  let isOpen = false
  for (const [i, line] of lines.entries()) {
    const [, mark = ''] = /^\s{0,8}([-*+]|\d{1,3}[.)]|[|>#])(?:\s|(?<=[|#]))/.exec(line) ?? []
    const is = isCode[i] || /^[|>#]/.test(mark) ? 'other' : mark === '' ? 'prose' : 'item'
    if (isOpen && is === 'prose' && line.trim() !== '') blocks.at(-1)!.text += ` ${toldLine(line)}`
    else if (line.trim() !== '') blocks.push({ is, text: toldLine(line) })
    isOpen = line.trim() !== '' && is !== 'other'
  }
  return blocks
}

const toldLine = (line: string): string =>
  line
    .trim()
    .replace(/^(?:[-*+]|\d{1,3}[.)])\s+/, '')
    .replace(/\*\*|__/g, '')
    .replace(/\[([^[\]]{1,200})\](?:\([^()\s]{0,300}\)|\[[^[\]]{0,100}\])/g, '$1')
