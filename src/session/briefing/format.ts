import { besideOf } from '../../find/recall/told.ts'
import { type Entity, saidAt } from '../../model/entity.ts'
import { fencedLines } from '../../model/markdown.ts'
import { localMinute } from '../../model/times.ts'
import { plain } from './fence.ts'
import type { About } from './types.ts'

export const minute = (ms: number, { local }: Pick<About, 'local'>): string =>
  local ? localMinute(ms) : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`
export const day = (ms: number, about: Pick<About, 'local'>): string => minute(ms, about).slice(0, 10)

/** Who said it, when, and whether it holds, behind the fence. */
export const byline = (e: Entity, about: Pick<About, 'holds' | 'local'>): string =>
  besideOf(e, about.holds(e), day(saidAt(e), about), plain)

export const field = (e: Entity, name: string, max: number): string => {
  const value = e.fields[name]
  return typeof value === 'string' ? (value.includes('\n') ? gistOf(value, max) : plain(value, max)) : ''
}

/**
 * The first whole sentences of a page, up to its first list, table or code; of a list that is introduced, what has room.
 * A mark says that the page goes on.
 */
export function gistOf(page: string, max: number): string {
  const blocks = blocksOf(page)
  const end = blocks.findIndex(({ is }) => is !== 'prose')
  const head = blocks.slice(0, end < 0 ? undefined : end).map(({ text }) => text).join(' ') // biome-ignore format: a row
  const isLed = end >= 0 && (head === '' || head.endsWith(':'))
  const items = isLed ? blocks.slice(end).flatMap(({ is, text }) => (is === 'item' ? text : [])) : []
  const whole = [head, items.join('; ')].filter(Boolean).join(' ')
  if (whole.length <= max) return plain(end >= 0 && items.length === 0 ? `${whole} …` : whole, max + 2)
  const ends = [...whole.matchAll(/[.!?](?= [^\p{Ll}]|$)|; |[。！？]/gu)].map((m) => m.index + 1)
  const last = ends.findLast((at) => at <= max)
  if (last === undefined && isLed && head !== '' && head.length <= max)
    return plain(`${head.replace(/:$/, '')} …`, max + 2)
  return last === undefined ? plain(whole, max) : plain(`${whole.slice(0, last).replace(/;$/, '')} …`, max + 2)
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

export const refOf = (e: Entity): string => plain(e.id, 120)

/** What a claim is on; a task by its name, which says what it is, and the reference that takes it up. */
export function claimedOn(on: string, { reader }: About, max = 120): string {
  const task = on.startsWith('task:') ? reader.entity(on) : undefined
  return task ? `task "${plain(task.name, max)}" (${refOf(task)})` : plain(on, max)
}

export function age(ms: number): string {
  const hours = Math.floor(Math.max(0, ms) / 3_600_000)
  if (hours < 1) return 'under 1 h'
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}

export const many = (n: number, one: string, more = `${one}s`): string => `${n} ${n === 1 ? one : more}`
