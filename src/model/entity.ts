import { isAbsolute, join } from 'node:path'
import { below } from '../base/files.ts'
import { sha256 } from './digest.ts'
import type { Json } from './field.ts'
import { fieldsOf, type Kind } from './kind.ts'
import { foldName, foldText, slug } from './names.ts'
import { isObject, type JsonObject } from './object.ts'
import type { Registry } from './registry.ts'
import type { Change, Report } from './validate.ts'

/** Values that were written concurrently and still stand beside each other. */
export interface Conflict {
  field: string
  /** Newest first; a value that is missing was a clearing. */
  values: { value?: Json; at: number; replica: string }[]
}

/** One piece of knowledge as it is read: what was said, with who and when. Defaults are not filled in here. */
export interface Entity {
  readonly id: string
  readonly kind: string
  /** What it is called: the first key field. */
  readonly name: string
  readonly fields: Readonly<{ [field: string]: Json }>
  readonly live: boolean
  /** ms since the epoch; `created` is when it was recorded first. */
  readonly created: number
  readonly updated: number
  /** Batches that touched it, counted here: for `expectedVersion`. */
  readonly version: number
  readonly conflicts: readonly Conflict[]
}

export type Link = Readonly<{ id: string; from: string; to: string; type: string; entity: Entity }>

/** A link as a walk reads it: that somebody stands by it is known, the rest of what it says is not read. */
export type Edge = Readonly<{ id: string; from: string; to: string; type: string; at: number; confidence?: number }>

export const LINK_KIND = 'relationship'
export const KIND_KIND = 'project-kind'
export const RELATION_KIND = 'project-relation'

export const kindOf = (id: string): string => id.slice(0, id.indexOf(':'))
export const isDefinition = (id: string): boolean => kindOf(id) === KIND_KIND || kindOf(id) === RELATION_KIND

/** The id under which the same thing is found again; for `event` kinds there is none. */
export function identityOf(kind: Kind, values: Readonly<{ [field: string]: unknown }>): string | undefined {
  const key = (field: string) => (values[field] === undefined || values[field] === null ? '' : String(values[field]))
  switch (kind.identity) {
    case 'event':
      return undefined
    case 'name':
      return `${kind.name}:${kind.name === 'file' ? slug(cleanPath(key(kind.key[0])), true) : slug(key(kind.key[0]))}`
    case 'content': {
      const parts = kind.key.map((f) => foldText(key(f)))
      while (parts.length > 1 && parts.at(-1) === '') parts.pop()
      return `${kind.name}:${slug(parts.join(' \u001f '))}`
    }
  }
}

/** What tells several of one text apart, as it is compared; nothing for kinds that a name identifies. */
export const restOfKey = (kind: Kind, values: Readonly<{ [field: string]: unknown }>): string =>
  kind.identity === 'content'
    ? kind.key
        .slice(1)
        .map((f) => foldText(String(values[f] ?? '')))
        .join('\u001f')
    : ''

/** Whether two folders of a repository have no file in common; nothing is the whole of it. */
export const areApart = (a = '', b = ''): boolean =>
  a !== '' && b !== '' && a !== b && !a.startsWith(`${b}/`) && !b.startsWith(`${a}/`)

/** A path as it is compared and kept: forward slashes, without `.`, `..` and empty parts where they say nothing. */
export function cleanPath(path: string): string {
  const parts: string[] = []
  const slashed = path.replaceAll('\\', '/')
  for (const part of slashed.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else parts.push(part)
  }
  return (slashed.startsWith('/') ? '/' : '') + parts.join('/')
}

/** A path as it is kept: relative to a root. Undefined for one outside of the project. */
export function pathInProject({ roots }: Registry, path: string): string | undefined {
  if (isAbsolute(path)) {
    const all = roots()
    if (all.length === 0) return path // nobody said where the files lie
    for (const root of all) {
      const inside = below(root, path)
      if (inside !== undefined) return inside || '.'
    }
    return undefined
  }
  const [first] = cleanPath(path).split('/')
  return first === '..' || /^[A-Za-z]:$/.test(first!) ? undefined : path
}

