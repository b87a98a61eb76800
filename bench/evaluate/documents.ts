import { spanOf } from '../../src/find/recall/dates.ts'
import { toTime } from '../../src/model/validate.ts'
import { pieces, scrub, wellFormed } from '../../src/travel/formats/import/text.ts'
import type { Item, Reading } from '../../src/travel/formats/import/types.ts'

/** A page, or a turn of a conversation, as an export has it. */
export interface SourceDocument {
  readonly id: string
  readonly text: string
  /** The conversation or chapter it belongs to. */
  readonly session?: string
  readonly speaker?: string
  /** When it was said, in whatever words. */
  readonly date?: string
  /** What it is about as a whole. */
  readonly project?: string
}

/** Labels longer than this are cut: a field of the identity that is refused would lose the document. */
const LABEL = 200

const label = (textValue: string): string => {
  const line = wellFormed(textValue).replace(/\s+/g, ' ').trim()
  return line.length > LABEL ? line.slice(0, LABEL).toWellFormed() : line
}

/** The day that an export's words mean: `1:56 pm on 8 May, 2023`, `March-15-2024`. Nothing where they leave it open. */
function dayIn(words: string): string | undefined {
  const exact = /^\d{4}-\d{2}-\d{2}/.test(words.trim()) ? toTime(words.trim()) : undefined
  if (exact !== undefined || !/\d{4}/.test(words)) return exact // "yesterday" says no day here
  if (/\b(?:after|before|since)\b/.test(words)) return undefined
  const phrase =
    /\d{4}\/\d\d\/\d\d|\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z]\w+,? \d{4}|[A-Z]\w+[- ]\d{1,2},?[- ]\d{4}/.exec(words)
  const day = phrase && spanOf(phrase[0].replaceAll('-', ' '), 0)
  return day && day.from === day.to ? day.from : undefined
}

/** A day in words is found by them; a day in figures is found by the field. */
const inWords = (date: string): boolean => /\p{L}{2}/u.test(date)

/** The fields that every piece of a document has. */
function fieldsOf({ session, speaker, date = '', project }: SourceDocument, source: string): Item['args'] {
  const said = (value: string | undefined) => label(value ?? '') || undefined
  const topic = said(project)
  const day = dayIn(date)
  return {
    sourceFile: label(source),
    section: said(session),
    speaker: said(speaker),
    date: day,
    when: day === undefined || inWords(date) ? said(date) : undefined,
    topics: topic && [topic],
  }
}

/**
 * Documents of one source as chunks, sessions kept together in the order in which they begin: the pieces of a long one
 * stand side by side, and so do the turns of a conversation. Nothing is left out but what is empty, private or secret.
 * `owners` says by position which document a chunk is of.
 */
export function readDocuments(
  source: string,
  docs: readonly SourceDocument[],
): { reading: Reading; owners: readonly SourceDocument[] } {
  const items: Item[] = []
  const owners: SourceDocument[] = []
  const redacted: { where: string; category: string }[] = []
  const unplaced: { where: string; what: string; why: string }[] = []
  for (const [, session] of Map.groupBy(docs, (d) => d.session)) {
    for (const doc of session) {
      const where = `${source}#${doc.id}`
      const clean = scrub(wellFormed(doc.text), where)
      redacted.push(...clean.redacted)
      const fields = fieldsOf(doc, source)
      const parts = pieces(clean.text).filter((content) => content.trim() !== '')
      if (parts.length === 0) unplaced.push({ where, what: doc.id, why: 'nothing stands in it that may be kept' })
      for (const content of parts) {
        items.push({ verb: 'record-chunk', args: { content, ...fields, position: owners.length }, where })
        owners.push(doc)
      }
    }
  }
  return {
    // a source that comes in slices says nothing about what is missing
    reading: { items, unplaced, redacted, counts: { documents: docs.length }, partial: true },
    owners,
  }
}
