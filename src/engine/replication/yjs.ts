import { dirname, join } from 'node:path'
import { attempt } from '../../base/errors.ts'

/** Yjs, for those who read or write a document of it; loaded at its first use. A program that imports Yjs gets this same copy. */
export function loadYjs(): typeof import('yjs') {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)
  return require(join(dirname(require.resolve('yjs')), 'yjs.mjs'))
}

/** The document that an update makes; nothing where it is no update of Yjs, or damaged. */
export function documentIn(update: Uint8Array): import('yjs').Doc | undefined {
  const Y = loadYjs()
  return attempt(() => {
    const doc = new Y.Doc()
    Y.applyUpdate(doc, update)
    return doc
  })
}