/** Ids under which a file was kept before paths below a root were made relative. */
export const absoluteIds = ({ roots, kind }: Registry, path: string): string[] => {
  const file = isAbsolute(path) ? undefined : kind('file')
  return file ? roots().flatMap((root) => identityOf(file, { path: join(root, path) }) ?? []) : []
}

/** What is said of a path that leads out of the project. */
export const outside = ({ roots }: Registry, field: string, received: string): Parameters<Report>[0] => ({
  field,
  message: 'outside of the project',
  received,
  accepted: `a path under ${roots()[0] ?? 'its root'}, or relative to it`,
})

export function placePaths(registry: Registry, kind: Kind, changes: readonly Change[], report: Report): Change[] {
  const place = (field: string) => (path: string) => {
    const placed = pathInProject(registry, path)
    if (placed === undefined) report(outside(registry, field, path))
    return kind.name === 'file' && field === 'path' ? cleanPath(placed ?? path) : (placed ?? path)
  }
  return changes.map((c) => {
    if (!fieldsOf(kind)[c.field]?.paths) return c
    if (c.op === 'set') return { ...c, value: place(c.field)(String(c.value)) }
    if (c.op !== 'edit') return c
    // one that was kept as it came can still be taken away
    const remove = [...new Set(c.remove.flatMap((path) => [path, pathInProject(registry, path) ?? path]))]
    return { ...c, add: [...new Set(c.add.map(place(c.field)))], remove }
  })
}

/** A new id for an `event` entity: ordered by time; those of one batch by order of creation, as `chance` grows. */
export const eventId = (kind: Kind, ms: number, chance: number): string =>
  `${kind.name}:${ms.toString(36).padStart(9, '0')}${chance.toString(36).padStart(8, '0')}`

/** A link's id is its ends and its relation; the ends of a symmetric one are given in order (K9). */
export const linkId = (from: string, relation: string, to: string): string =>
  `${LINK_KIND}:${sha256(JSON.stringify([from, relation, to])).slice(0, 20)}`

/** The longest name that is its own key. */
export const NAME_KEY_MAX = 40

/** What names are looked up by: folded, and no longer than an index likes. Long texts that begin alike have keys of their own. */
export function nameKey(name: string): string {
  const folded = foldName(name)
  if (folded.length <= NAME_KEY_MAX) return folded
  const rest = foldText(folded).slice(NAME_KEY_MAX)
  let hash = 0x811c9dc5 // FNV-1a
  for (let i = 0; i < rest.length; i++) hash = Math.imul(hash ^ rest.charCodeAt(i), 0x01000193)
  return `${folded.slice(0, NAME_KEY_MAX)}${(hash >>> 0).toString(36)}`
}

