import type { Memory } from '../../../engine/memory.ts'
import { oneLine } from '../../../model/text.ts'
import type { DocumentLink } from '../import/document.ts'
import { MARK_BEGIN, MARK_END } from '../import/knowledge-pages.ts'
import { documentOf } from './json.ts'
import { card, decision } from './markdown.ts'
import type { Exporter, ExportOptions } from './types.ts'

/** Where the page of an entity lies: its id is safe in file names, and never changes. */
const pathOf = (id: string): string => `${id.replace(':', '/')}.md`
const linkTo = (id: string, name: string, up: string) =>
  `[${oneLine(name, 120).replace(/([[\]\\])/g, '\\$1')}](${up}${pathOf(id)})`

/**
 * A folder for people: a page for each entity with links between them, and an index. What a page shows is made of the
 * data at its end, by which it is imported again. So an entity that has not changed gives the same bytes.
 */
export const pages: Exporter = {
  name: 'pages',
  about: 'a folder of Markdown: an index and a page for each entity, with links; `import pages` takes it back',
  files(memory: Memory, options: ExportOptions) {
    const { entities, links, project } = documentOf(memory, options)
    const registry = memory.registry()
    const from = Map.groupBy(links, (l) => l.from)
    const files: Record<string, string> = {}
    const index: string[] = []
    for (const [name, all] of [...Map.groupBy(entities, (e) => e.kind)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const kind = registry.kind(name)
      index.push(`## ${name}`, '')
      for (const data of all) {
        const e = memory.reader.entity(data.id)!
        const shown = !kind ? [`## ${e.name}`] : name === 'decision' ? decision(memory, kind, e) : card(kind, e)
        const own = from.get(e.id) ?? []
        const said = own.map((l) => `- ${l.type} ${linkTo(l.to, memory.reader.entity(l.to)?.name ?? l.to, '../')}`)
        const block = dataOf({ tidemark: 1, project, entity: data, links: own })
        const text = shown.join('\n').replace(/^## /, '# ').replaceAll('<!--', '<\\!--')
        files[pathOf(e.id)] = `${[text, ...(said.length > 0 ? [said.join('\n')] : []), block].join('\n\n')}\n`
        index.push(`- ${linkTo(e.id, e.name, '')}`)
      }
      index.push('')
    }
    const heading = [`# ${options.name}`, '', `${entities.length} entities, ${links.length} links.`, '']
    files['README.md'] = [...heading, ...index, dataOf({ tidemark: 1, project }), ''].join('\n')
    return files
  },
  isOurs: (page) => page.includes(`\n${MARK_BEGIN}\n`),
  sweeps: true,
}

/** In a comment no two hyphens stand side by side. */
const dataOf = (data: { tidemark: 1; project: string; entity?: object; links?: DocumentLink[] }): string =>
  [MARK_BEGIN, JSON.stringify(data, null, 1).replaceAll('--', '-\\u002d'), MARK_END].join('\n')
