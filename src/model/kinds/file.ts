import { list, set, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const file = defineKind({
  name: 'file',
  about: 'what somebody understood of a source file',
  identity: 'name',
  key: ['path'],
  positional: ['path', 'summary'],
  fields: {
    path: text('relative to the project root, with forward slashes', { paths: true, weight: 3, also: ['file'] }),
    hash: text('content hash at the time of reading', { weight: 0 }),
    summary: text('what the file does', { weight: 1.5, also: ['purpose', 'understanding', 'description', 'text'] }),
    concepts: list('ideas it deals with; replaced when recorded under a new hash', { weight: 1 }),
    importantSymbols: list('names worth knowing', { weight: 1 }),
    relatedFiles: set('paths of files it goes with', { paths: true, refs: true, weight: 0.4 }),
    lastAnalyzed: time('when it was read; set by itself unless it is said'),
  },
  aliases: ['record-file-understanding'],
  halfLifeDays: 90,
  example: { path: 'src/auth.ts', summary: 'Checks tokens', importantSymbols: ['verify'] },
})
