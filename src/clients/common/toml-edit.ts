import { UserError } from '../../errors.ts'

/** A statement of a TOML text: a `[table]` header or a `key = value`, with the path it sets. */
export interface TomlStatement {
  kind: 'table' | 'pair'
  path: string[]
  /** Strings, booleans, arrays and inline tables as themselves; other values as their text. Headers: undefined. */
  value: unknown
  start: number
  end: number
}

const BARE = /[A-Za-z0-9_-]+/y
const ATOM = /[^\s,\]}#]+(?: \d{2}:[^\s,\]}#]+)?/y
const ESCAPES: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b', '"': '"', '\\': '\\' }

/**
 * The statements of a TOML text: enough of the grammar to find tables and read strings, and to refuse what is broken.
 * @throws UserError `bad-toml` with the line.
 */
export function readToml(text: string, file: string): TomlStatement[] {
  let i = text.startsWith('\uFEFF') ? 1 : 0
  const bad = (what: string): never => {
    const line = text.slice(0, i).split('\n').length
    throw new UserError(
      'bad-toml',
      `${file} is not valid TOML: ${what} in line ${line}`,
      'mend it and run this again; nothing was changed',
      { file, line },
    )
  }
  const match = (re: RegExp) => {
    re.lastIndex = i
    const found = re.exec(text)?.[0]
    if (found !== undefined) i += found.length
    return found
  }
  const space = () => match(/[ \t]*/y)
  const spaceAndLines = () => match(/(?:[ \t\r\n]|#[^\n]*)*/y)

  const string = (): string => {
    const quote = text[i]!
    if (text.startsWith(quote.repeat(3), i)) {
      const from = (i += 3)
      while (!text.startsWith(quote.repeat(3), i)) {
        if (i >= text.length) bad('a string is not closed')
        i += quote === '"' && text[i] === '\\' ? 2 : 1
      }
      i += 3
      for (let extra = 0; extra < 2 && text[i] === quote; extra++) i++
      return text.slice(from, i - 3)
    }
    let out = ''
    for (i++; text[i] !== quote; i++) {
      if (i >= text.length || text[i] === '\n') bad('a string is not closed')
      if (quote === "'" || text[i] !== '\\') {
        out += text[i]
        continue
      }
      const kind = text[++i]!
      const digits = kind === 'u' ? 4 : kind === 'U' ? 8 : kind === 'x' ? 2 : 0
      if (digits > 0) {
        const hex = text.slice(i + 1, i + 1 + digits)
        const point = Number.parseInt(hex, 16)
        if (!/^[0-9a-fA-F]+$/.test(hex) || point > 0x10ffff) bad('a bad escape')
        out += String.fromCodePoint(point)
        i += digits
      } else out += ESCAPES[kind] ?? bad('a bad escape')
    }
    i++
    return out
  }
  const key = (): string[] => {
    const path: string[] = []
    do {
      if (path.length > 0) i++
      space()
      path.push(text[i] === '"' || text[i] === "'" ? string() : (match(BARE) ?? bad('a key is missing')))
      space()
    } while (text[i] === '.')
    return path
  }
  const value = (): unknown => {
    const c = text[i]
    if (c === '"' || c === "'") return string()
    if (c === '[') {
      const items: unknown[] = []
      i++
      for (spaceAndLines(); text[i] !== ']'; spaceAndLines()) {
        items.push(value())
        spaceAndLines()
        if (text[i] === ',') i++
        else if (text[i] !== ']') bad('a list is not closed')
      }
      i++
      return items
    }
    if (c === '{') {
      const table: Record<string, unknown> = Object.create(null)
      i++
      for (spaceAndLines(); text[i] !== '}'; spaceAndLines()) {
        const path = key()
        if (text[i++] !== '=') bad('a value is missing')
        space()
        put(table, path, value())
        spaceAndLines()
        if (text[i] === ',') i++
        else if (text[i] !== '}') bad('a table is not closed')
      }
      i++
      return table
    }
    const atom = match(ATOM) ?? bad('a value is missing')
    if (!/^(true|false|[+-]?(inf|nan|\d[\w.+:-]*( [\d:.+Z-]+)?))$/.test(atom)) bad(`${atom} is no value`)
    return atom === 'true' ? true : atom === 'false' ? false : atom
  }

  const statements: TomlStatement[] = []
  let table: string[] = []
  for (spaceAndLines(); i < text.length; spaceAndLines()) {
    const start = i
    if (text[i] === '[') {
      const array = text.startsWith('[[', i)
      i += array ? 2 : 1
      table = key()
      if (!text.startsWith(array ? ']]' : ']', i)) bad('a table header is not closed')
      i += array ? 2 : 1
      statements.push({ kind: 'table', path: table, value: undefined, start, end: i })
    } else {
      const path = [...table, ...key()]
      if (text[i++] !== '=') bad('a value is missing')
      space()
      statements.push({ kind: 'pair', path, value: value(), start, end: i })
    }
    space()
    if (i < text.length && !/[\r\n#]/.test(text[i]!)) bad('something stands behind the end')
  }
  return statements
}

function put(table: Record<string, unknown>, path: string[], value: unknown): void {
  let here = table
  for (const key of path.slice(0, -1)) here = (here[key] ??= Object.create(null)) as Record<string, unknown>
  here[path.at(-1)!] = value
}

/** The value at a path, whichever way it was written (table, dotted key, inline table); undefined if nothing sets it. */
export function tomlAt(statements: readonly TomlStatement[], ...path: string[]): unknown {
  const root: Record<string, unknown> = Object.create(null)
  for (const s of statements) {
    let here: unknown = root
    const keys = s.kind === 'table' ? s.path : s.path.slice(0, -1)
    for (const key of keys) {
      if (typeof here !== 'object' || here === null || Array.isArray(here)) break
      here = (here as Record<string, unknown>)[key] ??= Object.create(null)
    }
    if (s.kind === 'pair' && typeof here === 'object' && here !== null)
      (here as Record<string, unknown>)[s.path.at(-1)!] = s.value
  }
  let here: unknown = root
  for (const key of path) {
    if (typeof here !== 'object' || here === null) return undefined
    here = (here as Record<string, unknown>)[key]
  }
  return here
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
  const statements = readToml(text, file)
  const ours = (s: TomlStatement) => path.every((key, n) => s.path[n] === key)
  const lineStart = (at: number) => text.lastIndexOf('\n', at - 1) + 1
  const lineEnd = (at: number) => text.indexOf('\n', at) + 1 || text.length
  const cuts = statements.filter(ours).map((s) => [lineStart(s.start), lineEnd(s.end)] as [number, number])
  for (const mark of [BEGIN, END])
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if (lineStart(at) === at && text.slice(at, lineEnd(at)).trimEnd() === mark) cuts.push([at, lineEnd(at)])
  if (cuts.length === 0) return text
  cuts.sort((a, b) => a[0] - b[0])
  const blankBefore = /(?<=\n)\r?\n$/.exec(text.slice(0, cuts[0]![0]))
  if (blankBefore) cuts[0]![0] -= blankBefore[0].length
  let out = ''
  let from = 0
  for (const [start, end] of cuts) {
    out += text.slice(from, Math.max(from, start))
    from = Math.max(from, end)
  }
  return out + text.slice(from)
}
