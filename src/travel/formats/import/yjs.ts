import { UserError } from '../../../base/errors.ts'
import { loadYjs } from '../../../engine/replication/yjs.ts'
import { labelOf, readBytes } from './files.ts'
import { readingOf } from './json.ts'
import type { Importer } from './types.ts'

export const yjs: Importer = {
  name: 'yjs',
  about: 'what `export yjs` wrote, from this project or another',
  read(path, root) {
    const file = labelOf(path, root)
    const Y = loadYjs()
    const doc = new Y.Doc()
    try {
      Y.applyUpdate(doc, readBytes(path, root))
    } catch (error) {
      if (error instanceof UserError) throw error
      throw new UserError('bad-format', `${file} is no Yjs document`, '`tidemark export yjs PATH` writes one')
    }
    const all = (name: string) => Object.values(doc.getMap(name).toJSON()) as { id?: unknown }[]
    const sorted = (name: string) => all(name).sort((a, b) => (String(a?.id) < String(b?.id) ? -1 : 1))
    return readingOf({ ...doc.getMap('tidemark').toJSON(), entities: sorted('entities'), links: sorted('links') }, file)
  },
}
