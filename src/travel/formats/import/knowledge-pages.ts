import { UserError } from '../../../base/errors.ts'
import { outsideJson } from '../../../model/exact-json.ts'
import type { Json } from '../../../model/field.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import { labelOf } from './files.ts'
import { readingOf } from './json.ts'
import { pagesAt } from './pages.ts'
import type { Importer, Unplaced } from './types.ts'

/** What the data of a page stands between. */
export const MARK_BEGIN = '<!-- tidemark page'
export const MARK_END = '-->'

/** What `export pages` wrote. An edit of what a page shows is none of its data: the knowledge is edited, not the page. */
export const pages: Importer = {
  name: 'pages',
  about: 'the folder that `export pages` wrote, from this project or another',
  read(path, root) {
    const read = pagesAt(path, root, ['.md'], new Set())
    const left: Unplaced[] = [...read.unplaced]
    const entities: Json[] = []
    const links: Json[] = []
    let project: Json | undefined
    for (const { label, text } of read.pages) {
      const data = dataOf(text)
      if (data === undefined) left.push({ where: label, what: 'the page', why: 'no page of `export pages`' })
      else if (project !== undefined && data.project !== project)
        left.push({ where: label, what: 'the page', why: 'it comes from another project than the first' })
      else {
        project ??= data.project
        if (data.entity !== undefined) entities.push(data.entity)
        if (Array.isArray(data.links)) links.push(...data.links)
      }
    }
    const file = labelOf(path, root)
    if (project === undefined)
      throw new UserError('bad-format', `${file} holds no page of Tidemark`, '`tidemark export pages DIR` writes them')
    const reading = readingOf({ tidemark: 1, project, entities, links }, file)
    return { ...reading, ...read.rest, unplaced: [...left, ...reading.unplaced] }
  },
}

function dataOf(page: string): JsonObject | undefined {
  const begin = page.lastIndexOf(`\n${MARK_BEGIN}\n`)
  const end = page.indexOf(`\n${MARK_END}`, begin)
  if (begin < 0 || end < 0) return undefined
  const data = outsideJson(page.slice(begin + MARK_BEGIN.length + 2, end))
  return isObject(data) ? data : undefined
}
