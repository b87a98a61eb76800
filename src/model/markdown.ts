/** Which lines of a Markdown page are code between fences, the fences themselves included. A fence may be indented, as in a list. */
export function fencedLines(lines: readonly string[]): boolean[] {
  let open = ''
  let deepest = 0
  return lines.map((line) => {
    const [, indent = '', mark = '', rest = ''] = /^(\s*)(`{3,}|~{3,})(.*)$/s.exec(line) ?? []
    const depth = indent.replaceAll('\t', '    ').length
    if (open === '') {
      // ```code``` stands in one line
      if (!mark.startsWith('`') || !rest.includes('`')) open = mark
      deepest = depth + 3 // what is indented further is code
      return open !== ''
    }
    if (mark.startsWith(open) && depth <= deepest && rest.trim() === '') open = ''
    return true
  })
}

export function enterHeading(headings: string[], level: number, text: string): void {
  headings.length = Math.min(headings.length, level - 1)
  headings[level - 1] = text
}

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, string | readonly string[]>
  /** The page with empty lines in its place. */
  readonly body: string
}

/** What stands between `---` and `---` at the top of a page, as far as it is `key: text` or `key:` with a list. */
export function frontMatterOf(page: string): FrontMatter {
  const lines = page.replace(/^\uFEFF/, '').split('\n')
  // a page that begins with a line across it has none
  const begins = lines[0]?.trim() === '---' && lines[1]?.trim() !== ''
  const end = begins ? lines.findIndex((line, i) => i > 0 && line.trim() === '---') : -1
  const fields = new Map<string, string | readonly string[]>()
  if (end < 0) return { fields, body: page }
  let key = ''
  for (const line of lines.slice(1, end).map((l) => l.trimEnd())) {
    const [, name, said = ''] = /^([A-Za-z][\w-]{0,60}):(.*)$/.exec(line) ?? []
    const item = /^\s*-\s+(\S.*)$/.exec(line)?.[1]
    if (name !== undefined) {
      key = name.toLowerCase()
      const value = said.trim()
      const list = value.startsWith('[') && value.endsWith(']') ? value.slice(1, -1).split(',') : undefined
      if (value !== '') fields.set(key, list ? list.map(unquoted).filter(Boolean) : unquoted(value))
    } else if (item !== undefined && key !== '') {
      const there = fields.get(key) ?? []
      if (typeof there !== 'string') fields.set(key, [...there, unquoted(item)])
    }
  }
  return { fields, body: [...lines.slice(0, end + 1).map(() => ''), ...lines.slice(end + 1)].join('\n') }
}

function unquoted(said: string): string {
  const value = said.trim()
  const quote = value[0]
  if (value.length < 2 || (quote !== '"' && quote !== "'") || !value.endsWith(quote)) return value
  const within = value.slice(1, -1)
  return quote === '"' ? within.replace(/\\(["\\])/g, '$1') : within
}

/** One text of the front matter; of a list its first. */
export function textIn({ fields }: FrontMatter, key: string): string | undefined {
  const value = fields.get(key)
  return (typeof value === 'string' ? value : value?.[0]) || undefined
}

export const betweenCommas = (text: string): string[] => text.split(',').flatMap((part) => part.trim() || [])

/** A list of the front matter, also where it is written with commas. */
export function listIn({ fields }: FrontMatter, key: string): string[] {
  const value = fields.get(key) ?? []
  return typeof value === 'string' ? betweenCommas(value) : [...value]
}
