import type { Memory } from '../../../engine/memory.ts'
import { type Entity, KIND_KIND, LINK_KIND, RELATION_KIND } from '../../../model/entity.ts'
import type { Json } from '../../../model/field.ts'
import type { DocumentEntity, DocumentLink, KnowledgeDocument } from '../import/document.ts'
import type { Exporter, ExportOptions } from './types.ts'

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
const iso = (ms: number) => new Date(ms).toISOString()

const recorded = ({ created, updated, fields: { provenance, retired } }: Entity) => ({
  ...(typeof retired === 'string' ? { retired } : {}),
  created: iso(created),
  updated: iso(updated),
  ...(Array.isArray(provenance) ? { provenance } : {}),
})

/** What was said of it, without what stands beside `fields` in the document. */
function said(e: Entity, without: readonly string[]): { [field: string]: Json } {
  const names = Object.keys(e.fields).filter((field) => !without.includes(field))
  return Object.fromEntries(names.sort().map((field) => [field, e.fields[field]!]))
}

/** An entity, in the form that every lossless format holds. */
export const entityIn = (e: Entity): DocumentEntity => ({
  id: e.id,
  kind: e.kind,
  fields: said(e, ['provenance', 'retired']),
  ...recorded(e),
})

export const linkIn = (e: Entity): DocumentLink => ({
  id: e.id,
  from: String(e.fields.from),
  to: String(e.fields.to),
  type: String(e.fields.type),
  fields: said(e, ['from', 'to', 'type', 'provenance', 'retired']),
  ...recorded(e),
})

type What = Pick<ExportOptions, 'kind' | 'history'>

export const json = {
  name: 'json',
  about:
    'everything known as one JSON document, sorted by id, for `import json`; with --history also every line of the log',
  write: (memory: Memory, what: What) => `${JSON.stringify(documentOf(memory, what), null, 2)}\n`,
  isOurs: (text: string) => /^\uFEFF?\s*\{\s*"tidemark"\s*:\s*1\b/.test(text),
} satisfies Exporter

export function documentOf(memory: Memory, { kind: only, history }: What): KnowledgeDocument {
  const { reader } = memory
  // what is there, also of kinds that nobody declares any more: an export leaves nothing out
  const kinds = reader
    .counts()
    .map((c) => c.kind)
    .filter((k) => k !== LINK_KIND && (only === undefined || k === only))
  const first = (e: DocumentEntity) => (e.kind === KIND_KIND ? 0 : e.kind === RELATION_KIND ? 1 : 2)
  const entities = kinds
    .flatMap((k) => reader.list(k, { all: true }))
    .map(entityIn)
    .sort((a, b) => first(a) - first(b) || byId(a, b))
  const there = new Set(entities.map((e) => e.id))
  return {
    tidemark: 1,
    project: memory.projectId,
    entities,
    links: reader
      .list(LINK_KIND, { all: true })
      .filter((e) => there.has(String(e.fields.from)) && there.has(String(e.fields.to)))
      .map(linkIn)
      .sort(byId),
    ...(history ? { log: new TextDecoder().decode(memory.updatesSince().bytes).split('\n').slice(1, -1) } : {}),
  }
}
