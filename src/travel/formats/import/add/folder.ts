import type { Json } from '../../../../model/field.ts'
import { isObject } from '../../../../model/object.ts'
import type { Item } from '../types.ts'

/** What the readers of the single files share. */
export interface AddFolder {
  readonly project: string
  /** A file's text without secrets; empty if it is not there, or cannot be read, which is told. */
  page(name: string): string
  json(name: string): Json | undefined
  label(name: string): string
  leaveOut(where: string, what: string, why: string): void
  count(what: string, n: number): void
}

/** The entries of a file that is a list of them, or has one by this name. */
export function entriesOf(folder: AddFolder, name: string, list: string): readonly Json[] {
  const document = folder.json(name)
  if (document === undefined) return []
  const more = isObject(document)
    ? Object.keys(document).filter((k) => ![list, 'entries', 'version', 'project'].includes(k))
    : []
  if (more.length > 0) folder.leaveOut(folder.label(name), more.join(', '), 'said of the file and of no entry')
  const entries = isObject(document) ? (document[list] ?? document.entries) : document
  if (Array.isArray(entries)) return entries
  folder.leaveOut(folder.label(name), 'the whole file', `it has no list "${list}"`)
  return []
}

/** The items of a file with one on each line. Lines in another form, for which `read` gives nothing, are told. */
export function lineItems(
  folder: AddFolder,
  name: string,
  one: string,
  read: (line: string, where: string) => Item[] | undefined,
): Item[] {
  let others = 0
  let around = 0
  const items = folder
    .page(name)
    .split('\n')
    .flatMap((text, i): Item[] => {
      const line = text.trim()
      if (line === '' || (i === 0 && line.startsWith('# '))) return []
      if (/^(?:#|<!--|>|---)/.test(line)) {
        around++
        return []
      }
      const found = read(line, `${folder.label(name)}:${i + 1}`)
      if (!found) others++
      return found ?? []
    })
  folder.count(name.replace('.md', ''), items.length)
  if (around > 0)
    folder.leaveOut(folder.label(name), `${around} headings, comments or rules`, 'they say nothing by themselves')
  if (others > 0) folder.leaveOut(folder.label(name), `${others} lines`, `not in the form of ${one}`)
  return items
}

/** Tells equal names apart: the second `x` is `x (2)`. */
export function numbering(): (name: string) => string {
  const seen = new Map<string, number>()
  return (name) => {
    const n = (seen.get(name) ?? 0) + 1
    seen.set(name, n)
    return n > 1 ? `${name} (${n})` : name
  }
}
