import type { Json } from '../../../model/field.ts'
import { toTime } from '../../../model/validate.ts'
import { isTree } from '../trees.ts'
import type { Item } from '../types.ts'
import type { AddFolder } from './folder.ts'

const NAME = 'retro-scores.json'

/** Keys of an entry of retro-scores.json and the field of each; imports and exports share them. */
export const SCORE_FIELDS: Readonly<Record<string, string>> = {
  date: 'date',
  collab_score: 'collab',
  add_effectiveness: 'effectiveness',
  swarm_effectiveness: 'swarm',
  retro_file: 'file',
  context: 'context',
}

/** Entries of retro-scores.json. */
export function scoreItems(folder: AddFolder): Item[] {
  const document = folder.json(NAME)
  if (document === undefined) return []
  const entries = isTree(document) ? document.entries : document
  if (!Array.isArray(entries)) {
    folder.leaveOut(folder.label(NAME), 'the whole file', 'it has no list "entries"')
    return []
  }
  return entries.flatMap((entry, i): Item[] => {
    const where = `${folder.label(NAME)}#entries[${i}]`
    if (!isTree(entry) || toTime(entry.date) === undefined) {
      folder.leaveOut(where, JSON.stringify(entry).slice(0, 80), 'not an entry with a date')
      return []
    }
    const args: { [arg: string]: Json } = {}
    const attrs: { [key: string]: Json } = {}
    for (const [key, value] of Object.entries(entry)) {
      if (value === null || value === '') continue
      if (Object.hasOwn(SCORE_FIELDS, key)) args[SCORE_FIELDS[key]!] = value
      else attrs[key] = value
    }
    if (Object.keys(attrs).length > 0) args.attrs = attrs
    folder.count('retro scores', 1)
    return [{ verb: 'record-retro-score', args, where }]
  })
}
