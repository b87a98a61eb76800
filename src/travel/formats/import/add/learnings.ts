import { foldText } from '../../../../model/names.ts'
import { isObject, type JsonObject } from '../../../../model/object.ts'
import { toTime } from '../../../../model/validate.ts'
import { plainLine } from '../classify.ts'
import { unlessEmpty } from '../json-values.ts'
import { firstSentence } from '../text.ts'
import type { Item } from '../types.ts'
import { type AddFolder, entriesOf } from './folder.ts'

/** Keys of an entry of learnings.json, in ADD's order, and the field of each; imports and exports share them. */
export const LEARNING_FIELDS: Readonly<Record<string, string>> = {
  title: 'title',
  body: 'body',
  scope: 'scope',
  stack: 'stack',
  category: 'category',
  severity: 'severity',
  source: 'source',
  date: 'date',
  classified_by: 'classifiedBy',
  checkpoint_type: 'checkpointType',
}

/** What an import reads; any other key goes into attrs as it is. */
const FIELDS: Readonly<Record<string, string>> = {
  ...LEARNING_FIELDS,
  description: 'body',
  tags: 'tags',
  topics: 'topics',
}

const SEVERITIES = ['low', 'medium', 'high', 'critical']

/** Entries of learnings.json, and those of the archive, which are retired. */
export function learningItems(folder: AddFolder): Item[] {
  const items: Item[] = []
  const byId = new Map<string, Item>()
  const titles = new Map<string, string>()
  const read = (name: string, list: 'entries' | 'archived', retired?: string) => {
    for (const [i, entry] of entriesOf(folder, name, list).entries()) {
      const id = isObject(entry) && typeof entry.id === 'string' ? entry.id : undefined
      const where = `${folder.label(name)}#${id ?? `${list}[${i}]`}`
      const item = isObject(entry) ? itemOf(entry, id, where, retired) : undefined
      if (!item) {
        folder.leaveOut(where, JSON.stringify(entry).slice(0, 80), 'not an entry with a title')
        continue
      }
      if (id !== undefined && byId.has(id)) {
        folder.leaveOut(where, String(item.args.title), `the id is taken by ${byId.get(id)!.where}, which holds`)
        continue
      }
      const key = foldText(String(item.args.title))
      const other = titles.get(key)
      // two entries of the same title are two learnings: the id tells them apart
      const kept =
        other === undefined ? item : { ...item, args: { ...item.args, title: `${item.args.title} (${id ?? where})` } }
      titles.set(key, where)
      if (id !== undefined) byId.set(id, kept)
      items.push(kept)
      folder.count(retired === undefined ? 'learnings' : 'archived learnings', 1)
    }
  }
  read('learnings.json', 'entries')
  read('learnings-archive.json', 'archived', `archived in ${folder.label('learnings-archive.json')}`)
  return items
}

function itemOf(entry: JsonObject, id: string | undefined, where: string, retired?: string): Item | undefined {
  const args: JsonObject = {}
  const attrs: JsonObject = {}
  for (const [key, value] of Object.entries(entry)) {
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) continue
    const field = Object.hasOwn(FIELDS, key) ? FIELDS[key]! : undefined
    if (key === 'id') attrs.addId = value
    else if (field === 'severity' && !SEVERITIES.includes(String(value).toLowerCase())) attrs.severity = value
    else if (field === 'severity') args.severity = String(value).toLowerCase()
    else if (field === 'date' && toTime(value) === undefined) attrs.date = value
    else if (field === 'stack' || field === 'tags' || field === 'topics')
      args[field] = (Array.isArray(value) ? value : [value]).map(String)
    else if (field !== undefined && args[field] === undefined)
      args[field] = field === 'date' ? value : typeof value === 'string' ? value : JSON.stringify(value)
    else attrs[key] = value
  }
  if (typeof args.title !== 'string' && typeof args.body === 'string') args.title = firstSentence(args.body)
  if (typeof args.title !== 'string' || args.title.trim() === '') return undefined
  return { ...learning({ ...args, attrs: unlessEmpty(attrs) }, id, where), retired }
}

