import { enterHeading, fencedLines, frontMatterOf } from '../../../model/markdown.ts'
import { MARK } from '../export/markdown.ts'
import { pagesAt } from './pages.ts'
import { chunksOf } from './shorten.ts'
import { firstSentence, pieces } from './text.ts'
import type { Importer, Item } from './types.ts'

/** What recall shows whole in a few hundred tokens. */
const CHUNK = 1_600
const GLOSSARY = /\b(?:glossary|terms|terminology|definitions|vocabulary|concepts)\b/i
/** `**Term**: what it means`, in a list or alone. */
const DEFINITION = /^\s*(?:[-*+] )?\*\*([^*]{2,60})\*\*(?::| [–—-]) ?(\S.{15,})$/

export const docs: Importer = {
  name: 'docs',
  about:
    'Markdown and text, a file or a folder: searchable chunks by section, terms of a glossary as proposed concepts',
  linksNames: true,
  read(path, root) {
    const { pages, unplaced, rest } = pagesAt(path, root, ['.md', '.mdx', '.markdown', '.txt', '.rst', '.adoc'])
    const items: Item[] = []
    for (const { text, label } of pages) {
      if (pages.length > 1 && text.startsWith(MARK)) {
        const why = 'Tidemark wrote it from what it knows; name it alone to import it'
        unplaced.push({ where: label, what: 'the page', why })
        continue
      }
      items.push(...documentOf(text, label))
    }
    const count = (verb: string) => items.filter((item) => item.verb === verb).length
    const counts = { documents: pages.length, chunks: count('record-chunk'), terms: count('record-concept') }
    return { items, unplaced, counts, ...rest, owns: ['chunk'] }
  },
}

/** Signs that underline a heading: reStructuredText ranks them as a page uses them first, Markdown has two. */
const UNDERLINE = /^([=\-~^"'*+#:.])\1{2,}\s*$/

/** The heading that begins at a line, and the lines that it takes: `## Install`, or a title above a line of one sign. */
function headingAt(lines: readonly string[], i: number, styles?: string[]) {
  const marked = /^ {0,3}(#{1,6})\s+(\S.*)$/.exec(lines[i]!)
  if (marked) return { level: marked[1]!.length, title: marked[2]!.replace(/(?<!#)#+$/, '').trim(), takes: 1 }
  const above = (styles && UNDERLINE.exec(lines[i]!)?.[1]) ?? ''
  const [title = '', under = ''] = lines.slice(above ? i + 1 : i, i + 3)
  const sign = UNDERLINE.exec(under)?.[1]
  if (!sign || (above && above !== sign) || !/^ ?[^\s|>*+.=~-]/.test(title) || lines[i - 1]?.trim()) return undefined
  if (styles && under.length < title.trimEnd().length) return undefined
  const style = above + sign
  if (styles && !styles.includes(style)) styles.push(style)
  const level = styles ? styles.indexOf(style) + 1 : ' =-'.indexOf(sign)
  return level > 0 ? { level, title: title.trim(), takes: above ? 3 : 2 } : undefined
}

/** The sections of a page in order, each with its headings from the top as `Guide › Install`; one inside a code block is none. */
export function sectionsOf(page: string, isRst = false) {
  const sections: { title: string; line: number; text: string }[] = []
  const headings: string[] = []
  const styles = isRst ? [] : undefined
  const lines = page.split('\n')
  const fenced = isRst ? [] : fencedLines(lines)
  let open = { title: '', line: 1, lines: [] as string[] }
  const close = () => {
    const text = open.lines.join('\n').trim()
    if (text !== '') sections.push({ title: open.title, line: open.line, text })
  }
  for (let i = 0; i < lines.length; i++) {
    const heading = fenced[i] ? undefined : headingAt(lines, i, styles)
    if (heading) {
      close()
      enterHeading(headings, heading.level, heading.title)
      open = { title: headings.filter(Boolean).join(' › '), line: i + 1, lines: [] }
      i += heading.takes - 1
    } else open.lines.push(lines[i]!)
  }
  close()
  return sections
}

function documentOf(page: string, label: string): Item[] {
  const sections = sectionsOf(frontMatterOf(page).body, label.endsWith('.rst'))
  const title = sections[0]?.title.split(' › ')[0] || firstSentence(sections[0]?.text ?? label, 80)
  // what lies outside the project is no file of it: its chunks name it, and are linked to nothing
  const owner = label.startsWith('..') ? undefined : `document ${label}`
  const args = { path: label, attrs: { document: title } }
  const document: Item = { verb: 'record-file', args, where: label, as: owner }
  const chunks: Item[] = []
  const links: Item[] = []
  const terms: Item[] = []
  for (const section of sections) {
    const where = `${label}:${section.line}`
    const at = { sourceFile: label, section: section.title, where, ...(owner ? { owner } : {}) }
    const first = chunks.length
    for (const piece of pieces(section.text, CHUNK)) {
      const made = chunksOf(piece, { ...at, from: chunks.length })
      chunks.push(...made.chunks)
      links.push(...made.links)
    }
    if (!GLOSSARY.test(section.title)) continue
    for (const line of section.text.split('\n')) {
      const [, name, definition] = DEFINITION.exec(line) ?? []
      if (name === undefined || definition === undefined) continue
      const as = `term ${label} ${name}`
      terms.push({ verb: 'record-concept', args: { name, definition, standing: 'proposed' }, where, as })
      links.push({ verb: 'link-entities', args: { from: as, to: chunks[first]!.as!, type: 'sourced-from' }, where })
    }
  }
  return [...(owner ? [document] : []), ...chunks, ...terms, ...links]
}
