import { dirname, join } from 'node:path'

/** Yjs, for those who read or write a document of it; loaded at its first use. A program that imports Yjs gets this same copy. */
export function loadYjs(): typeof import('yjs') {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)
  return require(join(dirname(require.resolve('yjs')), 'yjs.mjs'))
}
