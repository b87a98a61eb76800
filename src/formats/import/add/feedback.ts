import type { Json } from '../../../model/field.ts'
import { toTime } from '../../../model/validate.ts'
import { blocksOf } from '../markdown.ts'
import { firstSentence } from '../text.ts'
import type { Item } from '../types.ts'
import type { AddFolder } from './folder.ts'

const NAME = 'add-feedback.md'

/** Suggestions of add-feedback.md, one insight each; the notes below a suggestion belong to it. */
export function feedbackItems(folder: AddFolder): Item[] {
  const page = folder.page(NAME)
  if (page === undefined) return []
  const items: { where: string; text: string; attrs: { [key: string]: Json } }[] = []
  let date: string | undefined
  const counted = new Map<string, number>()
  for (const block of blocksOf(page)) {
    if (block.type === 'heading') {
      const day = /\d{4}-\d{2}-\d{2}/.exec(block.text)?.[0]
      if (block.level > 1) date = day !== undefined && toTime(day) !== undefined ? day : undefined
      continue
    }
    const where = `${folder.label(NAME)}:${block.line}`
    const named = /^\*\*(.{1,80}?):?\*\*:?\s*(\S.*)?$/.exec(block.text)
    const key = named?.[1]?.toLowerCase()
    const last = items.at(-1)
    if (named && key !== 'suggestion' && key !== 'feedback') {
      if (last && last.attrs.date === date) last.attrs[key!.replace(/[^a-z0-9]+/g, '-')] = named[2] ?? ''
      else folder.leaveOut(where, block.text.slice(0, 80), 'a note without a suggestion above it')
      continue
    }
    const text = named ? (named[2] ?? '') : block.text
    if (text === '') continue
    const n = (counted.get(date ?? '') ?? 0) + 1
    counted.set(date ?? '', n)
    const feedbackId = `${date ?? 'undated'}${n > 1 ? ` (${n})` : ''}`
    items.push({ where, text, attrs: { feedbackId, ...(date !== undefined ? { date } : {}) } })
  }
  folder.count('suggestions', items.length)
  return items.map(({ where, text, attrs }) => {
    const summary = firstSentence(text)
    const args: { [arg: string]: Json } = { summary, category: 'suggestion', attrs }
    if (summary !== text) args.detail = text
    return { verb: 'record-insight', args, where, same: ['feedbackId', String(attrs.feedbackId)] as const }
  })
}
