import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { UserError } from '../../errors.ts'
import { filesBelow } from '../../files.ts'
import { labelOf, readText } from './files.ts'
import { scrub } from './text.ts'
import type { Reading, Unplaced } from './types.ts'

/** Folders that hold no documents of the project. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'vendor', 'dist', 'build', 'target'])

export interface Page {
  /** Its path from the project's root. */
  readonly label: string
  readonly text: string
}

/** What of a `Reading` comes of reading pages alone. */
export interface Pages {
  readonly pages: readonly Page[]
  readonly unplaced: Unplaced[]
  readonly rest: Required<Pick<Reading, 'redacted' | 'files' | 'partial'>>
}

/**
 * A file, or the files below a folder by name, without their secrets; hidden folders and links are left out. Of a folder
 * what cannot be read is told. @throws UserError where there is nothing to read.
 */
export function pagesAt(path: string, root: string, extensions: readonly string[], skipped = SKIPPED): Pages {
  const files = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? filesIn(path, extensions, skipped) : [path]
  if (files.length === 0)
    throw new UserError(
      'no-documents',
      `no document under ${labelOf(path, root)}`,
      `documents end in ${extensions.join(', ')}`,
    )
  const pages: Page[] = []
  const unplaced: Unplaced[] = []
  const redacted: { where: string; category: string }[] = []
  for (const file of files) {
    const label = labelOf(file, root)
    try {
      const scrubbed = scrub(readText(file, root), label)
      redacted.push(...scrubbed.redacted)
      pages.push({ label, text: scrubbed.text })
    } catch (error) {
      if (!(error instanceof UserError) || files.length === 1) throw error
      unplaced.push({ where: label, what: 'the document', why: error.message })
    }
  }
  const rest = { redacted, files: files.map((f) => labelOf(f, root)), partial: unplaced.length > 0 }
  return { pages, unplaced, rest }
}

function filesIn(dir: string, extensions: readonly string[], skipped: ReadonlySet<string>): string[] {
  const isSeen = (name: string) => !name.startsWith('.') && !skipped.has(name)
  return filesBelow(dir, (name) => isSeen(name) && extensions.includes(extname(name).toLowerCase()), isSeen)
}

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, string | readonly string[]>
  /** The page with empty lines in its place. */
  readonly body: string
}

/** What stands between `---` and `---` at the top of a page, as far as it is `key: text` or `key:` with a list. */
export function frontMatterOf(page: string): FrontMatter {
  const lines = page.replace(/^\uFEFF/, '').split('\n')
  const end = lines[0]?.trim() === '---' ? lines.findIndex((line, i) => i > 0 && line.trim() === '---') : -1
  const fields = new Map<string, string | readonly string[]>()
  if (end < 0) return { fields, body: page }
  let key = ''
  for (const line of lines.slice(1, end)) {
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
  return value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote) ? value.slice(1, -1) : value
}

/** One text of the front matter; of a list its first. */
export function textIn({ fields }: FrontMatter, key: string): string | undefined {
  const value = fields.get(key)
  return (typeof value === 'string' ? value : value?.[0]) || undefined
}

/** A list of the front matter, also where it is written with commas. */
export function listIn({ fields }: FrontMatter, key: string): string[] {
  const value = fields.get(key) ?? []
  return typeof value !== 'string'
    ? [...value]
    : value
        .split(',')
        .map((v) => v.trim())
        .filter(Boolean)
}
