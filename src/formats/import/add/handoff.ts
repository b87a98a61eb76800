import { HANDOFF_LINES, HANDOFF_PARTS } from '../../../handoff/page.ts'
import type { Json } from '../../../model/field.ts'
import { toTime } from '../../../model/validate.ts'
import { plainLine } from '../classify.ts'
import { chunksOf } from '../shorten.ts'
import type { Item } from '../types.ts'
import type { AddFolder } from './folder.ts'

const NAME = 'handoff.md'
/** What a body may hold at most; what is longer is kept in chunks, found by recall. */
const BODY_CHARS = 6_000

interface Section {
  heading: string
  line: number
  lines: string[]
}

/** handoff.md: the sections whose headings say so into their fields, the rest as its body. */
export function handoffItems(folder: AddFolder): Item[] {
  const page = folder.page(NAME)
  if (page === undefined || page.trim() === '') return []
  const file = folder.label(NAME)
  const sections = sectionsOf(page)
  const args: { [arg: string]: Json } = { title: `ADD handoff` }
  const attrs: { [key: string]: Json } = {}
  const title = sections.find((s) => s.heading.startsWith('# '))?.heading.slice(2)
  if (title) attrs.heading = plainLine(title)
  const written = /\*\*Written:?\*\*:?\s*(.+)/i.exec(page)?.[1]?.trim() ?? /\d{4}-\d{2}-\d{2}/.exec(title ?? '')?.[0]
  const moment =
    toTime(written?.replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})$/, '$1T$2')) ??
    toTime(/\d{4}-\d{2}-\d{2}/.exec(written ?? '')?.[0])
  if (moment !== undefined) args.written = moment
  const used = /\*\*Session context:?\*\*:?\s*(.+)/i.exec(page)?.[1]?.trim()
  if (used) args.contextUsed = used
  const rest: Section[] = []
  const lists = new Map<string, string[]>()
  for (const section of sections) {
    const name = section.heading.replace(/^#+\s*/, '')
    const field = section.heading.startsWith('# ') ? undefined : HANDOFF_PARTS.find((p) => p.means.test(name))?.field
    if (field === undefined) rest.push(section)
    else lists.set(field, [...(lists.get(field) ?? []), ...itemsOf(section.lines)])
  }
  for (const [field, said] of lists) if (said.length > 0) args[field] = { set: [...new Set(said)] }
  folder.count('handoff sections', sections.filter((s) => s.heading.startsWith('##')).length)
  const texts = rest.map((s) => ({ ...s, text: bodyOf(s) })).filter((s) => s.text !== '')
  const whole = texts.map((s) => s.text).join('\n\n')
  if (whole.split('\n').length <= HANDOFF_LINES && whole.length <= BODY_CHARS) {
    if (whole !== '') args.body = whole
    return [itemOf(args, attrs, file)]
  }
  let lines = 0
  let chars = 0
  const kept = texts.filter((s, i) => {
    lines += s.text.split('\n').length
    chars += s.text.length
    return i === 0 ? chars <= BODY_CHARS : lines <= HANDOFF_LINES && chars <= BODY_CHARS
  })
  args.body = [...kept.map((s) => s.text), `(${texts.length} sections in all, each whole in chunks of ${file})`].join(
    '\n\n',
  )
  let position = 0
  const seen = new Map<string, number>()
  const made = texts.map((s) => {
    const name = s.heading.replace(/^#+\s*/, '') || 'opening'
    const n = (seen.get(name) ?? 0) + 1
    seen.set(name, n)
    const section = n > 1 ? `${name} (${n})` : name
    const where = `${file}:${s.line}`
    const cut = chunksOf(s.text, { sourceFile: file, section, where, owner: `handoff ${file}`, from: position })
    position += cut.chunks.length
    return cut
  })
  return [itemOf(args, attrs, file), ...made.flatMap((m) => m.chunks), ...made.flatMap((m) => m.links)]
}

function itemOf(args: { [arg: string]: Json }, attrs: { [key: string]: Json }, file: string): Item {
  const all = Object.keys(attrs).length > 0 ? { ...args, attrs } : args
  return { verb: 'record-handoff', args: all, where: file, as: `handoff ${file}` }
}

/** The page by its first and second headings; those further down belong to their section. */
function sectionsOf(page: string): Section[] {
  const sections: Section[] = []
  page.split('\n').forEach((line, i) => {
    if (/^#{1,2}\s/.test(line)) sections.push({ heading: line.trim(), line: i + 1, lines: [] })
    else if (sections.length > 0) sections.at(-1)!.lines.push(line)
    else if (line.trim() !== '') sections.push({ heading: '', line: i + 1, lines: [line] })
  })
  return sections
}

function bodyOf(section: Section): string {
  const text = section.lines
    .filter((l) => !/^\*\*(?:Written|Session context):?\*\*/i.test(l))
    .join('\n')
    .trim()
  if (section.heading.startsWith('# ') || section.heading === '') return text
  return `${section.heading}\n${text}`.trim()
}

/** The items of a section's list, each on one line; paragraphs count as items. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = []
  let open = false
  for (const line of lines) {
    const item = /^(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)$/.exec(line)
    if (item) items.push(item[1]!.trim())
    else if (line.trim() === '') {
      open = false
      continue
    } else if (open && items.length > 0) items[items.length - 1] += ` ${line.trim()}`
    else items.push(line.trim())
    open = true
  }
  return items.filter((i) => i !== '')
}
