import { defined, type JsonObject } from '../../../../model/object.ts'
import { toTime } from '../../../../model/validate.ts'
import { HANDOFF_LINES, listsOf, type PageSection, parseHandoff, readPage } from '../../../../work/handoff/page.ts'
import { plainLine } from '../classify.ts'
import { unlessEmpty } from '../json-values.ts'
import { chunksOf } from '../shorten.ts'
import type { Item } from '../types.ts'
import { type AddFolder, numbering } from './folder.ts'

const NAME = 'handoff.md'
/** What a body may hold at most; what is longer is kept in chunks, found by recall. */
const BODY_CHARS = 6_000
const DAY = /\d{4}-\d{2}-\d{2}/

/** handoff.md: the lists into their fields, the rest as its body. */
export function handoffItems(folder: AddFolder): Item[] {
  const page = folder.page(NAME)
  if (page.trim() === '') return []
  const file = folder.label(NAME)
  const said = parseHandoff(page)
  const { sections, header } = readPage(page)
  folder.count('handoff sections', sections.filter((s) => s.heading.startsWith('##')).length)
  const heading = sections.find((s) => s.heading.startsWith('# '))?.heading.slice(2)
  const written = header.get('written') ?? DAY.exec(heading ?? '')?.[0] ?? ''
  const texts = sections.map((s) => ({ ...s, text: textOf(s) })).filter((s) => s.text !== '')
  const { body, isWhole } = bodyOf(texts.map((s) => s.text), file) // biome-ignore format: a row
  const handoff: Item = {
    verb: 'record-handoff',
    args: {
      title: 'ADD handoff',
      ...listsOf((field) => {
        const items = said[field].map((item) => item.replace(/^\[[ xX]\]\s+/, '')).filter(Boolean)
        return items.length === 0 ? undefined : { set: [...new Set(items)] }
      }),
      written:
        toTime(written.replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})$/, '$1T$2')) ?? toTime(DAY.exec(written)?.[0]),
      contextUsed: header.get('session context'),
      body: body || undefined,
      attrs: unlessEmpty(defined({ heading: heading && plainLine(heading), for: said.title }) as JsonObject),
    },
    where: file,
    as: `handoff ${file}`,
  }
  const marks = page.match(/^[-*+] \[[ xX]\] /gm)?.length ?? 0
  if (marks > 0) folder.leaveOut(file, `${marks} check marks`, 'steps are kept without them')
  if (isWhole) return [handoff]
  let from = 0
  const numbered = numbering()
  const made = texts.map(({ heading: head, line, text }) => {
    const section = numbered(head.replace(/^#+\s*/, '') || 'opening')
    const cut = chunksOf(text, { sourceFile: file, section, where: `${file}:${line}`, owner: handoff.as!, from })
    from += cut.chunks.length
    return cut
  })
  return [handoff, ...made.flatMap((m) => m.chunks), ...made.flatMap((m) => m.links)]
}

function bodyOf(texts: readonly string[], file: string): { body: string; isWhole: boolean } {
  const whole = texts.join('\n\n')
  if (whole.split('\n').length <= HANDOFF_LINES && whole.length <= BODY_CHARS) return { body: whole, isWhole: true }
  let lines = 0
  let chars = 0
  const kept = texts.filter((text, i) => {
    lines += text.split('\n').length
    chars += text.length
    return chars <= BODY_CHARS && (i === 0 || lines <= HANDOFF_LINES)
  })
  const note = `(${texts.length} sections in all, each whole in chunks of ${file})`
  return { body: [...kept, note].join('\n\n'), isWhole: false }
}

/** A section that is in none of the lists, as text. */
function textOf({ heading, lines, field }: PageSection): string {
  if (field) return ''
  const text = lines.join('\n').trim()
  return heading.startsWith('##') ? `${heading}\n${text}`.trim() : text
}