export const displayName = (kind: Kind | undefined, fields: Readonly<{ [field: string]: Json }>): string => {
  const value = kind ? fields[kind.key[0]] : (fields.name ?? Object.values(fields)[0])
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

/** The value of a field as readers see it: what was said, else the default. */
export function readField(entity: Entity, field: string, kind: Kind | undefined): Json | undefined {
  const said = entity.fields[field]
  if (said !== undefined) return said
  return kind && Object.hasOwn(fieldsOf(kind), field) ? fieldsOf(kind)[field]?.default : undefined
}

export const standingOf = (fields: Readonly<{ [field: string]: Json }>): string =>
  typeof fields.standing === 'string' ? fields.standing : 'confirmed'

export const provenanceOf = ({ fields: { provenance } }: Pick<Entity, 'fields'>): JsonObject[] =>
  Array.isArray(provenance) ? provenance.filter(isObject) : []

/** The file or tool that an import read, as a provenance names it. */
export const importedFrom = (source: unknown): string | undefined => /^import \S+ (.+)$/s.exec(String(source))?.[1]

/** What imports read it from: of a rule or a record the files in which its words stand. */
export function filesOf(e: Entity): string[] {
  const sources = provenanceOf(e).map((p) => String(p.source))
  const places = sources.some((s) => /^import (?:claude-md|decisions) /.test(s))
    ? [e.fields.locations ?? []].flat()
    : []
  const files = places.map((place) => String(place).replace(/:\d{1,9}$/, ''))
  return [...new Set(files.length > 0 ? files : sources.flatMap((s) => importedFrom(s) ?? []))]
}

/** When something came to be: the day since which it holds, or on which a piece of a text was said, else when it was recorded. */
export function madeAt({ fields, created }: Entity): number {
  const since = Date.parse(String(fields.validFrom ?? fields.date))
  return Number.isNaN(since) ? created : since
}

/** Those who said it, in their order; who only agreed to it, replaced, retired or restored it said nothing. */
const wordsOf = (e: Entity): JsonObject[] =>
  provenanceOf(e).filter((p) => p.confirms === undefined && p.keeps === undefined && p.ends === undefined)

/** Who wrote last; an undo too. */
export const lastWord = (e: Entity): JsonObject => wordsOf(e).at(-1) ?? provenanceOf(e).at(-1) ?? {}

/** When the words were said that an undo brought back last. Others may have written it: what is no moment of the past says nothing. */
function restoredTo(e: Entity): number | undefined {
  const { restores } = lastWord(e)
  const at = typeof restores === 'string' ? Date.parse(restores) : Number.NaN
  return at <= e.updated ? at : undefined
}

/** Who said what stands now: after an undo the one whose words are back. */
export function saidBy(e: Entity): JsonObject {
  const last = lastWord(e)
  if (restoredTo(e) === undefined) return last
  return wordsOf(e).findLast((p) => p.restores === undefined && String(p.at) <= String(last.restores)) ?? last
}

/** Whether only an import said it, whoever agreed since. */
export function isOfFile(e: Entity): boolean {
  const words = wordsOf(e).filter((p) => p.restores === undefined)
  return words.length > 0 && words.every((p) => importedFrom(p.source) !== undefined)
}

/** A decision record that its file has as proposed: when it is accepted is said there, and by no yes here. */
export const isProposedInFile = ({ fields: { attrs } }: Entity): boolean => isObject(attrs) && attrs.adr !== undefined && attrs.status === 'proposed' // biome-ignore format: one condition

/** Headings that tell nothing of the rules below them. */
const BARE_HEADING =
  /^(?:tl;?dr|do(?:s|n['’]ts?)?|(?:do )?not|never|always|must|critical|mandatory|important|key|core|best|final|common|the) ?\S*$|^\S*$/

/** The headings under which a rule of a file stands, as far as its words lack them: alone it may mean more than there. */
export function headingsOf(e: Entity): string {
  const fact = String(e.fields.fact ?? e.name).toLowerCase()
  const topics = isOfFile(e) && Array.isArray(e.fields.topics) ? e.fields.topics.map(String) : []
  const telling = topics.filter((t) => !BARE_HEADING.test(t) && !fact.includes(t)).slice(0, 2)
  return telling.length > 0 ? `under: ${telling.join(', ')}` : ''
}

const UNDERSTOOD = ['summary', 'concepts', 'importantSymbols', 'relatedFiles']
/** A document that was taken in: it says nothing itself, its pieces do. */
export const isPage = ({ kind, fields }: Entity): boolean =>
  kind === 'file' &&
  isObject(fields.attrs) &&
  fields.attrs.document !== undefined &&
  UNDERSTOOD.every((field) => [fields[field] ?? []].flat().length === 0)

/** When it was said last. What an import brought, and nobody but agreed to since, is as old as it says itself. */
export const saidAt = (e: Entity): number =>
  isOfFile(e) || e.kind === 'turn' ? Math.min(madeAt(e), e.updated) : (restoredTo(e) ?? e.updated)

/** Whether somebody stands by it: neither proposed, rejected nor retired. */
export const isAgreed = (e: Entity): boolean => standingOf(e.fields) === 'confirmed' && e.fields.retired === undefined