const learning = (args: Item['args'], id: string | undefined, where: string): Item => ({
  verb: 'record-learning',
  args,
  where,
  same: id === undefined ? undefined : ['addId', id],
})

/** What stands in learnings.md alone, by id or title: ADD generates it from the JSON, and people write into it. */
export function learningsOfView(folder: AddFolder, known: readonly Item[]): Item[] {
  const ids = new Set(known.map((i) => i.same?.[1]))
  const titles = new Set(known.map((i) => foldText(String(i.args.title))))
  const items: Item[] = []
  let category: string | undefined
  for (const entry of blocksOf(folder.page('learnings.md'))) {
    if (entry.heading !== undefined) {
      category = entry.level > 1 ? entry.heading.toLowerCase().replace(/s$/, '') : undefined
      continue
    }
    const where = `${folder.label('learnings.md')}:${entry.line}`
    const said = entryOf(entry.text)
    if (!said) continue
    const { id, args } = said
    const title = foldText(args.title)
    if ((id !== undefined && ids.has(id)) || titles.has(title)) {
      folder.count('of learnings.md, in the JSON too', 1)
      continue
    }
    titles.add(title)
    if (id !== undefined) ids.add(id)
    folder.count('learnings of learnings.md alone', 1)
    items.push(learning({ ...args, category, locations: [where] }, id, where))
  }
  return items
}

type Entry = { line: number; text: string[]; heading?: undefined } | { line: number; heading: string; level: number }

/** Headings and top-level list items with the lines below them. */
function blocksOf(page: string): Entry[] {
  const entries: Entry[] = []
  let open: { line: number; text: string[] } | undefined
  page.split('\n').forEach((line, i) => {
    const level = /^#{1,6}(?=\s)/.exec(line)?.[0].length
    if (level !== undefined) {
      open = undefined
      entries.push({ line: i + 1, heading: line.slice(level).trim(), level })
    } else if (/^[-*]\s/.test(line)) {
      open = { line: i + 1, text: [line.slice(1).trim()] }
      entries.push(open)
    } else if (/^\s+\S/.test(line)) open?.text.push(line.trim())
    else if (line.trim() !== '') open = undefined
  })
  return entries
}

const TITLE_MAX = 200

/** The text between two marks at the start of a text, and the rest. */
function between(text: string, open: string, close: string): [inside: string, rest: string] | undefined {
  const end = text.startsWith(open) ? text.indexOf(close, open.length) : -1
  return end < 0 ? undefined : [text.slice(open.length, end).trim(), text.slice(end + close.length).trim()]
}

/** `**[severity] Title** (L-001, 2026-02-08)` with the body below, or a plain item. */
function entryOf([head = '', ...rest]: readonly string[]) {
  const [bold = '', behind = ''] = between(head, '**', '**') ?? []
  const isBold = bold !== '' && bold.length <= TITLE_MAX
  const [mark, named] = between(bold, '[', ']') ?? ['', bold]
  const [noted, said] = between(behind, '(', ')') ?? ['', behind]
  const whole = plainLine(head)
  const title = isBold ? (/^\w+$/.test(mark) && named) || bold : firstSentence(whole)
  if (title === '') return undefined
  const first = isBold ? said.replace(/^[:—–-]/, '').trim() : title === whole && rest.length === 0 ? undefined : whole
  const body = [...(first ? [first] : []), ...rest].join('\n').trim() || undefined
  const severity = isBold ? SEVERITIES.find((s) => s === mark.toLowerCase()) : undefined
  const notes = isBold ? noted.split(',').map((n) => n.trim()) : []
  const id = notes.find((n) => /^[A-Z]+-\d+$/.test(n))
  const date = notes.find((n) => toTime(n) !== undefined)
  return { id, args: { title, body, severity, date, attrs: id === undefined ? undefined : { addId: id } } }
}
