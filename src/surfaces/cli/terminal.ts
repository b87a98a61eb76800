import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { shown } from '../../scheme/invisible.ts'
import type { Block, Look, Span } from '../tools/tool.ts'

const CODES: Readonly<Record<Look, string>> = { ref: '33', name: '1', kind: '36', aside: '2', warn: '31' }

/** What a person's terminal is like. */
type Terminal = Readonly<{ columns: number; rows: number; colours: boolean }>

const isSaid = (value: string | undefined): boolean => value !== undefined && value !== ''

/** `FORCE_COLOR` asks for the page of a terminal elsewhere too. */
export const isForced = (env: NodeJS.ProcessEnv): boolean =>
  isSaid(env.FORCE_COLOR) && env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'

/** no-color.org; `FORCE_COLOR` as Node itself takes it. */
export function terminalOf(
  stream: Partial<Pick<NodeJS.WriteStream, 'columns' | 'rows' | 'isTTY'>>,
  env: NodeJS.ProcessEnv,
): Terminal {
  const colours = isSaid(env.FORCE_COLOR)
    ? isForced(env)
    : !isSaid(env.NO_COLOR) && env.TERM !== 'dumb' && stream.isTTY === true
  return { columns: stream.columns || Number(env.COLUMNS) || 80, rows: stream.rows || 24, colours }
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}]/u
const NARROW = /^[\x20-\x7e]*$/

/** Columns that a text takes. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const c of text) width += /\p{M}|\p{Cf}/u.test(c) ? 0 : WIDE.test(c) ? 2 : 1
  return width
}

/** As much of a text as fits, and a mark that there is more. */
function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let out = ''
  let width = 1
  for (const c of text) {
    width += widthOf(c)
    if (width > columns) break
    out += c
  }
  return `${out.trimEnd()}…`
}

const textOf = (span: Span): string => (typeof span === 'string' ? span : span[1])
/** No text of anybody's steers the terminal: what does is taken out of it before a colour is put around it. */
const clean = (span: Span): Span => {
  const text = shown(textOf(span)).replace(/[\r\n\t]+/g, ' ')
  return typeof span === 'string' ? text : [span[0], text]
}

/** Longer lines are hard to read. */
const PROSE = 100

/** A page as lines that fit the terminal. */
export function render(blocks: readonly Block[], { columns, colours }: Terminal): string {
  const paint = (span: Span): string =>
    typeof span === 'string' || !colours || span[1] === '' ? textOf(span) : `\x1b[${CODES[span[0]]}m${span[1]}\x1b[0m`
  return blocks
    .flatMap((block) => ('rows' in block ? table(block, columns) : wrapped(block, Math.min(columns, PROSE))))
    .map((line) => together(line).map(paint).join('').trimEnd())
    .join('\n')
}

/** Neighbours of one look as one. */
function together(line: readonly Span[]): Span[] {
  const out: Span[] = []
  for (const span of line) {
    const before = out.at(-1)
    const [look, text] = typeof span === 'string' ? [undefined, span] : span
    if (before === undefined || (typeof before === 'string' ? undefined : before[0]) !== look) out.push(span)
    else out[out.length - 1] = look === undefined ? textOf(before) + text : [look, textOf(before) + text]
  }
  return out
}

/** Every column as wide as it has to be, and the one that may be cut as wide as is left. */
function table({ head, rows, cuts, wraps }: Extract<Block, { rows: unknown }>, columns: number): Span[][] {
  const all = [head.map((h): Span[] => [['aside', h]]), ...rows.map((row) => row.map((cell) => cell.map(clean)))]
  const width = (cell: readonly Span[]) => cell.reduce((sum, span) => sum + widthOf(textOf(span)), 0)
  // a column in which nothing stands is left out
  const isUsed = head.map((_, i) => all.slice(1).some((row) => width(row[i]!) > 0))
  const widths = head.map((_, i) => (isUsed[i] ? Math.max(...all.map((row) => width(row[i]!))) : 0))
  const others = widths.reduce((sum, w, i) => sum + (i === cuts || w === 0 ? 0 : w + 2), 0)
  widths[cuts] = Math.max(16, Math.min(widths[cuts]!, columns - others))
  return (wraps ? all.flatMap((row) => spread(row, cuts, widths[cuts]!)) : all).map((row) => {
    // what may be cut takes the columns behind it in which nothing stands
    let end = cuts + 1
    while (end < row.length && width(row[end]!) === 0) end++
    const room = widths.slice(cuts, end).reduce((sum, w) => sum + (w === 0 ? 0 : w + 2), -2)
    return row.flatMap((cell, i): Span[] => {
      if (widths[i] === 0 || (i > cuts && i < end)) return []
      const fitted = i === cuts ? cutCell(cell, room) : cell
      return [...fitted, ' '.repeat(Math.max(0, (i === cuts ? room : widths[i]!) - width(fitted)) + 2)]
    })
  })
}

/** A row as several, in which one cell is broken between words. */
const spread = (row: readonly (readonly Span[])[], at: number, columns: number): (readonly Span[])[][] =>
  wrapped({ line: row[at]! }, columns).map((line, n) => row.map((cell, i) => (i === at ? line : n > 0 ? [] : cell)))

function cutCell(cell: readonly Span[], columns: number): Span[] {
  let left = columns
  return cell.flatMap((span): Span[] => {
    if (left <= 0) return []
    const text = cut(textOf(span), left)
    left -= text === textOf(span) ? widthOf(text) : left
    return [typeof span === 'string' ? text : [span[0], text]]
  })
}

/** Breaks between words; what is longer than a line stands on one of its own. */
function wrapped({ line, indent = 0 }: Extract<Block, { line: unknown }>, columns: number): Span[][] {
  const lines: Span[][] = [[' '.repeat(indent)]]
  let at = indent
  for (const span of line.map(clean)) {
    for (const part of textOf(span).split(/(?= )/)) {
      const breaks = at > indent && at + widthOf(part) > columns
      const word = breaks ? part.trimStart() : part
      if (breaks) {
        lines.push([' '.repeat(indent)])
        at = indent
      }
      lines.at(-1)!.push(typeof span === 'string' ? word : [span[0], word])
      at += widthOf(word)
    }
  }
  return lines
}

/** Prints a text that is longer than the screen through `PAGER`, else through `less` where there is one. */
export function page(text: string, { columns, rows }: Terminal, env: NodeJS.ProcessEnv): boolean {
  const lines = stripVTControlCharacters(text).split('\n')
  const height = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
  const pager = env.PAGER ?? 'less'
  if (height < rows || pager === '' || pager === 'cat' || env.TERM === 'dumb') return false
  const said = spawnSync(pager, {
    shell: true,
    input: `${text}\n`,
    stdio: ['pipe', 'inherit', 'ignore'],
    env: { ...env, LESS: env.LESS ?? 'FRX', LV: env.LV ?? '-c' },
  })
  return said.error === undefined && said.status !== 126 && said.status !== 127
}
