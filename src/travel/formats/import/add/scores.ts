import { isObject, type JsonObject } from '../../../../model/object.ts'
import { toTime } from '../../../../model/validate.ts'
import { unlessEmpty } from '../json-values.ts'
import type { Item } from '../types.ts'
import { type AddFolder, entriesOf } from './folder.ts'

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

export const scoreItems = (folder: AddFolder): Item[] =>
  entriesOf(folder, NAME, 'entries').flatMap((entry, i): Item[] => {
    const where = `${folder.label(NAME)}#entries[${i}]`
    if (!isObject(entry) || toTime(entry.date) === undefined) {
      folder.leaveOut(where, JSON.stringify(entry).slice(0, 80), 'not an entry with a date')
      return []
    }
    const args: JsonObject = {}
    const attrs: JsonObject = {}
    for (const [key, value] of Object.entries(entry)) {
      if (value === null || value === '') continue
      if (Object.hasOwn(SCORE_FIELDS, key)) args[SCORE_FIELDS[key]!] = value
      else attrs[key] = value
    }
    folder.count('retro scores', 1)
    return [{ verb: 'record-retro-score', args: { ...args, attrs: unlessEmpty(attrs) }, where }]
  })
