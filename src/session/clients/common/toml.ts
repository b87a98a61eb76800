import { parse, TomlError } from 'smol-toml'
import { UserError } from '../../../base/errors.ts'
import { readText } from './files.ts'
import { at } from './json.ts'

/**
 * What a TOML text says.
 * @throws UserError `bad-toml` with the line.
 */
export function readToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const { line, message } = error
    const what = message.split('\n')[0]!.replace('Invalid TOML document: ', '')
    throw new UserError(
      'bad-toml',
      `${file} is not valid TOML: ${what} in line ${line}`,
      'mend it and run this again; nothing was changed',
      { file, line },
    )
  }
}

/** What a TOML file says; nothing if there is none. */
export const tomlIn = (file: string): Record<string, unknown> => readToml(readText(file) ?? '', file)

/** Where the string that begins at `from` ends. */
function stringEnd(text: string, from: number): number {
  const quote = text[from]!
  const mark = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote
  let end = from + mark.length
  while (!text.startsWith(mark, end)) end += quote === '"' && text[end] === '\\' ? 2 : 1
  end += mark.length
  if (mark !== quote) for (let extra = 0; extra < 2 && text[end] === quote; extra++) end++
  return end
}

interface Statement {
  start: number
  end: number
  /** The key with all of its tables, as a text that assigns 0 to it; empty for comments and blank lines. */
  sets: string
}

/** The statements of a valid TOML text, in whole lines. */
function statementsOf(text: string): Statement[] {
  const found: Statement[] = []
  let header = ''
  let [start, equals, depth] = [text.startsWith('\uFEFF') ? 1 : 0, -1, 0]
  for (let i = start; i < text.length; ) {
    const c = text[i]!
    if (c === '"' || c === "'") i = stringEnd(text, i)
    else if (c === '#') i = text.indexOf('\n', i) < 0 ? text.length : text.indexOf('\n', i)
    else {
      if (c === '[' || c === '{') depth++
      else if (c === ']' || c === '}') depth--
      else if (c === '=' && depth === 0 && equals < 0) equals = i
      i++
    }
    if (i < text.length && (c !== '\n' || depth > 0)) continue
    const isHeader = text.slice(start, i).trimStart().startsWith('[')
    if (isHeader) header = `${text.slice(start, i)}\n`
    found.push({
      start,
      end: i,
      sets: isHeader ? header : equals < 0 ? '' : `${header}${text.slice(start, equals)}= 0`,
    })
    start = i
    equals = -1
  }
  return found
}

const BEGIN = '# tidemark: begin'
const END = '# tidemark: end'

/** Whether our marks are in a text. */
export const isMarked = (text: string): boolean => text.includes(BEGIN) && text.includes(END)

/** Appends lines to a TOML text as a block marked as ours, with a blank line before it. */
export function appendBlock(text: string, lines: readonly string[]): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const ended = text === '' || text === '\uFEFF' || text.endsWith('\n')
  const gap = text === '' || text === '\uFEFF' ? '' : ended ? newline : newline + newline
  return text + gap + [BEGIN, ...lines, END, ''].join(newline)
}

/**
 * Takes out our marks and the tables under `path` between them, with the blank line before; what the user wrote
 * between the marks since stays. Without marks (a rewriting client dropped them) only the tables go.
 */
export function removeBlock(text: string, path: readonly string[], file: string): string {
  readToml(text, file)
  const isOurs = ({ start, end, sets }: Statement) =>
    [BEGIN, END].includes(text.slice(start, end).trimEnd()) || at(parse(sets), ...path) !== undefined
  const [first, ...others] = statementsOf(text).filter(isOurs)
  if (!first) return text
  const blank = /(?<=\n)\r?\n$/.exec(text.slice(0, first.start))
  let out = text.slice(0, first.start - (blank?.[0].length ?? 0))
  let from = first.end
  for (const { start, end } of others) {
    out += text.slice(from, start)
    from = end
  }
  return out + text.slice(from)
}
