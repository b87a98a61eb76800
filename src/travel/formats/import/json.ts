import { UserError } from '../../../base/errors.ts'
import { SHARED_FIELD, SHARED_KIND } from '../../../engine/log/context-value.ts'
import { KIND_KIND, RELATION_KIND } from '../../../model/entity.ts'
import { parseJson } from '../../../model/exact-json.ts'
import type { Json } from '../../../model/field.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import type { DocumentEntity, DocumentLink, KnowledgeDocument } from './document.ts'
import { labelOf, readText } from './files.ts'
import { unlessEmpty } from './json-values.ts'
import type { Importer, Item, Reading, Unplaced } from './types.ts'

export const json: Importer = {
  name: 'json',
  about: 'what `export json` wrote, from this project or another',
  read(path, root) {
    const file = labelOf(path, root)
    const text = readText(path, root)
    let value: unknown
    try {
      value = parseJson(text)
    } catch (error) {
      throw noExport(file, `not JSON: ${(error as Error).message}`)
    }
    return readingOf(value, file)
  },
}

/** What a document in the form of an export says. @throws UserError where it is none. */
export function readingOf(value: unknown, file: string): Reading {
  const document = documentOf(value, file)
  const unplaced: Unplaced[] = []
  const items: Item[] = []
  const leaveOut = (at: string, what: string, why: string) => void unplaced.push({ where: `${file}#${at}`, what, why })
  const ids = new Set<string>()
  const superseded = new Set<string>()
  document.entities.forEach((e: unknown, i) => {
    if (isEntity(e)) {
      ids.add(e.id)
      if (e.fields.status === 'superseded') superseded.add(e.id)
      items.push(...itemsOf(e, `${file}#${e.id}`, document.project))
    } else leaveOut(`entities[${i}]`, JSON.stringify(e), 'not an entity with id, kind and fields')
  })
  document.links.forEach((l: unknown, i) => {
    if (isLink(l)) {
      items.push(linkOf(l, `${file}#links[${i}]`))
      if (l.type === 'supersedes') superseded.delete(l.to)
    } else leaveOut(`links[${i}]`, JSON.stringify(l), 'not a link with from, to and type')
  })
  for (const id of superseded) leaveOut(id, 'status = superseded', 'what supersedes it is not in the document')
  return {
    items,
    unplaced,
    counts: { entities: ids.size, links: document.links.length },
    files: [file],
    from: document.project,
    ...(document.log && { log: document.log }),
  }
}

const noExport = (file: string, why: string) =>
  new UserError('bad-format', `${file} is no export of Tidemark: ${why}`, '`tidemark export json PATH` writes one')

function documentOf(value: unknown, file: string): KnowledgeDocument {
  const refuse = (why: string): never => {
    throw noExport(file, why)
  }
  if (!isObject(value) || value.tidemark === undefined) return refuse('it has no "tidemark"')
  const form = `${file} has form ${JSON.stringify(value.tidemark)}; this Tidemark reads form 1`
  if (value.tidemark !== 1) throw new UserError('bad-format', form, 'update Tidemark')
  if (typeof value.project !== 'string') return refuse('it has no "project"')
  if (!Array.isArray(value.entities)) return refuse('it has no list "entities"')
  // what defines kinds comes before what uses them, whatever the order of the source
  const isDefinition = (e: unknown) => isObject(e) && (e.kind === KIND_KIND || e.kind === RELATION_KIND)
  const entities = value.entities.toSorted((a, b) => Number(isDefinition(b)) - Number(isDefinition(a)))
  const { log, ...rest } = value
  const lines = Array.isArray(log) && log.every((line) => typeof line === 'string') ? { log } : {}
  const links = Array.isArray(value.links) ? value.links : []
  return { ...rest, ...lines, entities, links } as unknown as KnowledgeDocument
}

const isEntity = (e: unknown): e is DocumentEntity =>
  isObject(e) && typeof e.id === 'string' && typeof e.kind === 'string' && isObject(e.fields)

const isLink = (l: unknown): l is DocumentLink =>
  isObject(l) && typeof l.from === 'string' && typeof l.to === 'string' && typeof l.type === 'string'

function itemsOf(e: DocumentEntity, where: string, project: string): Item[] {
  const { provenance: _p, retired: _r, ...fields } = e.fields
  if (e.kind === 'project-kind') return [{ verb: 'define-kind', args: inOrder(fields), where }]
  if (e.kind === 'project-relation') return [{ verb: 'define-relation', args: fields, where }]
  if (e.kind === 'proposal') return proposalsOf(fields, where)
  if (e.kind === SHARED_KIND && typeof fields.key === 'string') {
    const { [SHARED_FIELD]: value = null, ...rest } = fields
    const share = { verb: 'share-set', args: { key: fields.key, value }, where, as: e.id }
    const more = { verb: `record-${e.kind}`, args: rest, where, as: e.id }
    return Object.keys(rest).length > 1 ? [share, more] : [share]
  }
  if (fields.status === 'superseded') delete fields.status // the link says so
  let origin = `${project}/${e.id}`
  let { attrs } = fields
  if (isObject(attrs) && typeof attrs.origin === 'string' && MARK.test(attrs.origin)) {
    // it was adopted there: what it was first is what it is known by everywhere
    const { origin: first, ...more } = attrs
    origin = String(first)
    attrs = unlessEmpty(more)!
  }
  return [{ verb: `record-${e.kind}`, args: { ...fields, attrs }, where, as: e.id, origin, retired: textOf(e.retired) }]
}

/** What `define-kind` takes: its fields in the order that was kept beside them. */
function inOrder({ order, ...args }: JsonObject): JsonObject {
  if (!isObject(args.fields) || !Array.isArray(order)) return args
  const specs = args.fields
  const names = [...new Set([...order.map(String), ...Object.keys(specs)])].filter((f) => Object.hasOwn(specs, f))
  return { ...args, fields: Object.fromEntries(names.map((f) => [f, specs[f]!])) }
}

/** `project/kind:id`, as an adopted entity is marked. */
const MARK = /^[a-z0-9-]{6,64}\/[a-z][a-z0-9-]*:/

/** An edit that waits for agreement is put up again; one that was settled is no knowledge. */
function proposalsOf(fields: JsonObject, where: string): Item[] {
  if (fields.standing !== 'proposed' || typeof fields.action !== 'string') return []
  const action = JSON.parse(fields.action) as Json
  const evidence = Array.isArray(fields.evidence) && fields.evidence.length > 0 ? fields.evidence : [undefined]
  return evidence.map((e) => ({ verb: 'propose', args: { action, evidence: e }, where }))
}

function linkOf({ from, to, type, fields, retired }: DocumentLink, where: string): Item {
  const args = { ...(isObject(fields) ? fields : {}), from, to, type }
  return { verb: 'link-entities', args, where, retired: textOf(retired) }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
