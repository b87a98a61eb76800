import type { Memory } from '../../memory.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { LEARNING_FIELDS } from '../import/add/learnings.ts'
import { SCORE_FIELDS } from '../import/add/scores.ts'
import type { Exporter } from './types.ts'

type Tree = { [key: string]: Json }

/** What stands there also where nothing was said. */
const EMPTY_LEARNING: Tree = { body: '', stack: [] }

const attrsOf = (e: Entity): Tree => {
  const { attrs } = e.fields
  return typeof attrs === 'object' && attrs !== null && !Array.isArray(attrs) ? attrs : {}
}

function entryOf(e: Entity, keys: Readonly<Record<string, string>>, first: Tree = {}, empty: Tree = {}): Tree {
  const entry: Tree = { ...first }
  for (const [key, field] of Object.entries(keys)) {
    const value = e.fields[field] ?? empty[key]
    if (value !== undefined) entry[key] = value
  }
  for (const [key, value] of Object.entries(attrsOf(e))) if (key !== 'addId' && !(key in entry)) entry[key] = value
  return entry
}

/** The ids of ADD: those that came with the learnings, and the next numbers for the others, oldest first. */
function idsOf(learnings: readonly Entity[]): Map<string, string> {
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  for (const e of learnings) {
    const { addId } = attrsOf(e)
    if (typeof addId !== 'string' || taken.has(addId)) continue
    taken.add(addId)
    ids.set(e.id, addId)
  }
  let last = Math.max(0, ...[...taken].map((id) => Number(/^L-(\d+)$/.exec(id)?.[1] ?? 0)))
  for (const e of learnings) if (!ids.has(e.id)) ids.set(e.id, `L-${String(++last).padStart(3, '0')}`)
  return ids
}

function learningFiles(memory: Memory): Record<string, Tree> {
  const learnings = memory.reader
    .list('learning', { all: true })
    .filter((e) => (e.fields.standing ?? 'confirmed') === 'confirmed')
    .sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
  const ids = idsOf(learnings)
  const entries = (retired: boolean) =>
    learnings
      .filter((e) => (e.fields.retired !== undefined) === retired)
      .map((e) => entryOf(e, LEARNING_FIELDS, { id: ids.get(e.id)! }, EMPTY_LEARNING))
      .sort((a, b) => String(a.id).localeCompare(String(b.id), 'en', { numeric: true }))
  return {
    'learnings.json': { version: '1.0.0', entries: entries(false) },
    'learnings-archive.json': { archived: entries(true) },
  }
}

/** Learnings and retro scores as ADD keeps them in `.add/`; the other files are its own to write. */
export const add: Exporter = {
  name: 'add',
  about: 'a directory with learnings.json, learnings-archive.json and retro-scores.json of ADD',
  files(memory, { name }) {
    const scores = memory.reader
      .list('retro-score')
      .map((e) => entryOf(e, SCORE_FIELDS))
      .sort((a, b) => (String(a.date) < String(b.date) ? -1 : 1))
    const files: Record<string, Tree> = {
      ...learningFiles(memory),
      'retro-scores.json': { version: '1.0.0', entries: scores },
    }
    return Object.fromEntries(
      Object.entries(files).map(([file, { version, ...rest }]) => {
        const document = { ...(version !== undefined ? { version, project: name } : {}), ...rest }
        return [file, `${JSON.stringify(document, null, 2)}\n`]
      }),
    )
  },
  isOurs: () => false, // they may hold what was never imported
}
