import * as Y from 'yjs'
import type { Memory } from '../../memory.ts'
import type { Json } from '../../model/field.ts'
import type { DocumentEntity, DocumentLink } from '../import/document.ts'
import { documentOf } from './json.ts'
import type { Exporter, ExportOptions } from './types.ts'

/** Everything known as one Yjs document: maps `tidemark`, `entities` and `links`, by id, each with a map `fields`. */
export const yjs: Exporter = {
  name: 'yjs',
  about: 'everything known as one Yjs document (an update to apply), for `import yjs` and programs that speak Yjs',
  write(memory: Memory, options: ExportOptions) {
    const doc = new Y.Doc()
    doc.clientID = 1 // the same knowledge gives the same bytes
    const { entities, links, ...head } = documentOf(memory, options)
    doc.transact(() => {
      for (const [key, value] of Object.entries(head)) doc.getMap('tidemark').set(key, value)
      for (const e of entities) doc.getMap('entities').set(e.id, mapOf(e))
      for (const l of links) doc.getMap('links').set(l.id, mapOf(l))
    })
    return Y.encodeStateAsUpdate(doc)
  },
  isOurs: () => false,
  isOursInBytes(bytes) {
    const doc = new Y.Doc()
    try {
      Y.applyUpdate(doc, bytes)
    } catch {
      return false // no update of Yjs
    }
    return doc.getMap('tidemark').has('project')
  },
}

const mapOf = ({ fields, ...rest }: DocumentEntity | DocumentLink): Y.Map<Json | Y.Map<Json>> =>
  new Y.Map<Json | Y.Map<Json>>([
    ...(Object.entries(rest) as [string, Json][]),
    ['fields', new Y.Map(Object.entries(fields))],
  ])
