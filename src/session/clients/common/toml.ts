import { parse, TomlError } from 'smol-toml'
import { attempt, UserError } from '../../../base/errors.ts'
import { readText } from './files.ts'
import { at } from './json.ts'

const BIG = { integersAsBigInt: 'asNeeded' } as const

/** What a TOML text says. @throws UserError `bad-toml` with the line. */
export function readToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text, BIG)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const { line, message } = error
    const what = message.split('\n')[0]!.replace('Invalid TOML document: ', '')
    const hint = 'mend it and run this again; nothing was changed'
    throw new UserError('bad-toml', `${file} is not valid TOML: ${what} in line ${line}`, hint, { file, line })
  }
}

export const tomlIn = (file: string): Record<string, unknown> => readToml(readText(file) ?? '', file)

interface Statement {
  start: number
  end: number
  /** A text that assigns 0 to its key within its table; empty for comments and blank lines. */
  sets: string
}

const KEY = /^(?:"(?:\\.|[^"\\])*"|'[^']*'|[^"'=#])+(?==)/

/** The statements of a valid TOML text, in whole lines. */
function statementsOf(text: string): Statement[] {
  const found: Statement[] = []
  let header = ''
  let start = text.startsWith('\uFEFF') ? 1 : 0
  let end = start
  for (const line of text.slice(start).split(/(?<=\n)/)) {
    end += line.length
    const part = text.slice(start, end)
    if (attempt(() => parse(part, BIG)) === undefined) continue // it goes on in the next line
    const isHeader = part.trimStart().startsWith('[')
    if (isHeader) header = `${part}\n`
    const key = KEY.exec(part)?.[0]
    found.push({ start, end, sets: isHeader ? part : key === undefined ? '' : `${header}${key}= 0` })
    start = end
  }
  return found
}

const BEGIN = '# tidemark: begin'
const END = '# tidemark: end'

export const isMarked = (text: string): boolean => text.includes(BEGIN) && text.includes(END)

export function appendBlock(text: string, lines: readonly string[]): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const ended = text === '' || text === '\uFEFF' || text.endsWith('\n')
  const gap = text === '' || text === '\uFEFF' ? '' : ended ? newline : newline + newline
  return text + gap + [BEGIN, ...lines, END, ''].join(newline)
}

/** Takes out our marks, the tables under `path` and the blank line before. What the user wrote between stays. */
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
