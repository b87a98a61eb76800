import type { Memory } from '../../../engine/memory.ts'
import { documentIn, loadYjs } from '../../../engine/replication/yjs.ts'
import type { DocumentEntity, DocumentLink } from '../import/document.ts'
import { documentOf } from './json.ts'
import type { Exporter, ExportOptions } from './types.ts'

/** Everything known as one Yjs document: maps `tidemark`, `entities` and `links`, by id, each with a map `fields`. */
export const yjs: Exporter = {
  name: 'yjs',
  about: 'everything known as one Yjs document (an update to apply), for `import yjs` and programs that speak Yjs',
  write(memory: Memory, options: ExportOptions) {
    const Y = loadYjs()
    const doc = new Y.Doc()
    doc.clientID = 1 // the same knowledge gives the same bytes
    const { entities, links, ...head } = documentOf(memory, options)
    doc.transact(() => {
      for (const [key, value] of Object.entries(head)) doc.getMap('tidemark').set(key, value)
      const mapOf = ({ fields, ...rest }: DocumentEntity | DocumentLink) =>
        new Y.Map<unknown>([...Object.entries(rest), ['fields', new Y.Map(Object.entries(fields))]])
      for (const e of entities) doc.getMap('entities').set(e.id, mapOf(e))
      for (const l of links) doc.getMap('links').set(l.id, mapOf(l))
    })
    return Y.encodeStateAsUpdate(doc)
  },
  isOurs: () => false,
  isOursInBytes: (bytes) => documentIn(bytes)?.getMap('tidemark').has('project') ?? false,
}
