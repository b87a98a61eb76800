import { defined, type JsonObject } from '../../../../model/object.ts'
import { toTime } from '../../../../model/validate.ts'
import { blocksOf } from '../markdown.ts'
import { firstSentence } from '../text.ts'
import type { Item } from '../types.ts'
import { type AddFolder, numbering } from './folder.ts'

const NAME = 'add-feedback.md'

/** Suggestions of add-feedback.md, one insight each; the notes below a suggestion belong to it. */
export function feedbackItems(folder: AddFolder): Item[] {
  const items: (Item & { args: { attrs: JsonObject } })[] = []
  const numbered = numbering()
  let date: string | undefined
  for (const block of blocksOf(folder.page(NAME))) {
    if (block.type === 'heading') {
      const day = /\d{4}-\d{2}-\d{2}/.exec(block.text)?.[0]
      if (block.level > 1) date = toTime(day) === undefined ? undefined : day
      continue
    }
    const where = `${folder.label(NAME)}:${block.line}`
    const named = /^\*\*(.{1,80}?):?\*\*:?\s*(\S.*)?$/.exec(block.text)
    const key = named?.[1]?.toLowerCase()
    const note = named?.[2] ?? ''
    const last = items.at(-1)?.args.attrs
    if (key !== undefined && key !== 'suggestion' && key !== 'feedback') {
      if (last && last.date === date) last[key.replace(/[^a-z0-9]+/g, '-')] = note
      else folder.leaveOut(where, block.text.slice(0, 80), 'a note without a suggestion above it')
      continue
    }
    const text = named ? note : block.text
    if (text === '') continue
    const feedbackId = numbered(date ?? 'undated')
    const summary = firstSentence(text)
    const detail = summary === text ? undefined : text
    const args = { summary, category: 'suggestion', detail, attrs: defined({ feedbackId, date }) as JsonObject }
    items.push({ verb: 'record-insight', args, where, same: ['feedbackId', feedbackId] })
  }
  folder.count('suggestions', items.length)
  return items
}
