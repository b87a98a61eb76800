import type { Memory } from '../../../engine/memory.ts'
import { type Entity, LINK_KIND, standingOf } from '../../../model/entity.ts'
import type { JsonObject } from '../../../model/object.ts'
import { attrsOf } from '../../../work/handoff/views/mutations.ts'
import { LEARNING_FIELDS } from '../import/add/learnings.ts'
import { SCORE_FIELDS } from '../import/add/scores.ts'
import { heldOf, learningsPage, pagesOf } from './add-pages.ts'
import type { Exporter } from './types.ts'

function entryOf(e: Entity, keys: Readonly<Record<string, string>>, first: JsonObject = {}, empty: JsonObject = {}) {
  const entry: JsonObject = { ...first }
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

function learningFiles(memory: Memory): Record<string, JsonObject> {
  const learnings = memory.reader
    .list('learning', { all: true })
    .filter((e) => standingOf(e.fields) === 'confirmed')
    .sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
  const ids = idsOf(learnings)
  const entries = (retired: boolean) =>
    learnings
      .filter((e) => (e.fields.retired !== undefined) === retired)
      .map((e) => entryOf(e, LEARNING_FIELDS, { id: ids.get(e.id)! }, { body: '', stack: [] }))
      .sort((a, b) => String(a.id).localeCompare(String(b.id), 'en', { numeric: true }))
  return {
    'learnings.json': { version: '1.0.0', entries: entries(false) },
    'learnings-archive.json': { archived: entries(true) },
  }
}

/** Fields of a kind that its page has; what else somebody said of one is told. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  learning: [...Object.values(LEARNING_FIELDS), 'locations'],
  'retro-score': Object.values(SCORE_FIELDS),
  decision: ['name', 'rationale', 'locations', 'status'],
  observation: ['operation', 'what', 'cost', 'tags', 'observed', 'synthesized'],
  fact: ['fact', 'category', 'locations', 'validFrom'],
  concept: ['name', 'type', 'definition'],
}

/** What is known and stands in no file of ADD: kinds, and fields of those that do. */
function leftOut(memory: Memory): string[] {
  const there = [
    ...pagesOf(memory).shown,
    ...['learning', 'retro-score', 'chunk'].flatMap((kind) => memory.reader.list(kind, { all: true })),
  ]
  const ids = new Set(there.map((e) => e.id))
  const others = memory
    .registry()
    .visibleKinds()
    .filter((k) => k.name !== LINK_KIND)
  const kinds = others.flatMap((kind) => {
    const n = memory.reader.list(kind.name, { all: true }).filter((e) => !ids.has(e.id)).length
    return n === 0 ? [] : [`${n} ${n === 1 ? kind.name : kind.plural}`]
  })
  const fields = there.flatMap((e) =>
    Object.keys(e.fields)
      .filter(
        (f) =>
          SHOWN[e.kind] &&
          ![...SHOWN[e.kind]!, 'attrs', 'provenance', 'standing', 'retired'].includes(f) &&
          !(e.kind === 'decision' && f === 'description' && e.fields.rationale === undefined),
      )
      .map((f) => `${f} of ${e.kind}`),
  )
  const counted = [...Map.groupBy(fields, (f) => f)].map(([f, all]) => `${f} (${all.length})`)
  const left = [...kinds, ...counted]
  return left.length === 0 ? [] : [`without a place in these files: ${left.join(', ')}`]
}

export const add: Exporter = {
  name: 'add',
  about:
    'a directory with the process files of ADD: learnings, retro scores, decisions, observations, mutations, swarm state, handoff, config',
  leftOut,
  files(memory, { name }) {
    const scores = memory.reader
      .list('retro-score')
      .map((e) => entryOf(e, SCORE_FIELDS))
      .sort((a, b) => (String(a.date) < String(b.date) ? -1 : 1))
    const learnings = learningFiles(memory)
    const files: Record<string, JsonObject> = {
      ...learnings,
      'retro-scores.json': { version: '1.0.0', entries: scores },
    }
    const project = heldOf(memory, 'concept').find((e) => e.fields.type === 'project')?.name ?? name
    const page = learningsPage(project, learnings['learnings.json']!.entries as JsonObject[])
    const documents = Object.fromEntries(
      Object.entries(files).map(([file, { version, ...rest }]) => {
        const document = { ...(version !== undefined ? { version, project } : {}), ...rest }
        return [file, `${JSON.stringify(document, null, 2)}\n`]
      }),
    )
    return { ...documents, 'learnings.md': page, ...pagesOf(memory).files }
  },
  isOurs: () => false, // they may hold what was never imported
}
