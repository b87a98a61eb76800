import { UserError } from '../../errors.ts'
import { SHARED_FIELD, SHARED_KIND } from '../../log/context-value.ts'
import { parseJson } from '../../model/exact.ts'
import type { Json } from '../../model/field.ts'
import type { DocumentEntity, DocumentLink, KnowledgeDocument } from './document.ts'
import { labelOf, readText } from './files.ts'
import { isTree, type Tree } from './trees.ts'
import type { Importer, Item, Unplaced } from './types.ts'

/** What `export json` wrote, adopted: names and ids stay wherever they can. */
export const json: Importer = {
  name: 'json',
  about: 'what `export json` wrote, from this project or another',
  read(path, root) {
    const file = labelOf(path, root)
    const document = documentOf(readText(path, root), file)
    const unplaced: Unplaced[] = []
    const items: Item[] = []
    const kinds = new Map<string, string>()
    const superseded = new Set<string>()
    for (const e of document.entities) {
      if (!isEntity(e)) continue
      kinds.set(e.id, e.kind)
      if (e.fields.status === 'superseded') superseded.add(e.id)
    }
    document.entities.forEach((e: unknown, i) => {
      if (isEntity(e)) items.push(...itemsOf(e, `${file}#${e.id}`, document.project))
      else
        unplaced.push({
          where: `${file}#entities[${i}]`,
          what: JSON.stringify(e),
          why: 'not an entity with id, kind and fields',
        })
    })
    const covered = new Set<string>()
    document.links.forEach((l: unknown, i) => {
      const where = `${file}#links[${i}]`
      if (!isLink(l)) unplaced.push({ where, what: JSON.stringify(l), why: 'not a link with from, to and type' })
      else {
        items.push(...linksOf(l, where, superseded))
        if (l.type === 'supersedes') covered.add(l.to)
      }
    })
    for (const id of superseded)
      if (!covered.has(id))
        unplaced.push({
          where: `${file}#${id}`,
          what: 'status = superseded',
          why: 'what supersedes it is not in the document',
        })
    return {
      items,
      unplaced,
      counts: { entities: kinds.size, links: document.links.length },
      files: [file],
      from: document.project,
    }
  },
}

function documentOf(text: string, file: string): KnowledgeDocument {
  const refuse = (why: string): never => {
    throw new UserError(
      'bad-format',
      `${file} is no export of Tidemark: ${why}`,
      '`tidemark export json PATH` writes one',
    )
  }
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    return refuse(`not JSON: ${(error as Error).message}`)
  }
  if (!isTree(value) || value.tidemark === undefined) return refuse('it has no "tidemark"')
  if (value.tidemark !== 1)
    throw new UserError(
      'bad-format',
      `${file} has form ${JSON.stringify(value.tidemark)}; this Tidemark reads form 1`,
      'update Tidemark',
    )
  if (typeof value.project !== 'string') return refuse('it has no "project"')
  if (!Array.isArray(value.entities)) return refuse('it has no list "entities"')
  return { ...value, links: Array.isArray(value.links) ? value.links : [] } as unknown as KnowledgeDocument
}

const isEntity = (e: unknown): e is DocumentEntity =>
  isTree(e) && typeof e.id === 'string' && typeof e.kind === 'string' && isTree(e.fields)

const isLink = (l: unknown): l is DocumentLink =>
  isTree(l) && typeof l.from === 'string' && typeof l.to === 'string' && typeof l.type === 'string'

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
  const retired = typeof e.retired === 'string' ? { retired: e.retired } : {}
  let origin = `${project}/${e.id}`
  if (isTree(fields.attrs) && typeof fields.attrs.origin === 'string' && MARK.test(fields.attrs.origin)) {
    // it was adopted there: what it was first is what it is known by everywhere
    const { origin: first, ...attrs } = fields.attrs
    origin = String(first)
    if (Object.keys(attrs).length > 0) fields.attrs = attrs
    else delete fields.attrs
  }
  return [{ verb: `record-${e.kind}`, args: fields, where, as: e.id, origin, ...retired }]
}

/** What `define-kind` takes: its fields in the order that was kept beside them. */
function inOrder({ order, ...args }: Tree): Tree {
  if (!isTree(args.fields) || !Array.isArray(order)) return args
  const specs = args.fields
  const names = [...new Set([...order.map(String), ...Object.keys(specs)])].filter((f) => Object.hasOwn(specs, f))
  return { ...args, fields: Object.fromEntries(names.map((f) => [f, specs[f]!])) }
}

/** `project/kind:id`, as an adopted entity is marked. */
const MARK = /^[a-z0-9-]{6,64}\/[a-z][a-z0-9-]*:/

/** An edit that waits for agreement is put up again; one that was settled is no knowledge. */
function proposalsOf(fields: Tree, where: string): Item[] {
  if (fields.standing !== 'proposed' || typeof fields.action !== 'string') return []
  const action = JSON.parse(fields.action) as Json
  const evidence = Array.isArray(fields.evidence) && fields.evidence.length > 0 ? fields.evidence : [undefined]
  return evidence.map((e) => ({
    verb: 'propose',
    args: { action, ...(e !== undefined ? { evidence: e } : {}) },
    where,
  }))
}

function linksOf(l: DocumentLink, where: string, superseded: ReadonlySet<string>): Item[] {
  const fields: Tree = isTree(l.fields) ? l.fields : {}
  const retired = typeof l.retired === 'string' ? { retired: l.retired } : {}
  const link: Item = {
    verb: 'link-entities',
    args: { ...fields, from: l.from, to: l.to, type: l.type },
    where,
    ...retired,
  }
  if (l.type !== 'supersedes' || !superseded.has(l.to)) return [link]
  return [{ verb: 'supersede', args: { old: l.to, new: l.from }, where }, link]
}
